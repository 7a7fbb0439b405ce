package images

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newReleasableCheckout creates a checkout with one commit that `release` accepts, with the files that it checks before
// it builds.
func newReleasableCheckout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	program, err := os.ReadFile("release")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, root, "k8s/images/release", string(program))
	writeFile(t, root, "CHANGELOG.md", "# Changes\n\n## Unreleased\n\n## 1.2.0 - 2026-11-23\n\n- More.\n")
	writeFile(t, root, "charts/slotmesh/Chart.yaml", "name: slotmesh\nversion: 1.2.0\n")
	writeFile(t, root, ".gitignore", "*.key\n")
	writeFile(t, root, "cosign.key", "")
	commitAll(t, root)
	return root
}

func writeFile(t *testing.T, root, file, content string) {
	t.Helper()
	path := filepath.Join(root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// commitAll commits all files in root, which becomes a repository.
func commitAll(t *testing.T, root string) {
	t.Helper()
	runIn(t, root, "git", "init", "--quiet")
	runIn(t, root, "git", "add", "--all")
	runIn(t, root, "git", "-c", "user.name=Zoë", "-c", "user.email=zoe@example.com", "commit", "--quiet",
		"--message=A change", "--no-verify")
}

func runIn(t *testing.T, dir string, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(command, " "), err, failed.String())
	}
	return string(out)
}

// TestReleaseRefusesInvalidState checks that `release` refuses invalid settings and files before it builds or sends
// anything.
func TestReleaseRefusesInvalidState(t *testing.T) {
	t.Parallel()
	good := map[string]string{"VERSION": "v1.2.0", "REGISTRY": "localhost:1/slotmesh", "KEY": "cosign.key"}
	for _, c := range []struct {
		name     string
		setting  string // NAME=VALUE in place of the good one
		change   func(t *testing.T, root string)
		sentence string
	}{
		{name: "no version", setting: "VERSION=", sentence: "VERSION= is no version"},
		{name: "no v", setting: "VERSION=1.2.0", sentence: "VERSION=1.2.0 is no version"},
		{name: "two numbers", setting: "VERSION=v1.2", sentence: "VERSION=v1.2 is no version"},
		{name: "leading zero", setting: "VERSION=v1.02.0", sentence: "VERSION=v1.02.0 is no version"},
		{name: "leading zero before a release", setting: "VERSION=v1.2.0-rc.01",
			sentence: "VERSION=v1.2.0-rc.01 is no version"},
		{name: "build metadata", setting: "VERSION=v1.2.0+1", sentence: "VERSION=v1.2.0+1 is no version"},
		{name: "no registry", setting: "REGISTRY=", sentence: "REGISTRY= is no place in a registry"},
		{name: "URL", setting: "REGISTRY=https://ghcr.io/slotmesh",
			sentence: "REGISTRY=https://ghcr.io/slotmesh is no place in a registry"},
		{name: "no key", setting: "KEY=", sentence: "KEY= is no key"},
		{name: "missing key", setting: "KEY=other.key", sentence: "KEY=other.key is no key"},
		{name: "version without changes", setting: "VERSION=v1.2.1", sentence: "CHANGELOG.md says nothing of 1.2.1"},
		{name: "a version as pattern", setting: "VERSION=v1.2.0-rc.1",
			sentence: "CHANGELOG.md says nothing of 1.2.0-rc.1"},
		{name: "another version of the chart", sentence: "Chart.yaml has another version than 1.2.0",
			change: func(t *testing.T, root string) {
				writeFile(t, root, "charts/slotmesh/Chart.yaml", "name: slotmesh\nversion: 1.1.0\n")
				commitAll(t, root)
			}},
		{name: "a changed file", sentence: "files differ from the commit", change: func(t *testing.T, root string) {
			writeFile(t, root, "charts/slotmesh/Chart.yaml", "version: 1.2.0\n")
		}},
		{name: "a new file", sentence: "files differ from the commit", change: func(t *testing.T, root string) {
			writeFile(t, root, "main.go", "package main\n")
		}},
		{name: "another commit's tag", sentence: "the tag v1.2.0 stands at another commit",
			change: func(t *testing.T, root string) {
				runIn(t, root, "git", "tag", "v1.2.0")
				writeFile(t, root, "main.go", "package main\n")
				commitAll(t, root)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := newReleasableCheckout(t)
			if c.change != nil {
				c.change(t, root)
			}
			settings := os.Environ()
			for name, value := range good {
				settings = append(settings, name+"="+value)
			}
			output := runRefusedRelease(t, root, append(settings, c.setting))
			if !strings.HasPrefix(output, "no release: ") || !strings.Contains(output, c.sentence) {
				t.Errorf("the output is %q", output)
			}
		})
	}
}

// runRefusedRelease runs `release`, which must fail, and returns its output.
func runRefusedRelease(t *testing.T, root string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "k8s/images/release")
	cmd.Dir, cmd.Env, cmd.WaitDelay = root, env, 10*time.Second
	output, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the release succeeded: %s", output)
	}
	return string(output)
}
