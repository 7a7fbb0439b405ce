package zone

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// The embedded rules are those of the Go release that builds the program. A newer release brings newer rules.
func TestEmbeddedRulesEqualGoRules(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		testkit.SkipOrFail(t, "there is no Go: %v", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "lib", "time")
	content, err := os.ReadFile(filepath.Join(folder, "zoneinfo.zip"))
	if err != nil {
		testkit.SkipOrFail(t, "this Go has no zone data: %v", err)
	}
	script, err := os.ReadFile(filepath.Join(folder, "update.bash"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(script, []byte("\nDATA="+EmbeddedVersion+"\n")) || !bytes.Equal(content, embedded) {
		t.Errorf("copy zoneinfo.zip of %s to libs/values/zone, and its version (DATA of update.bash) and date to zone.go", folder)
	}
}

func TestLoadRejectsUncommonNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Europe/Lisbon", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+5", "America/Port-au-Prince", "EST5EDT",
	} {
		if location, err := Load(name); err != nil || location.String() != name {
			t.Errorf("%s: %v, %v", name, location, err)
		}
	}
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "right/Europe/Lisbon", "posix/Europe/Lisbon", "Factory",
		"Europe/Atlantis", "../Europe/Lisbon",
		"Europe/../UTC", "/etc/passwd", "Europe/", "europe/lisbon", "Europe/Lisbon\x00", strings.Repeat("A", 65),
	} {
		if location, err := Load(name); err == nil {
			t.Errorf("%q is %v", name, location)
		}
	}
}

func TestIsOldAfterOneYear(t *testing.T) {
	t.Parallel()
	released := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rules := &Rules{Since: released}
	for days, want := range map[int]bool{0: false, 364: false, 366: true} {
		if got := rules.IsOld(released.AddDate(0, 0, days)); got != want {
			t.Errorf("after %d days: %v", days, got)
		}
	}
	if (&Rules{}).IsOld(released) {
		t.Error("rules of an unknown time are old")
	}
}
