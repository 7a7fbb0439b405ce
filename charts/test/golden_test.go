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
	"github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"
)

// madeOnce finds what is random in a new release: the data of the Secrets that the chart makes.
var madeOnce = regexp.MustCompile(`(?m)^(  (?:token|secrets|password|url|(?:front|operator|` + strings.Join(services, "|") + `)(?:-callers)?): )\S+$`)

// document is a whole release as one text.
func document(t *testing.T, values map[string]any, upgrade bool) string {
	t.Helper()
	files, err := render(t, values, upgrade)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "/dashboards.yaml") || strings.HasSuffix(name, "/definitions.yaml") { // long, and held against what they are made of
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

// complete are the shapes that are kept as they are rendered; of the others it is kept how they differ from the trial.
var complete = []string{"trial", "production", "istio-sidecar"}

func TestEveryShapeRendersAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	trial := document(t, shapeValues(t, "trial"), false)
	for _, shape := range shapes(t) {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			got := document(t, shapeValues(t, shape), false)
			if slices.Contains(complete, shape) {
				golden(t, shape+".yaml", got)
				return
			}
			golden(t, shape+".diff", differences(trial, got))
		})
	}
}

func TestAnUpgradeOfTheTrialRendersAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	values := shapeValues(t, "trial")
	golden(t, "trial-upgrade.diff", differences(document(t, values, false), document(t, values, true)))
}

// differences are those of two documents, object by object, so that none depends on where another stands.
func differences(from, to string) string {
	var out strings.Builder
	old, changed := byName(from), byName(to)
	for _, name := range slices.Sorted(maps.Keys(merged(old, changed))) {
		out.Write(diff.Diff("trial "+name, []byte(old[name]), name, []byte(changed[name])))
	}
	return out.String()
}

// byName are a document's objects as text, by kind and name.
func byName(document string) map[string]string {
	found := map[string]string{}
	for part := range strings.SplitSeq(document, "\n---\n") {
		o := object{}
		if err := yaml.Unmarshal([]byte(part), &o); err != nil || len(o) == 0 {
			continue
		}
		found[o.kind()+"/"+o.name()] = strings.Trim(part, "\n") + "\n"
	}
	return found
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
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
		t.Errorf("%s is rendered differently; if that is right, run `go test ./charts/test -update` (-want +got):\n%s", name, difference)
	}
}
