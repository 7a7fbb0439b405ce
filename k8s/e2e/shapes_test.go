package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheServerAcceptsEveryShape renders the chart with each of its ci/ values and lets the API server judge what comes out, with
// the definitions of all custom resources at hand.
func TestTheServerAcceptsEveryShape(t *testing.T) {
	c := connect(t)
	shapes, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(shapes) < 2 {
		t.Fatalf("the chart's shapes are not found: %v %v", shapes, err)
	}
	for _, shape := range shapes {
		t.Run(strings.TrimSuffix(filepath.Base(shape), "-values.yaml"), func(t *testing.T) {
			rendered := c.run(t, "helm", "template", release, chart, "--namespace", "default", "--values", shape)
			_, err := c.try(t.Context(), []byte(rendered), "kubectl", "--namespace", "default", "create", "--dry-run=server", "--validate=strict", "--filename", "-")
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(rendered, "istio.io/") {
				c.analyze(t, rendered)
			}
		})
	}
}

// analyze lets Istio judge its objects.
func (c cluster) analyze(t *testing.T, rendered string) {
	t.Helper()
	if _, err := exec.LookPath("istioctl"); err != nil {
		t.Skip("istioctl is not in PATH")
	}
	out, err := c.try(t.Context(), []byte(rendered), "istioctl", "analyze", "--use-kube=false", "--failure-threshold", "Warning", "-")
	if err != nil {
		t.Errorf("%s%v", out, err)
	}
}
