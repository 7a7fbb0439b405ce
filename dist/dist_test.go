package dist

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/slotmesh/slotmesh/k8s/images"
)

// newOptions returns the options of a build in a temporary folder.
func newOptions(t *testing.T) Options {
	t.Helper()
	return Options{Source: images.Source{Root: "..", Version: "1.2.3", Created: time.Unix(1700000000, 0)},
		Out: t.TempDir()}
}

// requireProgram returns the path of a program. If the machine has none, the test is skipped, or fails with CI=true.
func requireProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("there is no %s", name)
	}
	return path
}

// testProgram returns the path of a small Go program, which has a bill of materials.
var testProgram = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "slotmesh-dist-test-")
	if err != nil {
		panic(err)
	}
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		panic(string(output))
	}
	return program
})

func TestMain(m *testing.M) {
	// Go's test cache repeats the tests after a change of any file or tested program.
	_, _ = os.Getenv("SLOTMESH_TEST_CHECKOUT"), os.Getenv("SLOTMESH_TEST_PROGRAMS")
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(testProgram()))
	os.Exit(code)
}

func TestFilesAreReproducible(t *testing.T) {
	t.Parallel()
	var sums []string
	for range 2 {
		o := newOptions(t)
		if err := writeFiles(o, Platform{"linux", "amd64"}, testProgram()); err != nil {
			t.Fatal(err)
		}
		if err := writeCompose(o); err != nil {
			t.Fatal(err)
		}
		if err := writeChecksums(o); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(o.Out, checksums))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s\n%s", sums[0], sums[1])
	}
	for _, name := range []string{"slotmesh_1.2.3_amd64.deb", "slotmesh-1.2.3-1.x86_64.rpm",
		"slotmesh_1.2.3_linux_amd64.tar.gz", "slotmesh_1.2.3_linux_amd64.cdx.json", "slotmesh_1.2.3_compose.tar.gz"} {
		if !strings.Contains(sums[0], "  "+name+"\n") {
			t.Errorf("%s is missing in\n%s", name, sums[0])
		}
	}
}

func TestDebHasHardenedFiles(t *testing.T) {
	t.Parallel()
	dpkg := requireProgram(t, "dpkg-deb")
	o := newOptions(t)
	if err := writePackages(o, "amd64", testProgram()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(o.Out, "slotmesh_1.2.3_amd64.deb")
	list := run(t, dpkg, "--contents", file)
	for _, line := range []string{"-rw-r----- root/slotmesh", "./etc/slotmesh/slotmesh.env",
		"./usr/lib/systemd/system/slotmesh.service", "./usr/share/slotmesh/alerts.yaml",
		"./usr/share/slotmesh/slotmesh-overview.json"} {
		if !strings.Contains(list, line) {
			t.Errorf("%q is missing in\n%s", line, list)
		}
	}
	if info := run(t, dpkg, "--info", file, "conffiles"); info != "/etc/slotmesh/slotmesh.env\n" {
		t.Errorf("files of settings: %q", info)
	}
}

func TestBuildSignsNoChangedCheckout(t *testing.T) {
	t.Parallel()
	o := newOptions(t)
	o.Key, o.Source.Revision = "key.asc", "0123456789-dirty"
	if err := Build(t.Context(), o); err == nil || !strings.Contains(err.Error(), "files differ from the commit") {
		t.Errorf("%v", err)
	}
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", program, args, err, output)
	}
	return string(output)
}

func TestBuildRefusesInvalidVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "v1.2.3", "1.2", "1.2.3+build", "latest"} {
		o := newOptions(t)
		o.Source.Version = version
		if err := Build(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is no version") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestComposeFileIsValid loads the compose file as Docker Compose does.
func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := move("compose/slotmesh.env.example", filepath.Join(dir, "slotmesh.env")); err != nil {
		t.Fatal(err)
	}
	details := types.ConfigDetails{WorkingDir: dir,
		ConfigFiles: []types.ConfigFile{{Filename: "compose/compose.yaml"}},
		Environment: map[string]string{"SLOTMESH_VERSION": "1.2.3", "PAGES_HOST": "book.example.com",
			"OWNER_HOST": "admin.example.com"}}
	project, err := loader.LoadWithContext(context.Background(), details)
	if err != nil {
		t.Fatal(err)
	}
	for name, service := range project.Services {
		if len(service.Ports) > 0 != (name == "caddy") {
			t.Errorf("%s: ports %v; only caddy has ports", name, service.Ports)
		}
		if service.Logging == nil || service.Logging.Driver != "local" {
			t.Errorf("%s may fill the disk with its log", name)
		}
		if service.Restart != "unless-stopped" {
			t.Errorf("%s does not restart", name)
		}
	}
	one := project.Services["slotmesh"]
	if one.Image != "ghcr.io/slotmesh/slotmesh-one:1.2.3" || !one.ReadOnly || !slices.Equal(one.CapDrop, []string{"ALL"}) {
		t.Errorf("%+v", one)
	}
	if proxy := *one.Environment["TRUSTED_PROXIES"]; proxy != project.Services["caddy"].Networks["web"].Ipv4Address {
		t.Errorf("Slotmesh trusts %s, which is not Caddy", proxy)
	}
	for _, name := range []string{"postgres", "redis", "slotmesh", "caddy"} {
		if _, ok := project.Services[name]; !ok {
			t.Errorf("there is no service %s", name)
		}
	}
	delete(details.Environment, "PAGES_HOST")
	if _, err := loader.LoadWithContext(context.Background(), details); err == nil {
		t.Error("the file is accepted without PAGES_HOST")
	}
}

func TestPrepareKeepsPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"prepare", "slotmesh.env.example"} {
		if err := move("compose/"+name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	prepare := func() string {
		run(t, "sh", filepath.Join(dir, "prepare"), "book.example.com", "admin.example.com")
		url, err := os.ReadFile(filepath.Join(dir, "secrets", "database-url"))
		if err != nil {
			t.Fatal(err)
		}
		return string(url)
	}
	first := prepare()
	if len(first) != len("postgres://slotmesh:@postgres:5432/slotmesh?sslmode=disable")+48 {
		t.Errorf("URL %q", first)
	}
	kept := map[string]string{".env": "SLOTMESH_VERSION=1\nPAGES_HOST=old\n", "slotmesh.env": "LOG_LEVEL=debug\n",
		"secrets/smtp-url": "smtp://host"}
	for name, content := range kept {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if second := prepare(); second != first {
		t.Error("the password changed")
	}
	kept[".env"] = "SLOTMESH_VERSION=1\nPAGES_HOST=book.example.com\nOWNER_HOST=admin.example.com\n"
	for name, want := range kept {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestUnitsAreValid lets systemd read the units of the package. Its score of exposure is 0 (hardened) to 10.
func TestUnitsAreValid(t *testing.T) {
	t.Parallel()
	timer, err := os.ReadFile("files/slotmesh-backup.timer")
	if err != nil {
		t.Fatal(err)
	}
	_, calendar, _ := strings.Cut(string(timer), "\nOnCalendar=")
	calendar, _, _ = strings.Cut(calendar, "\n")
	analyze := requireProgram(t, "systemd-analyze")
	root := t.TempDir()
	folder := filepath.Join(root, "usr/lib/systemd/system")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	units := []string{"slotmesh.service", "slotmesh-backup.service", "slotmesh-backup.timer"}
	for _, name := range units {
		if err := move("files/"+name, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	targets, err := filepath.Glob("/usr/lib/systemd/system/*.*[te]") // targets and slices that the units name
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if strings.HasSuffix(target, ".target") || strings.HasSuffix(target, ".slice") {
			if err := move(target, filepath.Join(folder, filepath.Base(target))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, program := range []string{"bin/sh", "usr/bin/slotmesh"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, program)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if warnings := run(t, analyze, append([]string{"verify", "--man=no", "--root=" + root}, units...)...); warnings != "" {
		t.Error(warnings)
	}
	for _, unit := range []string{"slotmesh.service", "slotmesh-backup.service"} {
		run(t, analyze, "security", "--offline=true", "--threshold=25", "--no-pager",
			filepath.Join(root, "usr/lib/systemd/system", unit))
	}
	run(t, analyze, "calendar", calendar)
	// A backup runs in another unit, so the sockets of the stores must not be in a private /tmp.
	unit, err := os.ReadFile("files/slotmesh.service")
	if err != nil || !strings.Contains(string(unit), "\nRuntimeDirectory=slotmesh\n") ||
		!strings.Contains(string(unit), "\nEnvironment=TMPDIR=/run/slotmesh\n") {
		t.Errorf("the sockets are not in /run/slotmesh: %v", err)
	}
}

func TestAlertsAreValid(t *testing.T) {
	t.Parallel()
	text, err := newAlerts("../charts/slotmesh/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{"$NAMESPACE", "$RELEASE", "$COMPONENTS", "component", "kube_", "objective", "pod"} {
		if strings.Contains(string(text), rest) {
			t.Errorf("the alerts contain %s", rest)
		}
	}
	if !strings.Contains(string(text), "alert: SlotmeshBookingsFail") {
		t.Error("the alerts about bookings are missing")
	}
	file := filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, requireProgram(t, "promtool"), "check", "rules", file)
}

func TestDashboardsHaveLabelsOfOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names, err := writeDashboards("../charts/slotmesh/files/dashboards.yaml", dir)
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, rest := range []string{"component", "namespace", "{{pod}}", "operator", "SERVED", "CHOSEN", "{OWN"} {
			if strings.Contains(string(text), rest) {
				t.Errorf("%s contains %s", name, rest)
			}
		}
		if regexp.MustCompile(`"(expr)?": "(rate\()?(process_|go_)`).Match(text) {
			t.Errorf("%s shows a value of the process for each service", name)
		}
		if !strings.Contains(string(text), `{job=\"slotmesh\"`) {
			t.Errorf("%s selects no metrics of slotmesh", name)
		}
	}
}

// TestNginxExampleIsValid lets nginx read the example, with a certificate of the test.
func TestNginxExampleIsValid(t *testing.T) {
	t.Parallel()
	nginx, openssl := requireProgram(t, "nginx"), requireProgram(t, "openssl")
	dir := t.TempDir()
	run(t, openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=book.example.com", "-keyout",
		filepath.Join(dir, "privkey.pem"), "-out", filepath.Join(dir, "fullchain.pem"))
	example, err := os.ReadFile("files/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	text := string(example)
	for _, host := range []string{"book", "admin"} {
		text = strings.ReplaceAll(text, "/etc/letsencrypt/live/"+host+".example.com", dir)
	}
	file := filepath.Join(dir, "nginx.conf")
	whole := "pid " + dir + "/pid;\nevents {}\nhttp {\n" + text + "}\n"
	if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, nginx, "-t", "-q", "-e", "stderr", "-c", file)
}

// newKey returns the path of a new armored OpenPGP private key without a passphrase.
func newKey(t *testing.T) string {
	t.Helper()
	key, err := openpgp.NewEntity("Test", "", "test@slotmesh.example", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.asc")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := armor.Encode(file, openpgp.PrivateKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.SerializePrivate(w, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeySignsChecksumsAndPackages(t *testing.T) {
	t.Parallel()
	o := newOptions(t)
	o.Key = newKey(t)
	if err := writePackages(o, "amd64", testProgram()); err != nil {
		t.Fatal(err)
	}
	if err := writeChecksums(o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Out, checksums))
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.Open(filepath.Join(o.Out, publicKey))
	if err != nil {
		t.Fatal(err)
	}
	defer public.Close()
	published, err := openpgp.ReadArmoredKeyRing(public)
	if err != nil || published[0].PrivateKey != nil {
		t.Fatalf("the public key: %v", err)
	}
	signature, err := os.Open(filepath.Join(o.Out, checksums+".asc"))
	if err != nil {
		t.Fatal(err)
	}
	defer signature.Close()
	if _, err := openpgp.CheckArmoredDetachedSignature(published, bytes.NewReader(text), signature,
		nil); err != nil {
		t.Error(err)
	}
	if list := run(t, requireProgram(t, "ar"), "t", filepath.Join(o.Out, "slotmesh_1.2.3_amd64.deb")); !strings.Contains(list,
		"_gpgorigin") {
		t.Errorf("the deb has no signature: %s", list)
	}
	rpmkeys, keys := requireProgram(t, "rpmkeys"), t.TempDir()
	run(t, rpmkeys, "--dbpath", keys, "--import", filepath.Join(o.Out, publicKey))
	if checked := run(t, rpmkeys, "--dbpath", keys, "--checksig", filepath.Join(o.Out,
		"slotmesh-1.2.3-1.x86_64.rpm")); !strings.HasSuffix(checked, "digests signatures OK\n") {
		t.Errorf("the rpm has no valid signature: %s", checked)
	}
	o.Key = filepath.Join(o.Out, checksums)
	if err := writeChecksums(o); err == nil {
		t.Error("a file that is no key is accepted")
	}
}
