package chart_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// instrument matches the code that creates a metric: its kind and name.
	instrument = regexp.MustCompile(`\.(Counter|Seconds|Float64Histogram|Float64ObservableGauge)\(\s*"([a-z._]+)"`)
	// notMetrics matches the parts of an expression that contain no metric names: matchers, labels, ranges.
	notMetrics = regexp.MustCompile(`\{[^{}]*\}|by \([^()]*\)|\[[^\]]*\]`)
	metricName = regexp.MustCompile(`[a-z]+(?:_[a-z0-9]+)+`)
)

// foreignPrefixes are prefixes of metrics from other programs: kube-state-metrics, Prometheus' client for Go, and
// otelpgx.
var foreignPrefixes = []string{"kube_", "go_", "process_", "db_client_operation_duration_seconds"}

// listExportedMetrics returns the metrics of the services, with the names that Prometheus uses.
func listExportedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, folder := range []string{"libs", "services"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, match := range instrument.FindAllStringSubmatch(string(source), -1) {
				name := strings.ReplaceAll(match[2], ".", "_")
				switch match[1] {
				case "Counter":
					found[name+"_total"] = true
					continue
				case "Float64ObservableGauge":
					found[name+"_seconds"] = true
					continue
				}
				found[name+"_seconds_bucket"], found[name+"_seconds_count"], found[name+"_seconds_sum"] = true, true,
					true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// listExpressions returns all queries of the alerts, the dashboards and KEDA.
func listExpressions(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range decode[[]alertRule](t, readFile(t, filepath.Join(chartPath, "files", "alerts.yaml"))) {
		all = append(all, r.Expr, r.Objective.Failed, r.Objective.All)
	}
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, below := range v {
				walk(below)
			}
		case map[string]any:
			all = append(all, lookUpText(v, "expr"), lookUpText(v, "query"))
			for _, below := range v {
				walk(below)
			}
		}
	}
	for _, dashboard := range loadDashboards(t) {
		walk(decode[map[string]any](t, []byte(dashboard)))
	}
	for _, scaler := range filterKind(mustRender(t, loadShape(t, "keda")), "ScaledObject") {
		for _, trigger := range lookUpList(scaler, "spec", "triggers") {
			if lookUpText(trigger, "type") == "prometheus" {
				all = append(all, lookUpText(trigger, "metadata", "query"))
			}
		}
	}
	return all
}

// listQueriedMetrics returns the metrics that the queries name.
func listQueriedMetrics(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, expression := range listExpressions(t) {
		for _, name := range metricName.FindAllString(notMetrics.ReplaceAllString(expression, " "), -1) {
			names[name] = true
		}
	}
	for _, function := range []string{"histogram_quantile", "label_values"} {
		delete(names, function)
	}
	return slices.Sorted(maps.Keys(names))
}

func TestAlertsAndDashboardsUseExportedMetrics(t *testing.T) {
	t.Parallel()
	exported, names := listExportedMetrics(t), listQueriedMetrics(t)
	if len(exported) < 10 || len(names) < 10 {
		t.Fatalf("%d metrics are exported, %d are used in queries", len(exported), len(names))
	}
	for _, name := range names {
		foreign := slices.ContainsFunc(foreignPrefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if !foreign && !exported[name] {
			t.Errorf("no service exports %s", name)
		}
	}
}

// TestRequestQueriesExcludeProbes checks that queries exclude probes and collectors. Their many successful requests
// would hide failures of the others.
func TestRequestQueriesExcludeProbes(t *testing.T) {
	t.Parallel()
	var own []string
	for _, match := range regexp.MustCompile(`s\.internalApp\.Get\("(/[a-z]+)"`).FindAllStringSubmatch(string(readFile(t,
		filepath.Join(root, "libs", "platform", "server", "app.go"))), -1) {
		own = append(own, match[1])
	}
	excluded := `http_route!~"` + strings.Join(own, "|") + `"`
	counts := regexp.MustCompile(`http_server_request_duration_seconds_(?:count|sum)(\{[^}]*\})\[`)
	found := 0
	for _, expression := range listExpressions(t) {
		for _, match := range counts.FindAllStringSubmatch(expression, -1) {
			found++
			if !strings.Contains(match[1], excluded) {
				t.Errorf("%s lacks %s", match[0], excluded)
			}
		}
	}
	if found < 5 {
		t.Errorf("requests are counted in %d places", found)
	}
}
