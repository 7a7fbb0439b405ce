package e2e

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	examples          = "../examples"
	examplesNamespace = "slotmesh-e2e-examples" // not the namespace of the examples, which a release may use
)

// offlineKustomization uses the images of `make store-images` for the trial's stores, and no volumes.
const offlineKustomization = `
  - {name: postgres, newName: localhost/postgres, newTag: "15"}
  - {name: redis, newName: localhost/redis, newTag: "7"}
patches:
  - target: {kind: StatefulSet}
    patch: |-
      - {op: remove, path: /spec/volumeClaimTemplates}
      - {op: add, path: /spec/template/spec/volumes/-, value: {name: data, emptyDir: {}}}
`

// renderExamples renders the chart with the values of the examples into a folder, and returns the folder.
func renderExamples(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), filepath.Join(examples, "render"),
		folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return folder
}

// TestExamplesApply applies the trial until its demo business is published. It applies the other example, whose stores
// do not exist here, as a dry run on the server.
func TestExamplesApply(t *testing.T) {
	t.Parallel()
	c := connect(t)
	rendered := renderExamples(t)
	trial, external := copyExample(t, rendered, "trial", offlineKustomization), copyExample(t, rendered, "external", "")

	c.run(t, "kubectl", "create", "namespace", examplesNamespace)
	t.Cleanup(func() {
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace",
			examplesNamespace,
			"--wait=false"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "apply", "-k", trial)
	kubectl := []string{"--namespace", examplesNamespace}
	c.run(t, "kubectl", append(kubectl, "wait", "--for=condition=Complete", "job/slotmesh-demo",
		"--timeout="+waitTimeout.String())...)
	if list := c.run(t, "kubectl", append(kubectl, "exec", "deploy/slotmesh-console", "--", "/slotmesh",
		"list")...); !strings.Contains(list, "harbor-studio") {
		t.Errorf("the demo business is not listed: %s", list)
	}
	c.run(t, "kubectl", "apply", "-k", external, "--dry-run=server")
}

// copyExample copies an example, with the rendered chart, into a folder for the namespace of this test. It appends
// added to the kustomization and returns the folder.
func copyExample(t *testing.T, rendered, name, added string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(examples, name))); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(rendered, name, "slotmesh.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "slotmesh.yaml"), manifest, 0o600); err != nil {
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
	moved := strings.Replace(string(text), own, "\nnamespace: "+examplesNamespace+"\n", 1) + strings.TrimPrefix(added,
		"\n")
	moved = strings.Replace(moved, "token=change-me-as-this-one-is-refused", "token="+rand.Text(), 1)
	moved = strings.Replace(moved, "secrets=change-me-as-these-are-refused-by-every-service",
		"secrets="+rand.Text()+rand.Text(), 1)
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
