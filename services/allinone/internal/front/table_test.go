package front

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestTheTableIsTheChartsOwn(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../../../charts/slotmesh/files/paths.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		Business, Exact map[string]string
		Slug            string
	}
	var chart table
	if err := yaml.Unmarshal(content, &chart); err != nil {
		t.Fatal(err)
	}
	own := table{Business: owners, Exact: map[string]string{mcpPath: agents, "/api/public/" + notices: noticed}, Slug: "[A-Za-z0-9_-]+"}
	for _, path := range descriptions {
		own.Exact["/api/public/"+path] = describer
	}
	if diff := cmp.Diff(own, chart); diff != "" {
		t.Errorf("the ingress of the cluster and this front let other paths through (-front +chart):\n%s", diff)
	}
}
