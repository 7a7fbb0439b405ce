package backing

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpenHomeCreatesPrivateFolder(t *testing.T) {
	t.Parallel()
	created := filepath.Join(t.TempDir(), "of", "mine")
	before := filepath.Join(t.TempDir(), "before")
	if err := os.Mkdir(before, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(before, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		mode   os.FileMode
		shared bool
	}{{created, 0o700, false}, {before, 0o750, true}} {
		home, err := OpenHome(c.path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = home.Close() }()
		info, err := os.Stat(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != c.mode || home.IsShared != c.shared {
			t.Errorf("%s has the mode %o, shared %t", c.path, info.Mode().Perm(), home.IsShared)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHome(file); err == nil {
		t.Error("OpenHome accepts a file as the home folder")
	}
}
