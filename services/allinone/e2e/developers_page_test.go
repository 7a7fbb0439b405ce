package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// sampleFolder contains the sample programs of the quick start.
const sampleFolder = "../../catalog/internal/docs/samples"

// runProgram runs an installed program in the folder `dir`. It adds the variables `env` to the program's environment.
func runProgram(t *testing.T, dir string, env []string, program string, args ...string) testkit.ToolRun {
	t.Helper()
	if _, err := inputs.LookPath(program); err != nil {
		testkit.SkipOrFail(t, "%s is not installed", program)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env, command.WaitDelay = dir, append(os.Environ(), env...), 5*time.Second
	out, err := command.Output()
	run := testkit.ToolRun{Stdout: string(out), Exit: command.ProcessState.ExitCode()}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		run.Stderr = string(failed.Stderr)
	}
	return run
}

// copySample copies a sample program into a new folder and returns the folder.
func copySample(t *testing.T, name string) string {
	t.Helper()
	inputs.Checkout()
	text, err := os.ReadFile(filepath.Join(sampleFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, name), string(text))
	return dir
}

// TestQuickstartProgramsBook runs each quickstart program as the page shows it, and checks that it makes one booking.
func TestQuickstartProgramsBook(t *testing.T) {
	t.Parallel()
	node := testkit.InstallNode(t)
	w := sharePlatform(t)
	w.publish(t, "quickstart", buildSalon("quickstart", 1))
	env := []string{"BASE=" + w.startProxy(t, w.PublicURL), "SLUG=quickstart", "DAY=2027-03-01",
		"SLOTMESH_KEY=" + w.createKey(t, "quickstart", "write")}
	made := make(map[string]bool)
	for name, program := range map[string]func(dir string) testkit.ToolRun{
		"book.sh": func(dir string) testkit.ToolRun {
			runProgram(t, dir, nil, "jq", "--version")
			return runProgram(t, dir, env, "sh", "book.sh")
		},
		"book.mjs": func(dir string) testkit.ToolRun { return node.Node(t, dir, env, "book.mjs") },
		"book.mts": func(dir string) testkit.ToolRun { return node.Node(t, dir, env, "book.mts") },
		"book.py":  func(dir string) testkit.ToolRun { return runProgram(t, dir, env, "python3", "book.py") },
		"book.go":  func(dir string) testkit.ToolRun { return runProgram(t, dir, env, "go", "run", "book.go") },
	} {
		run := program(copySample(t, name))
		var answer struct {
			Success bool
			Booking struct{ ID, Status string }
		}
		if err := json.Unmarshal([]byte(run.Stdout), &answer); err != nil || !answer.Success ||
			answer.Booking.Status != "pending" {
			t.Errorf("%s ended with %d: %s %s", name, run.Exit, run.Stdout, run.Stderr)
		}
		made[answer.Booking.ID] = true
	}
	if n := w.countBookings(t, "quickstart"); n != 5 || len(made) != 5 {
		t.Errorf("%d bookings are stored, and the samples printed %d; want 5 and 5", n, len(made))
	}
}

// webhookDrivers are programs that call the function verify of a sample with the secret, headers and body in the
// environment. A driver exits with 0 if verify accepts the webhook.
var webhookDrivers = map[string]string{
	"webhook.py": `import os, webhook
webhook.verify(os.environ["SECRET"], {n: os.environ[n] for n in ("webhook-id", "webhook-timestamp", "webhook-signature")}, os.environ["BODY"].encode())
`,
	"webhook.ts": `import { verify } from "./webhook.ts";
verify(process.env.SECRET!, process.env as Record<string, string>, Buffer.from(process.env.BODY!));
`,
	"webhook.go": `package main

import ("net/http"; "os")

func main() {
	header := http.Header{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} { header.Set(name, os.Getenv(name)) }
	if err := verify(os.Getenv("SECRET"), header, []byte(os.Getenv("BODY"))); err != nil { println(err.Error()); os.Exit(1) }
}
`,
}

