package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// The linters of OpenAPI documents that most teams use.
const (
	redocly  = "@redocly/cli@2.77.0"
	spectral = "@stoplight/spectral-cli@6.16.3"
)

// redoclyRules are what the linter recommends, each an error, without the rules that ask for what these documents say
// otherwise: every operation's errors are its default answer, and an installation's operator is not known to the
// document.
const redoclyRules = `extends: [recommended-strict]
rules:
  operation-4xx-response: off
  info-license: off
`

// spectralRules likewise; where a summary says all, there is no description.
const spectralRules = `extends: ["spectral:oas"]
rules:
  info-contact: off
  operation-description: off
`

// served is the OpenAPI document at an address of the admin API or the public interface.
func (w *platform) served(t *testing.T, url string, header http.Header) []byte {
	t.Helper()
	a, err := w.tryDo(http.MethodGet, url, nil, header)
	if err != nil {
		t.Fatal(err)
	}
	a.checkStatus(t, http.StatusOK, "")
	return a.body
}

// documentsAsFiles writes the documents that a Slotmesh serves into a folder, as public.json and admin.json.
func (w *platform) documentsAsFiles(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string][]byte{
		"public.json": w.served(t, w.PublicURL+"/api/public/openapi.json", nil),
		"admin.json": w.served(t, w.AdminURL+"/admin/openapi.json",
			http.Header{"Authorization": {"Bearer " + w.AdminToken}}),
	} {
		writeFile(t, filepath.Join(dir, name), string(text))
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A warning of a linter is a generator's trouble: an example that does not fit, a reference to nothing, a type that is
// none.
func TestDocumentsPassLinters(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, redocly, spectral)
	dir := t.TempDir()
	sharePlatform(t).documentsAsFiles(t, dir)
	writeFile(t, filepath.Join(dir, "redocly.yaml"), redoclyRules)
	writeFile(t, filepath.Join(dir, "spectral.yaml"), spectralRules)
	quiet := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "CI=true"}
	for _, run := range [][]string{
		{"redocly", "lint", "--config", "redocly.yaml", "--max-problems", "20", "--format", "stylish", "public.json",
			"admin.json"},
		{"spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", "public.json", "admin.json"},
	} {
		said := programs.RunIn(t, dir, quiet, run[0], run[1:]...)
		if said.Exit != 0 {
			t.Errorf("%s ended with %d:\n%s\n%s", run[0], said.Exit, said.Stdout, said.Stderr)
		}
	}
}
