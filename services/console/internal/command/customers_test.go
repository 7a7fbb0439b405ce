package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestImportAndChangeCustomers(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s := newShell(t, w)
	file := filepath.Join(t.TempDir(), "customers.csv")
	if err := os.WriteFile(file, []byte("name,email\nAda,ada@example.com\nBob,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "An import would add 1 customers; 0 have a record already; 1 lines would be left out.\nLINE"
	if got := s.mustRun("customers", "import", "harbor", file, "--dry-run"); !strings.HasPrefix(got, want) {
		t.Errorf("dry run: %s", got)
	}
	if got := s.mustRun("customers", "import", "harbor", file); !strings.HasPrefix(got, "Imported: 1 new customers;") ||
		!strings.Contains(got, "undo-import") {
		t.Errorf("import: %s", got)
	}
	s.mustRun("customers", "change", "harbor", "--email", "ada@example.com", "--notes", "deaf", "--tag", "regular,old")
	if got := s.mustRun("customers", "show", "harbor", "--email", "ada@example.com"); !strings.Contains(got, "notes: deaf") ||
		!strings.Contains(got, "- regular") || !strings.Contains(got, "name: Ada") {
		t.Errorf("show: %s", got)
	}
	if got := s.mustRun("customers", "list", "harbor", "--tag", "old"); !strings.Contains(got, "ada@example.com") {
		t.Errorf("list: %s", got)
	}
	s.mustRun("customers", "merge", "harbor", "ada@example.com", "+351 210 000 000")
	imports := decode(t, s.mustRun("customers", "imports", "harbor", "-o", "json"))["imports"].([]any)
	id := imports[0].(map[string]any)["id"].(string)
	if got := s.mustRun("customers", "undo-import", "harbor", id); got != "Removed: 1 customers.\n" {
		t.Errorf("undo: %s", got)
	}
	s.expectFailure(1, "columns", "customers", "import", "harbor", file, "--columns", "color")
	s.expectFailure(1, "file", "customers", "import", "harbor", file+".missing")
}
