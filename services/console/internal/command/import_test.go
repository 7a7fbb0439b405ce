package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestImportDraftsManifest(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	file := filepath.Join(t.TempDir(), "services.json")
	services := `[{"id": 1, "name": "Haircut", "duration": 45, "price": 30, "currency": "EUR"}]`
	if err := os.WriteFile(file, []byte(services), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.mustRun("import", file, "--slug", "harbor"); !strings.Contains(got, "slug: harbor") ||
		!strings.Contains(got, "duration_minutes: 45") {
		t.Errorf("the draft is %s", got)
	}
	s.expectFailure(1, "file", "import", file+".missing")
}
