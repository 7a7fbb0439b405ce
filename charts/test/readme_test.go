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

func readReadme(t *testing.T) string {
	t.Helper()
	return string(readFile(t, filepath.Join(chartPath, "README.md")))
}

// wholeMaps are the maps that the README shows as one value.
var wholeMaps = []string{"resources", "dashboardLabels", "podSecurityContext", "securityContext", "strategy"}

// collectDefaults adds all values to target, with their defaults as the README writes them.
func collectDefaults(t *testing.T, values map[string]any, prefix string, target map[string]string) {
	t.Helper()
	for name, value := range values {
		below, isMap := value.(map[string]any)
		if isMap && len(below) > 0 && !slices.Contains(wholeMaps, name) {
			collectDefaults(t, below, prefix+name+".", target)
			continue
		}
		target[prefix+name] = strings.ReplaceAll(formatValue(t, value), " ", "")
	}
}

func formatValue(t *testing.T, value any) string {
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

func TestReadmeListsAllValues(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	collectDefaults(t, loadChart(t).Values, "", want)
	got := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| `(.*?)` \\| (.+) \\|$")
	for _, match := range row.FindAllStringSubmatch(readReadme(t), -1) {
		got[match[1]] = strings.ReplaceAll(sortKeys(t, match[2]), " ", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-values.yaml +README.md):\n%s", diff)
	}
}

// sortKeys sorts the keys if the text is a JSON object. Other texts stay as they are.
func sortKeys(t *testing.T, text string) string {
	t.Helper()
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil {
		return text
	}
	return formatValue(t, m)
}

// alertRule is one alert in files/alerts.yaml.
type alertRule struct {
	Alert string `json:"alert"`
	Expr  string `json:"expr"`

	Objective struct {
		Failed string `json:"failed"`
		All    string `json:"all"`
	} `json:"objective"` // instead of an expression
}

func TestBookExplainsAlerts(t *testing.T) {
	t.Parallel()
	sections := regexp.MustCompile(`(?m)^## (Slotmesh\w+)\n\n\S`).FindAllStringSubmatch(string(readFile(t,
		filepath.Join(root, "docs", "operators", "monitoring.md"))), -1)
	var explained, alerts []string
	for _, section := range sections {
		explained = append(explained, section[1])
	}
	for _, r := range decode[[]alertRule](t, readFile(t, filepath.Join(chartPath, "files", "alerts.yaml"))) {
		alerts = append(alerts, r.Alert)
	}
	if diff := cmp.Diff(alerts, explained); diff != "" {
		t.Errorf("(-alerts +sections):\n%s", diff)
	}
}

func TestReadmeNamesShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range listShapes(t) {
		if !strings.Contains(readReadme(t), fmt.Sprintf("`%s`", shape)) {
			t.Errorf("%s is missing", shape)
		}
	}
}
