package images

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// storeUser is the uid and gid of PostgreSQL and Redis in their images, as in the official images.
const storeUser = 999

//go:embed postgres-entrypoint.sh
var postgresEntrypoint []byte

//go:embed redis-entrypoint.sh
var redisEntrypoint []byte

// store describes how the image of PostgreSQL or Redis is built from a Debian package that is installed on this
// machine.
type store struct {
	tag      string
	pkg      string
	programs []string // linked into /usr/local/bin, which is on the PATH
	files    []string // paths of additional files and folders
	excluded *regexp.Regexp
	extra    []entry
	config   v1.Config
}

// stores contains the stores whose images are built from Debian packages, by name.
var stores = map[string]store{
	"postgres": {
		tag: "15",
		pkg: "postgresql-15",
		programs: []string{
			"/usr/lib/postgresql/15/bin/postgres", "/usr/lib/postgresql/15/bin/initdb",
			"/usr/lib/postgresql/15/bin/psql", "/usr/lib/postgresql/15/bin/pg_isready",
			"/usr/bin/chmod", "/usr/bin/seq", "/usr/bin/sleep", // for the entry point and the hook of the Helm chart
		},
		files: []string{"/usr/bin/dash", "/usr/lib/postgresql/15/lib", "/usr/share/postgresql/15",
			"/usr/share/zoneinfo", "/usr/lib/locale/C.utf8"},
		// These files are excluded to keep the image small. The query compiler, its bitcode and the manuals are 80 % of
		// the package's size. The excluded time zone files are duplicates and make up most of zoneinfo.
		excluded: regexp.MustCompile(`/llvmjit|/bitcode/|/man/|/zoneinfo/(right|posix)/`),
		extra: []entry{
			{path: "usr/bin/sh", link: "dash"},
			{path: "docker-entrypoint.sh", mode: 0o755, content: postgresEntrypoint},
			{path: "var/lib/postgresql/data", mode: 0o700, owner: storeUser, folder: true},
			{path: "run/postgresql", mode: 0o775, owner: storeUser, folder: true},
			{path: "var/run", link: "../run"},
		},
		config: v1.Config{
			Entrypoint: []string{"/docker-entrypoint.sh"},
			Cmd:        []string{"postgres"},
			Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
				"PGDATA=/var/lib/postgresql/data"},
			StopSignal: "SIGINT", // a fast shutdown; after SIGTERM, PostgreSQL waits until all clients disconnect
		},
	},
	"redis": {
		tag:      "7",
		pkg:      "redis-server",
		programs: []string{"/usr/bin/redis-server", "/usr/bin/redis-cli"},
		files:    []string{"/usr/bin/dash"},
		extra: []entry{
			{path: "usr/bin/sh", link: "dash"},
			{path: "docker-entrypoint.sh", mode: 0o755, content: redisEntrypoint},
			{path: "data", mode: 0o755, owner: storeUser, folder: true},
		},
		config: v1.Config{
			Entrypoint: []string{"/docker-entrypoint.sh"},
			Cmd:        []string{"redis-server"},
			Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
			WorkingDir: "/data",
		},
	},
}

// baseEntries are the entries in the image of every store: Debian's symbolic links for the merged /usr, the users, and
// a folder for temporary files.
var baseEntries = []entry{
	{path: "bin", link: "usr/bin"}, {path: "sbin", link: "usr/sbin"}, {path: "lib", link: "usr/lib"},
	{path: "lib64", link: "usr/lib64"},
	{path: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0::/:/sbin/nologin\nstore:x:999:999::/:/bin/sh\n")},
	{path: "etc/group", mode: 0o644, content: []byte("root:x:0:\nstore:x:999:\n")},
	{path: "tmp", mode: 0o1777, folder: true},
}

func (s store) buildImage(ctx context.Context) (v1.Image, error) {
	version, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", s.pkg).Output()
	if err != nil {
		return nil, fmt.Errorf("%w: install the Debian package %s", err, s.pkg)
	}
	entries := slices.Concat(baseEntries, s.extra)
	for _, program := range s.programs {
		entries = append(entries, entry{path: "usr/local/bin/" + filepath.Base(program), link: program})
	}
	paths, err := s.listPaths(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		e, err := readMachineFile(path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	cfg := s.config
	cfg.User = fmt.Sprintf("%d:%d", storeUser, storeUser)
	cfg.Labels = map[string]string{
		"org.opencontainers.image.title":   s.pkg + " of Debian, for trials and tests",
		"org.opencontainers.image.version": string(version),
	}
	return assemble([][]entry{entries}, cfg, Source{Arch: runtime.GOARCH, Created: time.Unix(0, 0)})
}

// listPaths returns the paths of all files of this machine that the image contains: the programs, the additional files,
// and the libraries that these files load.
func (s store) listPaths(ctx context.Context) ([]string, error) {
	var paths []string
	for _, top := range slices.Concat(s.programs, s.files) {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !s.isExcluded(path) {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	loading := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return !strings.HasSuffix(p, ".so") && !strings.Contains(p, "/bin/")
	})
	libraries, err := listSharedLibraries(ctx, loading)
	if err != nil {
		return nil, err
	}
	return append(paths, libraries...), nil
}

func (s store) isExcluded(path string) bool { return s.excluded != nil && s.excluded.MatchString(path) }

// loadedLibrary matches a line in the output of ldd. The line contains the path of a library after "=>", or the path of
// the loader without "=>".
var loadedLibrary = regexp.MustCompile(`(?m)^\s+(?:\S+ => )?(/\S+) \(0x`)

// listSharedLibraries returns the paths of the libraries that the given programs and libraries load, as ldd lists them.
func listSharedLibraries(ctx context.Context, paths []string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "ldd", paths...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // ldd exits with 1 if a file is linked statically or is not a program
		return nil, fmt.Errorf("ldd: %w", err)
	}
	var libraries []string
	for _, match := range loadedLibrary.FindAllSubmatch(out, -1) {
		libraries = append(libraries, string(match[1]))
	}
	return libraries, nil
}

// readMachineFile reads a file of this machine and follows symbolic links. The path of the entry is the file's path
// under the merged /usr.
func readMachineFile(path string) (entry, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return entry{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return entry{}, err
	}
	at := strings.TrimPrefix(path, "/")
	if !strings.HasPrefix(at, "usr/") {
		at = "usr/" + at
	}
	return entry{path: at, mode: int64(info.Mode().Perm()), content: content}, nil
}
