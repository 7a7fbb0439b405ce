package backing

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// minPostgres is the oldest major version of PostgreSQL with which the services' SQL statements are tested.
const minPostgres = 15

// postgresInstall is a PostgreSQL server that is installed on the machine.
type postgresInstall struct {
	bin   string // folder with the programs postgres and initdb
	major int
}

// finder searches for programs on the machine. The fields contain the places that the finder searches; tests set other
// places.
type finder struct {
	lookPath func(name string) (string, error)
	postgres []string // patterns of the paths of folders that may contain a PostgreSQL
	redis    []string // paths of redis-server outside the PATH
}

// newMachineFinder returns a finder that searches the folders of package managers on Debian, Red Hat and macOS, and the
// folder of downloaded programs.
func newMachineFinder() finder {
	return finder{
		lookPath: exec.LookPath,
		postgres: []string{
			"/usr/lib/postgresql/*/bin",
			"/usr/pgsql-*/bin",
			"/opt/homebrew/opt/postgresql@*/bin",
			"/usr/local/opt/postgresql@*/bin",
			filepath.Join(downloadDir(), "*", "bin"),
		},
		redis: []string{"/opt/homebrew/bin/redis-server", "/usr/local/bin/redis-server", "/usr/sbin/redis-server"},
	}
}

// findPostgres returns the PostgreSQL installation to use, or false if there is none. If the argument `want` is not 0,
// the installation must have this major version. findPostgres prefers an installation on the PATH; its second choice is
// the newest installation.
func (f finder) findPostgres(ctx context.Context, want int) (postgresInstall, bool) {
	for _, found := range f.listInstalls(ctx) {
		if found.major == want || (want == 0 && found.major >= minPostgres) {
			return found, true
		}
	}
	return postgresInstall{}, false
}

// listInstalls lists the usable installations: first the installations on the PATH, and then all others, newest first.
func (f finder) listInstalls(ctx context.Context) []postgresInstall {
	installs := f.probeAll(ctx, f.findOnPath(ctx))
	var others []string
	for _, pattern := range f.postgres {
		dirs, _ := filepath.Glob(pattern) // fails only for an invalid pattern; the finder's patterns are valid
		others = append(others, dirs...)
	}
	rest := f.probeAll(ctx, others)
	slices.SortStableFunc(rest, func(a, b postgresInstall) int { return b.major - a.major })
	return append(installs, rest...)
}

// findOnPath returns the folders of the PostgreSQL installations to which the programs postgres and pg_config on the
// PATH belong.
func (f finder) findOnPath(ctx context.Context) []string {
	var dirs []string
	if program, err := f.lookPath("postgres"); err == nil {
		dirs = append(dirs, resolveDir(program))
	}
	if program, err := f.lookPath("pg_config"); err == nil {
		if out, err := runForOutput(ctx, program, "--bindir"); err == nil {
			dirs = append(dirs, strings.TrimSpace(out))
		}
	}
	return dirs
}

// resolveDir returns the folder of the program at the path `program`. If the path is a symbolic link, it returns the
// folder of the link's target, because the folder of the link may lack initdb.
func resolveDir(program string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return filepath.Dir(program)
}

func (f finder) probeAll(ctx context.Context, dirs []string) []postgresInstall {
	var installs []postgresInstall
	for _, dir := range dirs {
		if install, err := probePostgres(ctx, dir); err == nil {
			installs = append(installs, install)
		}
	}
	return installs
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// probePostgres returns the installation in the folder `dir`, with the version that the server program prints. If the
// folder has no initdb, probePostgres returns an error.
func probePostgres(ctx context.Context, dir string) (postgresInstall, error) {
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return postgresInstall{}, err
	}
	out, err := runForOutput(ctx, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return postgresInstall{}, err
	}
	match := versionLine.FindStringSubmatch(out)
	if match == nil {
		return postgresInstall{}, fmt.Errorf("%s names no version: %q", dir, out)
	}
	major, err := strconv.Atoi(match[1])
	if err != nil {
		return postgresInstall{}, err
	}
	return postgresInstall{bin: dir, major: major}, nil
}

// findRedis returns the path of redis-server, or "" if the machine has none.
func (f finder) findRedis() string {
	if program, err := f.lookPath("redis-server"); err == nil {
		return program
	}
	for _, path := range f.redis {
		if program, err := exec.LookPath(path); err == nil {
			return program
		}
	}
	return ""
}

func runForOutput(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	return string(out), err
}
