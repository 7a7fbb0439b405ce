package backing

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAnAccountReachesAFolderOnlyThroughOpenOnes(t *testing.T) {
	t.Parallel()
	root := newHome(t)
	inner := filepath.Join(root, "closed", "inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	stranger := account{name: "stranger", uid: 54321, gid: 54321, switched: true}
	if !stranger.reaches(inner) {
		t.Errorf("%s is open", inner)
	}
	if err := os.Chmod(filepath.Join(root, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if stranger.reaches(inner) {
		t.Errorf("%s lies below a closed folder", inner)
	}
	owner := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	if !owner.reaches(inner) {
		t.Error("the owner reaches its own folder")
	}
}

func TestDataStaysInAHomeThatTheAccountReaches(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	for _, a := range []account{{name: "this user"}, {name: "stranger", uid: 54321, gid: 54321, switched: true}} {
		if dir, err := a.dataDir(home); err != nil || dir != home {
			t.Errorf("%s: got %s %v", a.name, dir, err)
		}
	}
}
