package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const examples = "../examples"

// offline takes the stores of the trial from images that `make store-images` makes, and asks for no volume.
const offline = `
  - {name: postgres, newName: localhost/postgres, newTag: "15"}
  - {name: redis, newName: localhost/redis, newTag: "7"}
patches:
  - target: {kind: StatefulSet}
    patch: |-
      - {op: remove, path: /spec/volumeClaimTemplates}
      - {op: add, path: /spec/template/spec/volumes/-, value: {name: data, emptyDir: {}}}
`

// TestExamplesAreWhatTheChartMakes compares the rendered examples with the chart of today.
func TestExamplesAreWhatTheChartMakes(t *testing.T) {
	t.Parallel()
	connect(t) // helm is at hand where a cluster is
	fresh := t.TempDir()
	if said, err := exec.CommandContext(t.Context(), filepath.Join(examples, "render"), fresh).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, example := range []string{"trial", "external"} {
		want, err := os.ReadFile(filepath.Join(fresh, example, "slotmesh.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(examples, example, "slotmesh.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s is not what the chart makes: run k8s/examples/render (-chart +example):\n%s", example, diff)
		}
	}
}

// TestExamplesAreApplied applies the trial as a person would, until its demo business is published, and lets the server judge
// the example that needs stores which are not here.
func TestExamplesAreApplied(t *testing.T) {
	t.Parallel()
	c := connect(t)
	trial := t.TempDir()
	if err := os.CopyFS(trial, os.DirFS(filepath.Join(examples, "trial"))); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(trial, "kustomization.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(strings.TrimPrefix(offline, "\n")); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	c.run(t, "kubectl", "apply", "-k", trial)
	t.Cleanup(func() {
		if _, err := c.try(context.Background(), nil, "kubectl", "delete", "namespace", "slotmesh", "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "-n", "slotmesh", "wait", "--for=condition=Complete", "job/slotmesh-demo", "--timeout="+eventually.String())
	if list := c.run(t, "kubectl", "-n", "slotmesh", "exec", "deploy/slotmesh-console", "--", "/slotmesh", "list"); !strings.Contains(list, "harbor-studio") {
		t.Errorf("the demo business is not listed: %s", list)
	}
	c.run(t, "kubectl", "apply", "-k", filepath.Join(examples, "external"), "--dry-run=server")
}
