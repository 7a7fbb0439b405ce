package backing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/sethvargo/go-retry"
)

// startTimeout limits the start of a store. It is long, because the recovery after a crash can take long.
const startTimeout = 90 * time.Second

// durableSettings are the settings of a PostgreSQL whose data must survive.
var durableSettings = []string{"max_connections=200"}

// throwawaySettings are the settings of a PostgreSQL for tests. The data of such a PostgreSQL need not survive a crash.
// Many connections are allowed, because every service of every test has a connection pool.
var throwawaySettings = []string{
	"max_connections=1500", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
	"wal_level=minimal", "max_wal_senders=0",
}

func (s *Stores) startPostgres(ctx context.Context, o Options, p storeFolders, program postgresInstall) error {
	data := postgresFolder(p)
	if err := stopLeftover(data); err != nil {
		return err
	}
	if err := initdb(ctx, p, program, o.IsThrowaway); err != nil {
		return err
	}
	settings := durableSettings
	if o.IsThrowaway {
		settings = throwawaySettings
	}
	s.DatabaseURL, s.Data = newSocketURL(p.sockets), data
	return retry.Do(ctx, retry.WithMaxRetries(maxRetries, retry.NewConstant(retryInterval)),
		func(ctx context.Context) error {
			err := s.servePostgres(ctx, p, filepath.Join(program.bin, "postgres"),
				buildServerArgs(data, p.sockets, settings))
			if err != nil && strings.Contains(err.Error(), dataInUse) {
				return retry.RetryableError(err)
			}
			return err
		})
}

// If a server was killed, its child processes end some time later. Before that, no other server can start on the same
// data, and the error of a failed start contains dataInUse. The start is then retried.
const (
	dataInUse     = "still in use"
	maxRetries    = 100
	retryInterval = 200 * time.Millisecond
)

// servePostgres starts the PostgreSQL server and returns when the server answers queries.
func (s *Stores) servePostgres(ctx context.Context, p storeFolders, program string, args []string) error {
	server, err := launch(p, "postgres", program, args...)
	if err != nil {
		return err
	}
	s.onStop(func() error { return server.stop(syscall.SIGINT, syscall.SIGQUIT) }) // fast, then immediate shutdown
	if err := waitFor(ctx, server, "PostgreSQL",
		func(ctx context.Context) error { return pingPostgres(ctx, s.DatabaseURL) }); err != nil {
		return err
	}
	server.watch(s.failed)
	return nil
}

// buildServerArgs returns the settings of the server as arguments, so that the files in the data folder stay unchanged.
func buildServerArgs(data, sockets string, settings []string) []string {
	args := []string{
		"-D", data,
		"-c", "listen_addresses=",
		"-c", "unix_socket_directories=" + sockets,
		"-c", "unix_socket_permissions=0700",
		"-c", "logging_collector=off",
		"-c", "log_destination=stderr",
		"-c", "timezone=UTC",
		"-c", "log_timezone=UTC",
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// newSocketURL returns the URL of a PostgreSQL that listens on a Unix socket. The URL contains the port, because the
// port is part of the socket's file name, and a client would otherwise take the port from PGPORT.
func newSocketURL(sockets string) string {
	q := url.Values{"host": {sockets}, "user": {"postgres"}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres:///postgres?" + q.Encode()
}

// initdb creates PostgreSQL's data folder if it does not exist. It creates the folder under a temporary name and
// renames it at the end. After an interruption, no incomplete data folder can therefore exist under the final name.
func initdb(ctx context.Context, p storeFolders, program postgresInstall, throwaway bool) error {
	data := postgresFolder(p)
	if _, err := os.Stat(data); err == nil {
		return nil
	}
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return homeError(p.data, err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return homeError(p.data, err)
	}
	if err := p.account.takeOwnership(fresh); err != nil {
		return homeError(p.data, err)
	}
	if err := runInitdb(ctx, p, program, fresh, throwaway); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, data); err != nil {
		return homeError(p.data, err)
	}
	return nil
}

func runInitdb(ctx context.Context, p storeFolders, program postgresInstall, dir string, throwaway bool) error {
	args := []string{"-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"}
	if throwaway {
		args = append(args, "--no-sync")
	}
	run, err := launch(p, "initdb", filepath.Join(program.bin, "initdb"), args...)
	if err != nil {
		return err
	}
	select {
	case <-run.exited:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), run.stop(syscall.SIGINT, syscall.SIGKILL))
	}
	if !run.cmd.ProcessState.Success() {
		return fmt.Errorf("initdb cannot make PostgreSQL's data in %s: %s", p.data, readLogReason(run.log))
	}
	return os.Remove(run.log)
}

// waitFor returns when the server answers a ping, or after startTimeout. The argument `name` is the name of the server
// in errors.
func waitFor(ctx context.Context, server *process, name string, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ping(ctx) == nil {
			return nil
		}
		select {
		case <-server.exited:
			return fmt.Errorf("%s does not start: %s", name, readLogReason(server.log))
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready: %w; %s", name, ctx.Err(), readLogReason(server.log))
		case <-tick.C:
		}
	}
}

func pingPostgres(ctx context.Context, databaseURL string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

// stopLeftover stops the server that a killed process has left running on the data, and removes the server's pid file.
// Because this process holds the lock of the home folder, no other Slotmesh process uses that server.
func stopLeftover(data string) error {
	file := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("PostgreSQL's data in %s cannot be read: %w", data, unwrapPathError(err))
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err == nil && strings.Contains(readCommandLine(pid), data) {
		if err := stopServer(pid); err != nil {
			return err
		}
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return homeError(data, err)
	}
	return nil
}

// stopServer requests a fast shutdown of a server and waits until the server has ended.
func stopServer(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("a PostgreSQL of an earlier run (process %d) is still there and cannot be stopped: %w; "+
			"stop it", pid, err)
	}
	deadline := time.After(stopTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-deadline:
			return fmt.Errorf("a PostgreSQL of an earlier run (process %d) does not stop; stop it", pid)
		case <-tick.C:
		}
	}
	return nil
}

// readCommandLine returns the command line of a process, or "" if the process does not exist.
func readCommandLine(pid int) string {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(text), "\x00", " ")
	}
	text, err := runForOutput(context.Background(), "ps", "-o", "args=", "-p", strconv.Itoa(pid))
	if err != nil {
		return ""
	}
	return text
}
