package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestPicturesAreAddedListedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	file := filepath.Join(t.TempDir(), "cut.gif")
	if err := os.WriteFile(file, []byte("GIF89a, a picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(s.mustRun("media", "add", "harbor", file))
	if !catalog.IsPictureID(id) {
		t.Errorf("the id is %q", id)
	}
	if added := decode(t, s.mustRun("media", "add", "harbor", file, "-o", "json")); added["id"] != id {
		t.Errorf("%v", added)
	}
	if out := s.mustRun("media", "list", "harbor"); !strings.Contains(out, id) || !strings.Contains(out, "image/gif") {
		t.Errorf("%s", out)
	}
	if out := s.mustRun("media", "delete", "harbor", id); out != id+" is deleted\n" {
		t.Errorf("%q", out)
	}
	s.expectFailure(1, "Picture not found", "media", "delete", "harbor", id)
	s.expectFailure(1, "cannot be read", "media", "add", "harbor", file+".lost")
	if err := os.WriteFile(file, []byte("<svg/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expectFailure(1, "SVG files are not accepted", "media", "add", "harbor", file)
	if err := os.Truncate(file, 11<<20); err != nil {
		t.Fatal(err)
	}
	s.expectFailure(1, "larger than 10 MB", "media", "add", "harbor", file)
}
