package backing

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// writeFakeInstall writes programs that only print a version.
func writeFakeInstall(t *testing.T, dir, version string, programs ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// newFakeFinder returns a finder for PostgreSQL in root/<version>/bin, with a PATH that contains only the programs in
// onPath.
func newFakeFinder(root string, onPath map[string]string) finder {
	return finder{
		postgres: []string{filepath.Join(root, "*", "bin")},
		lookPath: func(name string) (string, error) {
			if path, ok := onPath[name]; ok {
				return path, nil
			}
			return "", exec.ErrNotFound
		},
	}
}

func TestFindPostgres(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bin := func(version string) string { return filepath.Join(root, version, "bin") }
	writeFakeInstall(t, bin("9"), "9.6.24", "postgres", "initdb")
	writeFakeInstall(t, bin("14"), "14.2", "postgres", "initdb")
	writeFakeInstall(t, bin("15"), "15.18 (Debian 15.18-0+deb12u1)", "postgres", "initdb")
	writeFakeInstall(t, bin("17"), "17rc1", "postgres", "initdb")
	writeFakeInstall(t, bin("18"), "18.1", "postgres") // no initdb: a leftover, not a server
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(bin("15"), "postgres"), link); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		onPath map[string]string
		want   int
		found  string
	}{
		"the newest":                      {nil, 0, bin("17")},
		"the one on the PATH, over links": {map[string]string{"postgres": link}, 0, bin("15")},
		"not one that is too old": {map[string]string{"postgres": filepath.Join(bin("14"), "postgres")}, 0,
			bin("17")},
		"the version that made the data":    {map[string]string{"postgres": link}, 17, bin("17")},
		"an old version that made the data": {nil, 14, bin("14")},
		"none without its version":          {nil, 16, ""},
		"none without its initdb":           {nil, 18, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := newFakeFinder(root, test.onPath).findPostgres(t.Context(), test.want)
			if got.bin != test.found || ok != (test.found != "") {
				t.Errorf("got %+v %v, want %s", got, ok, test.found)
			}
		})
	}
}

func TestFindRedisPrefersPath(t *testing.T) {
	t.Parallel()
	aside := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(aside, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFakeFinder("", map[string]string{"redis-server": "/on/path"})
	f.redis = []string{aside}
	if got := f.findRedis(); got != "/on/path" {
		t.Errorf("got %s", got)
	}
	f.lookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	if got := f.findRedis(); got != aside {
		t.Errorf("got %s", got)
	}
}

func TestFindReasonReturnsErrorLine(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"": "it said nothing",
		"2026-11-21 FATAL:  lock file exists\nHINT: look\n":                                    "lock file exists",
		"creating\ninitdb: error: cannot be run as root\n":                                     "cannot be run as root",
		"E: Unable to locate package postgresql":                                               "Unable to locate package postgresql",
		"PANIC:  could not write to file \"x\": No space left on device\nPANIC:  cannot abort": "no space left on the disk",
		"what\nis this": `it said "is this"`,
	} {
		if got := findReason(output); got != want {
			t.Errorf("reason(%q) = %q, want %q", output, got, want)
		}
	}
}
