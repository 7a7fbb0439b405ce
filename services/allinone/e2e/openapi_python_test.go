package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// pythonTools are packages of PyPI that generate requests and clients from an OpenAPI document.
var pythonTools = []string{"schemathesis==4.32.5", "openapi-python-client==0.29.1"}

// copyPython copies a script of testdata/python into a folder.
func copyPython(t *testing.T, dir, script string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "python", script))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, script), string(text))
}

// TestGeneratedPythonClientReadsAndBooks generates a client with openapi-python-client, reads the business and books
// with it.
func TestGeneratedPythonClientReadsAndBooks(t *testing.T) {
	t.Parallel()
	python := testkit.InstallPython(t, pythonTools...)
	w := sharePlatform(t)
	w.publish(t, "python", buildSalon("python", 1))
	dir := t.TempDir()
	w.writeDocuments(t, dir)
	writeFile(t, filepath.Join(dir, "settings.yaml"), "post_hooks: []\npackage_name_override: slotmesh_client\n")
	toolRun := python.Python(t, dir, nil, "-m", "openapi_python_client", "generate", "--path", "public.json",
		"--config",
		"settings.yaml",
		"--meta", "none", "--output-path", "slotmesh_client", "--fail-on-warning")
	if toolRun.Exit != 0 {
		t.Fatalf("no client is made: %s %s", toolRun.Stdout, toolRun.Stderr)
	}
	copyPython(t, dir, "book.py")
	run := python.Python(t, dir, []string{"BASE=" + w.startProxy(t, w.PublicURL), "SLUG=python", "DAY=2027-03-01",
		"KEY=" + w.createKey(t, "python", "write")}, "book.py")
	if run.Exit != 0 || strings.TrimSpace(run.Stdout) != "Salon pending" {
		t.Fatalf("the client ended with %d: %s %s", run.Exit, run.Stdout, run.Stderr)
	}
	if n := w.countBookings(t, "python"); n != 1 {
		t.Errorf("there are %d bookings", n)
	}
}

// TestSchemathesisFindsNoFault sends requests that schemathesis generates. Some follow the document, and each of the
// others breaks it in one place. No request may cause a fault of the platform, and no request that breaks the document
// may succeed.
func TestSchemathesisFindsNoFault(t *testing.T) {
	t.Parallel()
	python := testkit.InstallPython(t, pythonTools...)
	w := startPlatform(t, useOwnRedis(t))
	w.publish(t, "salon", buildSalon("salon", 1))
	key := w.createKey(t, "salon", "write")
	admin := "fuzzing" // no coverage phase, because the admin document has five times as many operations
	if os.Getenv("ATTACK") != "" {
		admin = "coverage,fuzzing"
	}
	for _, c := range []struct{ document, url, token, phases, most, without string }{
		{"public.json", w.PublicURL, key, "coverage,fuzzing", "5", "takeStripeEvent"},
		{"admin.json", w.AdminURL, w.AdminToken, admin, "5", "deleteBusiness"},
	} {
		t.Run(c.document, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w.writeDocuments(t, dir)
			copyPython(t, dir, "hooks.py")
			run := python.Python(t, dir, []string{"SLUG=salon", "SCHEMATHESIS_HOOKS=hooks",
				"PYTHONPATH=" + python.Path() + string(os.PathListSeparator) + dir},
				"-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", c.document, "--url", c.url,
				"-H", "Authorization: Bearer "+c.token, "--phases", c.phases, "--max-examples", c.most,
				"--request-timeout", "170", "--seed", "1", "--no-shrink", "--warnings", "off",
				"--suppress-health-check", "all", "--continue-on-failure", "--checks",
				"no_fault_of_ours,negative_data_rejection", "--exclude-operation-id", c.without)
			if run.Exit != 0 {
				t.Errorf("schemathesis ended with %d:\n%s\n%s", run.Exit, run.Stdout, run.Stderr)
			}
			if !strings.Contains(run.Stdout, "generated") {
				t.Errorf("nothing was sent:\n%s", run.Stdout)
			}
			if _, output, ok := strings.Cut(run.Stdout, "Test cases:\n"); ok {
				t.Log(strings.TrimSpace(strings.SplitN(output, "\n", 2)[0]))
			}
		})
	}
}
