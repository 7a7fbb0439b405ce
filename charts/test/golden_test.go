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

// madeOnce finds what is random in a new release: the data of the Secrets that the chart makes.
var madeOnce = regexp.MustCompile(`(?m)^(  (?:token|secrets|password|url|(?:front|operator|` + strings.Join(services,
	"|") + `)(?:-callers)?): )\S+$`)

// document is a whole release as one text.
func document(t *testing.T, values map[string]any) string {
	t.Helper()
	files, err := render(t, values, false)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// long, and held against what they are made of
		if strings.HasSuffix(name, "/dashboards.yaml") || strings.HasSuffix(name, "/definitions.yaml") {
			continue
		}
		content := files[name]
		if strings.HasSuffix(name, "/secrets.yaml") {
			content = madeOnce.ReplaceAllString(content, "${1}made once")
		}
		out.WriteString("# Source: " + name + "\n" + strings.Trim(content, "\n") + "\n---\n")
	}
	return out.String()
}

func TestShapesRenderAsTheirGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, shape := range goldenShapes {
		golden(t, shape+".yaml", document(t, shapeValues(t, shape)))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if difference := cmp.Diff(string(read(t, path)), got); difference != "" {
		t.Errorf("%s is rendered differently; if that is right, run `go test ./charts/test -update` (-want +got):\n%s",
			name, difference)
	}
}