// TestQuickstartWebhookProgramsVerifySignatures shows that the samples accept a valid signature of Standard Webhooks,
// also next to another signature. They reject another body, another secret and an old timestamp.
func TestQuickstartWebhookProgramsVerifySignatures(t *testing.T) {
	t.Parallel()
	node := testkit.InstallNode(t)
	const secret, id, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "evt_1", `{"type":"booking.created"}`
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(at time.Time) []string {
		signature, err := signer.Sign(id, at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return []string{"webhook-id=" + id, "webhook-timestamp=" + strconv.FormatInt(at.Unix(), 10),
			"webhook-signature=v1,AAAA " + signature}
	}
	for name, driver := range webhookDrivers {
		dir, ending := copySample(t, name), filepath.Ext(name)
		writeFile(t, filepath.Join(dir, "driver"+ending), driver)
		if ending == ".go" {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			writeFile(t, filepath.Join(dir, name), strings.TrimPrefix(string(text), "//go:build ignore\n"))
			if built := runProgram(t, dir, nil, "go", "build", "-o", "driver", "webhook.go",
				"driver.go"); built.Exit != 0 {
				t.Fatal(built.Stderr)
			}
		}
		// Sign after the build, because a build may take longer than the few minutes for which the programs accept a
		// signature. The programs use the machine's clock.
		now := signed(time.Now())
		takes := func(env []string, with, text string) bool {
			env = append([]string{"SECRET=" + with, "BODY=" + text}, env...)
			switch ending {
			case ".py":
				return runProgram(t, dir, env, "python3", "driver.py").Exit == 0
			case ".ts":
				return node.Node(t, dir, env, "driver.ts").Exit == 0
			}
			return runProgram(t, dir, env, filepath.Join(dir, "driver")).Exit == 0
		}
		if !takes(now, secret, body) {
			t.Errorf("%s rejects a signed body", name)
		}
		if takes(now, secret, body+" ") || takes(now, "whsec_AAAA", body) || takes(signed(time.Now().Add(-time.Hour)),
			secret, body) {
			t.Errorf("%s takes another body, another secret or an old one", name)
		}
	}
}

// TestDevelopersPageInABrowser visits the references of the public and the admin API, and the documentation. The pages use
// no other host, obey their content security policy and have no findings by axe. They are readable on a phone, in the
// dark scheme and without JavaScript.
func TestDevelopersPageInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	w := sharePlatform(t)
	for name, profile := range map[string]visitor.Profile{
		"phone": {Heavy: true, MayShift: 1}, "desk-dark": {Width: 1280, Dark: true, Heavy: true, MayShift: 1},
		"plain": {NoScript: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile.Headers = map[string]string{"X-Forwarded-For": newAddress()}
			checkDevelopersPage(t, chromium.Visit(t, profile), profile, w.PublicURL+"/api/public/docs",
				"/available-dates", "Read what a business offers", "Quick start")
			checkDevelopersPage(t, chromium.Visit(t, profile), profile, w.AdminURL+"/developers",
				"/admin/businesses/{slug}/bookings",
				"What the owner's side does, programs can do.", "Tokens")
			for _, host := range []string{w.PublicURL, w.AdminURL} {
				checkDocumentation(t, chromium.Visit(t, profile), host)
			}
		})
	}
	checkCompressedSize(t, w.PublicURL+"/api/public/docs.js", 250<<10)
	checkCompressedSize(t, w.PublicURL+"/api/public/openapi.json", 20<<10)
	checkCompressedSize(t, w.PublicURL+"/api/public/postman.json", 20<<10)
	checkCompressedSize(t, w.AdminURL+"/developers/openapi.json", 40<<10)
}

// checkDevelopersPage visits a developers' page and checks it. The API reference of the page must contain `path`, and
// its text must contain `words`.
func checkDevelopersPage(t *testing.T, v *visitor.Visitor, profile visitor.Profile, url, path string, words ...string) {
	t.Helper()
	v.Go(url)
	v.ExpectText(words...)
	if !profile.NoScript {
		v.Await("the reference is there", `document.querySelector("rapi-doc").shadowRoot?.textContent.includes("`+path+
			`")`)
	}
	v.Check()
	v.SaveScreenshot("developers-" + filepath.Base(url) + "-" + t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}

// checkDocumentation visits the pages of the documentation on a host and searches for a page.
func checkDocumentation(t *testing.T, v *visitor.Visitor, host string) {
	t.Helper()
	for path, words := range map[string]string{"/docs": "For operators", "/docs/operators/install": "OPS_HOST",
		"/docs/api/quick-start": "Idempotency-Key", "/docs?q=stripe": "Connect Stripe"} {
		v.Go(host + path)
		v.ExpectText(words)
		v.Check()
	}
	v.SaveScreenshot("docs-" + t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}

// checkCompressedSize checks that the front compresses a file with Brotli to at most `most` bytes.
func checkCompressedSize(t *testing.T, url string, most int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "br")
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.Header.Get("Content-Encoding") != "br" || answer.Header.Get("Vary") == "" ||
		len(body) > most {
		t.Errorf("%s takes %d bytes, %v, %v", url, len(body), answer.Header, err)
	}
}
