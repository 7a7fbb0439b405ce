package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerAcceptsShapes renders the chart with each of its ci/ values. helm lint, the API server, kubeconform and
// Istio check the result, with the definitions of all custom resources.
func TestServerAcceptsShapes(t *testing.T) {
	c := connect(t)
	shapes, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(shapes) < 2 {
		t.Fatalf("the chart's shapes are not found: %v %v", shapes, err)
	}
	schemas := c.writeSchemas(t)
	for _, shape := range shapes {
		t.Run(strings.TrimSuffix(filepath.Base(shape), "-values.yaml"), func(t *testing.T) {
			c.run(t, "helm", "lint", "--strict", "--quiet", chart, "--values", shape)
			rendered := c.run(t, "helm", "template", release, chart, "--kube-version", oldestKubernetes, "--namespace",
				"default",
				"--values", shape)
			_, err := c.tryRun(t.Context(), []byte(rendered), "kubectl", "--namespace", "default", "create",
				"--dry-run=server", "--validate=strict", "--filename", "-")
			switch {
			case err != nil && os.Getenv(resources) != "all" && strings.Contains(err.Error(), "no matches for kind"):
				t.Skipf("the cluster lacks custom resources of this shape: %v", err)
			case err != nil:
				t.Error(err)
			}
			c.checkSchemas(t, schemas, rendered)
			if strings.Contains(rendered, "istio.io/") {
				c.analyze(t, rendered)
			}
		})
	}
}

// checkSchemas checks all objects with kubeconform.
func (c cluster) checkSchemas(t *testing.T, schemas, rendered string) {
	t.Helper()
	if _, err := exec.LookPath("kubeconform"); err != nil {
		t.Log("kubeconform is not in PATH")
		return
	}
	if out, err := c.tryRun(t.Context(), []byte(rendered), "kubeconform", "-strict", "-schema-location", schemas,
		"-"); err != nil {
		t.Errorf("%s%v", out, err)
	}
}

// analyze checks Istio's objects with istioctl.
func (c cluster) analyze(t *testing.T, rendered string) {
	t.Helper()
	if _, err := exec.LookPath("istioctl"); err != nil {
		t.Log("istioctl is not in PATH")
		return
	}
	out, err := c.tryRun(t.Context(), []byte(rendered), "istioctl", "analyze", "--use-kube=false",
		"--failure-threshold",
		"Warning", "-")
	if err != nil {
		t.Errorf("%s%v", out, err)
	}
}
