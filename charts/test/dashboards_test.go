package chart_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// loadDashboards returns the dashboards of a release as JSON, by file name.
func loadDashboards(t *testing.T) map[string]string {
	t.Helper()
	files, err := render(t, loadShape(t, "production"), false)
	if err != nil {
		t.Fatal(err)
	}
	config := decode[struct {
		Data map[string]string `json:"data"`
	}](t, []byte(files["slotmesh/templates/monitoring/dashboards.yaml"]))
	if len(config.Data) < 4 {
		t.Fatalf("there are %d dashboards", len(config.Data))
	}
	return config.Data
}

// TestDashboardsMatchGrafanaSchema checks the dashboards with the types that Grafana publishes, because Grafana ignores
// unknown fields.
func TestDashboardsMatchGrafanaSchema(t *testing.T) {
	t.Parallel()
	node := testkit.InstallNode(t, "@grafana/schema@13.2.3", "typescript@5.9.3")
	dir := t.TempDir()
	keep := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep("grafana.d.ts", node.File(t, "@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts"))
	check := []string{"--noEmit", "--strict"}
	for name, content := range loadDashboards(t) {
		keep(name+".ts", []byte(`import type { Dashboard } from "./grafana"; export const dashboard: Dashboard = `+
			content))
		check = append(check, name+".ts")
	}
	if output := node.RunIn(t, dir, nil, "tsc", check...); output.Exit != 0 {
		t.Errorf("%s%s", output.Stdout, output.Stderr)
	}
}
