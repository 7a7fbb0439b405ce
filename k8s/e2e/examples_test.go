package e2e

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	examples          = "../examples"
	examplesNamespace = "slotmesh-e2e-examples" // not the examples' own: somebody's release may be there
)

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
	trial, external := exampleElsewhere(t, "trial", offline), exampleElsewhere(t, "external", "")

	c.run(t, "kubectl", "create", "namespace", examplesNamespace)
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace", examplesNamespace, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "apply", "-k", trial)
	kubectl := []string{"--namespace", examplesNamespace}
	c.run(t, "kubectl", append(kubectl, "wait", "--for=condition=Complete", "job/slotmesh-demo", "--timeout="+eventually.String())...)
	if list := c.run(t, "kubectl", append(kubectl, "exec", "deploy/slotmesh-console", "--", "/slotmesh", "list")...); !strings.Contains(list, "harbor-studio") {
		t.Errorf("the demo business is not listed: %s", list)
	}
	c.run(t, "kubectl", "apply", "-k", external, "--dry-run=server")
}

// exampleElsewhere copies an example into a folder, for the namespace of this test and with this added.
func exampleElsewhere(t *testing.T, name, added string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(examples, name))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	own := "\nnamespace: slotmesh\n"
	if !strings.Contains(string(text), own) {
		t.Fatalf("%s does not say the example's namespace:\n%s", file, text)
	}
	moved := strings.Replace(string(text), own, "\nnamespace: "+examplesNamespace+"\n", 1) + strings.TrimPrefix(added, "\n")
	moved = strings.Replace(moved, "token=change-me-as-this-one-is-refused", "token="+rand.Text(), 1)
	moved = strings.Replace(moved, "secrets=change-me-as-these-are-refused-by-every-service", "secrets="+rand.Text()+rand.Text(), 1)
	if err := os.WriteFile(file, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets, err := exec.CommandContext(t.Context(), filepath.Join("..", "peer-secrets")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "peers.env"), secrets, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
