package backing

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCanReachChecksParentFolders(t *testing.T) {
	t.Parallel()
	root := newHome(t)
	inner := filepath.Join(root, "closed", "inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	stranger := account{name: "stranger", uid: 54321, gid: 54321, isSwitched: true}
	if !stranger.canReach(inner) {
		t.Errorf("%s is open", inner)
	}
	if err := os.Chmod(filepath.Join(root, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if stranger.canReach(inner) {
		t.Errorf("%s is below a closed folder, but another user can reach it", inner)
	}
	owner := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	if !owner.canReach(inner) {
		t.Error("the owner of the folder cannot reach it")
	}
}

func TestFindDataDirPrefersReachableHome(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	for _, a := range []account{{name: "this user"}, {name: "stranger", uid: 54321, gid: 54321, isSwitched: true}} {
		if dir, err := a.findDataDir(home); err != nil || dir != home {
			t.Errorf("%s: got %s %v", a.name, dir, err)
		}
	}
}
