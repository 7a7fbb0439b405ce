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
var madeOnce = regexp.MustCompile(`(?m)^(  (?:token|secrets|password|url): )\S+$`)

// document is a whole release as one text.
func document(t *testing.T, values map[string]any, upgrade bool) string {
	t.Helper()
	files, err := render(t, values, upgrade)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if strings.HasSuffix(name, "/secrets.yaml") {
			content = madeOnce.ReplaceAllString(content, "${1}made once")
		}
		out.WriteString("# Source: " + name + "\n" + strings.Trim(content, "\n") + "\n---\n")
	}
	return out.String()
}

func TestEveryShapeRendersAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes(t) {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			golden(t, shape, document(t, shapeValues(t, shape), false))
		})
	}
}

func TestAnUpgradeOfTheTrialRendersAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	golden(t, "trial-upgrade", document(t, shapeValues(t, "trial"), true))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".yaml")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(read(t, path)), got); diff != "" {
		t.Errorf("%s is rendered differently; if that is right, run `go test ./charts/test -update` (-want +got):\n%s", name, diff)
	}
}
