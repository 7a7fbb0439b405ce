package chart_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomValue matches the random data in the Secrets that the chart creates.
var randomValue = regexp.MustCompile(`(?m)^(  (?:token|secrets|password|url|(?:front|operator|` + strings.Join(services,
	"|") + `)(?:-callers)?): )\S+$`)

// renderDocument returns a whole release as one text.
func renderDocument(t *testing.T, values map[string]any) string {
	t.Helper()
	files, err := render(t, values, false)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// These files are long, and other tests compare them with their sources.
		if strings.HasSuffix(name, "/dashboards.yaml") || strings.HasSuffix(name, "/definitions.yaml") {
			continue
		}
		content := files[name]
		if strings.HasSuffix(name, "/secrets.yaml") {
			content = randomValue.ReplaceAllString(content, "${1}made once")
		}
		out.WriteString("# Source: " + name + "\n" + strings.Trim(content, "\n") + "\n---\n")
	}
	return out.String()
}

func TestShapesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, shape := range goldenShapes {
		compareGolden(t, shape+".yaml", renderDocument(t, loadShape(t, shape)))
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if difference := cmp.Diff(string(readFile(t, path)), got); difference != "" {
		t.Errorf("%s is rendered differently; if that is right, run `go test ./charts/test -update` (-want +got):\n%s",
			name, difference)
	}
}
