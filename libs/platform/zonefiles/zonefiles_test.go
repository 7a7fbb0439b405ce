package zonefiles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// In rules2026c, Alberta and British Columbia no longer change their clocks, as in the release 2026c.
const rules2026c = `
Rule C 2007 2026 - Mar Sun>=8 2:00 1:00 D
Rule C 2007 2025 - Nov Sun>=1 2:00 0 S
Zone America/Edmonton -7:00 C M%sT 2026 Nov 1 2:00
	-6:00 - CST
Zone America/Vancouver -8:00 C P%sT 2026 Nov 1 2:00
	-7:00 - MST
Zone Europe/London 0:00 - GMT
`

// writeCompiled returns a folder of zone data of a version.
func writeCompiled(t *testing.T, version string) string {
	t.Helper()
	zic, err := inputs.LookPath("zic")
	if err != nil {
		if zic = "/usr/sbin/zic"; exec.Command(zic, "--version").Run() != nil { // the test's own words
			testkit.SkipOrFail(t, "there is no zic")
		}
	}
	folder := t.TempDir()
	run := exec.CommandContext(t.Context(), zic, "-b", "fat", "-d", folder, "-")
	run.Stdin = strings.NewReader(rules2026c)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "tzdata.zi"), []byte("# version "+version+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestChooseUsesNewestRules(t *testing.T) {
	t.Parallel()
	newer, older := writeCompiled(t, "2026c"), writeCompiled(t, "2025a")
	if rules := findNewest([]string{older, filepath.Join(older, "nothing")}); rules.Source != "embedded" {
		t.Errorf("older rules are used: %s", rules)
	}
	rules := findNewest([]string{older, newer})
	if rules.Version != "2026c" || rules.Source != newer {
		t.Fatalf("%s is used", rules)
	}
	for name, hour := range map[string]int{"America/Edmonton": 16, "America/Vancouver": 17} {
		location, err := rules.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2027, time.February, 10, 10, 0, 0, 0, location).UTC()
		if want := time.Date(2027, time.February, 10, hour, 0, 0, 0, time.UTC); !at.Equal(want) {
			t.Errorf("10:00 in %s is %s", name, at)
		}
	}
	if _, err := rules.Load("posixrules"); err == nil {
		t.Error("posixrules is a zone")
	}
}

func TestChooseUsesConfiguredPath(t *testing.T) {
	t.Parallel()
	older := writeCompiled(t, "2025a")
	rules, err := openRules(older)
	if err != nil || rules.String() != "2025a, "+older {
		t.Errorf("%v, %v", rules, err)
	}
	for _, path := range []string{filepath.Join(older, "nothing"), t.TempDir(), filepath.Join(older, "tzdata.zi")} {
		cfg := Config{Path: path}
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), "ZONE_DATA: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReleaseDateIsPlausibleFileDate(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, time.April, 2, 0, 0, 0, 0, time.UTC)
	if got := releaseDate("2026", made); !got.Equal(made) {
		t.Errorf("%s", got)
	}
	if got := releaseDate("2026", time.Unix(0, 0)); got.Year() != 2026 {
		t.Errorf("the release date of a file without a time: %s", got)
	}
}
