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
	// instrument is where the code makes one, by libs/platform/telemetry or by its meter in seconds: its kind and name.
	instrument = regexp.MustCompile(`\.(Counter|Seconds|Float64Histogram|Float64ObservableGauge)\(\s*"([a-z._]+)"`)
	// notMetrics is what stands beside the names of metrics in an expression: matchers, labels, ranges.
	notMetrics = regexp.MustCompile(`\{[^{}]*\}|by \([^()]*\)|\[[^\]]*\]`)
	metricName = regexp.MustCompile(`[a-z]+(?:_[a-z0-9]+)+`)
)

// others are the beginnings of names that the services' code does not make: of kube-state-metrics, of Prometheus'
// client for Go, and of otelpgx, which measures the database.
var others = []string{"kube_", "go_", "process_", "db_client_operation_duration_seconds"}

// exported are the metrics that the services give, as Prometheus names them.
func exported(t *testing.T) map[string]bool {
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

// expressions are all queries of the alerts, of the dashboards and of KEDA.
func expressions(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range decode[[]rule](t, read(t, filepath.Join(chartPath, "files", "alerts.yaml"))) {
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
			all = append(all, text(v, "expr"), text(v, "query"))
			for _, below := range v {
				walk(below)
			}
		}
	}
	for _, dashboard := range dashboards(t) {
		walk(decode[map[string]any](t, []byte(dashboard)))
	}
	for _, scaler := range ofKind(mustRender(t, shapeValues(t, "keda")), "ScaledObject") {
		for _, trigger := range list(scaler, "spec", "triggers") {
			if text(trigger, "type") == "prometheus" {
				all = append(all, text(trigger, "metadata", "query"))
			}
		}
	}
	return all
}

// asked are the metrics that the expressions name.
func asked(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, expression := range expressions(t) {
		for _, name := range metricName.FindAllString(notMetrics.ReplaceAllString(expression, " "), -1) {
			names[name] = true
		}
	}
	for _, function := range []string{"histogram_quantile", "label_values"} {
		delete(names, function)
	}
	return slices.Sorted(maps.Keys(names))
}

func TestAlertsAndDashboardsAskForMetricsThatTheServicesGive(t *testing.T) {
	t.Parallel()
	given, names := exported(t), asked(t)
	if len(given) < 10 || len(names) < 10 {
		t.Fatalf("%d metrics are given, %d asked for", len(given), len(names))
	}
	for _, name := range names {
		foreign := slices.ContainsFunc(others, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if !foreign && !given[name] {
			t.Errorf("no service gives %s", name)
		}
	}
}

// Probes and collectors ask all the time and hardly ever fail: among the requests they would hide the failures of the
// others.
func TestRequestsAreCountedWithoutThoseOfProbesAndCollectors(t *testing.T) {
	t.Parallel()
	var own []string
	for _, match := range regexp.MustCompile(`s\.internalApp\.Get\("(/[a-z]+)"`).FindAllStringSubmatch(string(read(t,
		filepath.Join(root, "libs", "server", "app.go"))), -1) {
		own = append(own, match[1])
	}
	excluded := `http_route!~"` + strings.Join(own, "|") + `"`
	counts := regexp.MustCompile(`http_server_request_duration_seconds_(?:count|sum)(\{[^}]*\})\[`)
	found := 0
	for _, expression := range expressions(t) {
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
