package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// redocly and spectral are npm packages of common linters of OpenAPI documents.
const (
	redocly  = "@redocly/cli@2.77.0"
	spectral = "@stoplight/spectral-cli@6.16.3"
)

// redoclyRules turn the recommended rules of redocly into errors. Two rules are off. The documents describe all errors
// of an operation as its default answer. They name no license, because they do not know the operator of an
// installation.
const redoclyRules = `extends: [recommended-strict]
rules:
  operation-4xx-response: off
  info-license: off
`

// spectralRules turn off two recommended rules of spectral. The documents have no contact, and an operation with a
// sufficient summary has no description.
const spectralRules = `extends: ["spectral:oas"]
rules:
  info-contact: off
  operation-description: off
`

// readServed returns the OpenAPI document at a URL.
func (w *platform) readServed(t *testing.T, url string, header http.Header) []byte {
	t.Helper()
	a, err := w.tryDo(http.MethodGet, url, nil, header)
	if err != nil {
		t.Fatal(err)
	}
	a.checkStatus(t, http.StatusOK, "")
	return a.body
}

// writeDocuments writes the documents that the platform serves to public.json and admin.json in a folder.
func (w *platform) writeDocuments(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string][]byte{
		"public.json": w.readServed(t, w.PublicURL+"/api/public/openapi.json", nil),
		"admin.json": w.readServed(t, w.AdminURL+"/admin/openapi.json",
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

// TestDocumentsPassLinters checks that linters have no warnings about the documents. A warning, such as an example that
// does not match its schema or an unknown reference, causes errors in client generators.
func TestDocumentsPassLinters(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, redocly, spectral)
	dir := t.TempDir()
	sharePlatform(t).writeDocuments(t, dir)
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
