package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// hashCheckout returns the hash of the checkout that contains the current folder.
func hashCheckout(t *testing.T) string {
	t.Helper()
	hashes, err := checkoutHashes(t.Context())
	if err != nil || hashes[""] == "" {
		t.Fatalf("got %v %v", hashes, err)
	}
	return hashes[""]
}

func TestCheckoutHashesChangeWithFiles(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=Zoë", "-c", "user.email=zoe@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "--quiet")
	write(".gitignore", "*.log\n")
	write("a.go", "one")
	fresh := hashCheckout(t)
	git("add", "--all")
	git("commit", "--quiet", "--message=A file")
	if got := hashCheckout(t); got != fresh {
		t.Errorf("a commit changes the hash from %s to %s", fresh, got)
	}
	write("made.log", "ignored")
	if got := hashCheckout(t); got != fresh {
		t.Errorf("an ignored file changes the hash from %s to %s", fresh, got)
	}
	write("a.go", "two")
	if hashCheckout(t) == fresh {
		t.Error("a changed file keeps the hash")
	}
	write("a.go", "one")
	write("b.go", "new")
	if hashCheckout(t) == fresh {
		t.Error("a new file keeps the hash")
	}
	if err := os.Remove("b.go"); err != nil {
		t.Fatal(err)
	}
	if got := hashCheckout(t); got != fresh {
		t.Errorf("the same files have the hashes %s and %s", fresh, got)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "status", "--porcelain").Output(); err != nil ||
		len(out) > 0 {
		t.Errorf("the repository's index changed: %s %v", out, err)
	}
}

func TestCheckoutHashesCoverFolders(t *testing.T) {
	t.Parallel()
	hashes, err := checkoutHashes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"charts", "k8s", "libs", "services"} {
		if len(hashes[folder]) != len(hashes[""]) || hashes[folder] == hashes[""] {
			t.Errorf("%s has the hash %q", folder, hashes[folder])
		}
	}
}

func TestCheckoutHashesNeedRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	if hash, err := checkoutHashes(t.Context()); err == nil {
		t.Errorf("a folder outside a repository has the hashes %v", hash)
	}
}

func TestProgramsHashIsStable(t *testing.T) {
	t.Parallel()
	if first, second := programsHash(), programsHash(); first != second {
		t.Errorf("the hash changes from %s to %s", first, second)
	}
}
