package chart_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readme(t *testing.T) string {
	t.Helper()
	return string(read(t, filepath.Join(chartPath, "README.md")))
}

// whole are the maps that are one value.
var whole = []string{"resources", "dashboardLabels", "podSecurityContext", "securityContext", "strategy"}

// defaults are all values with their defaults as the README writes them.
func defaults(t *testing.T, values map[string]any, prefix string, into map[string]string) {
	t.Helper()
	for name, value := range values {
		below, isMap := value.(map[string]any)
		if isMap && len(below) > 0 && !slices.Contains(whole, name) {
			defaults(t, below, prefix+name+".", into)
			continue
		}
		into[prefix+name] = strings.ReplaceAll(written(t, value), " ", "")
	}
}

func written(t *testing.T, value any) string {
	t.Helper()
	if s, ok := value.(string); ok && s != "" {
		return s
	}
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTheReadmeExplainsEveryValueAndNoOther(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	defaults(t, load(t).Values, "", want)
	got := map[string]string{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| `(.*?)` \\| (.+) \\|$").FindAllStringSubmatch(readme(t), -1) {
		got[match[1]] = strings.ReplaceAll(sorted(t, match[2]), " ", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-values.yaml +README.md):\n%s", diff)
	}
}

// sorted writes a map's keys in order; other texts stay as they are.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil {
		return text
	}
	return written(t, m)
}

// rule is one alert of files/alerts.yaml.
type rule struct {
	Alert string `json:"alert"`
	Expr  string `json:"expr"`

	Objective struct {
		Failed string `json:"failed"`
		All    string `json:"all"`
	} `json:"objective"` // instead of an expression
}

func TestEveryAlertSaysInTheReadmeWhatToDo(t *testing.T) {
	t.Parallel()
	sections := regexp.MustCompile(`(?m)^### (Slotmesh\w+)\n\n\S`).FindAllStringSubmatch(readme(t), -1)
	var explained, alerts []string
	for _, section := range sections {
		explained = append(explained, section[1])
	}
	for _, r := range decode[[]rule](t, read(t, filepath.Join(chartPath, "files", "alerts.yaml"))) {
		alerts = append(alerts, r.Alert)
	}
	if diff := cmp.Diff(alerts, explained); diff != "" {
		t.Errorf("(-alerts +sections):\n%s", diff)
	}
}

func TestEveryShapeIsNamedInTheReadme(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes(t) {
		if !strings.Contains(readme(t), fmt.Sprintf("`%s`", shape)) {
			t.Errorf("%s is missing", shape)
		}
	}
}
