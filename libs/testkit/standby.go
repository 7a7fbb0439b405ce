package testkit

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Primary is a PostgreSQL server for one test, with a synchronous standby server.
type Primary struct {
	// URL names both servers. Clients connect to the server that accepts writes.
	URL     string
	data    string
	standby string // URL that names only the standby
}

// StartPrimaryAndStandby starts a primary server and its standby, and waits until the standby is synchronous.
func StartPrimaryAndStandby(t testing.TB) *Primary {
	t.Helper()
	server, err := pgx.ParseConfig(Server(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &postgresPrograms{bin: queryText(t, Server(t), `SELECT setting FROM pg_config WHERE name = 'BINDIR'`),
		as: socketOwner(server.Host)}
	primary, standby := s.folder(t), s.folder(t)
	s.run(t, "initdb", "-D", primary, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	first := s.serve(t, primary)
	host, port, _ := net.SplitHostPort(first)
	s.run(t, "pg_basebackup", "-D", standby, "-R", "-c", "fast", "--no-sync", "-h", host, "-p", port, "-U", "postgres")
	second := s.serve(t, standby)
	url := func(hosts string) string {
		return "postgres://postgres@" + hosts + "/postgres?sslmode=disable&connect_timeout=60"
	}
	Administer(t, url(first), `ALTER SYSTEM SET synchronous_standby_names = '*'`)
	Administer(t, url(first), `SELECT pg_reload_conf()`)
	WaitUntil(t, "the standby holds what the primary acknowledges", func(context.Context) error {
		if n := queryText(t, url(first),
			`SELECT count(*)::text FROM pg_stat_replication WHERE sync_state = 'sync'`); n != "1" {
			return fmt.Errorf("%s synchronous standbys", n)
		}
		return nil
	})
	return &Primary{URL: url(first+","+second) + "&target_session_attrs=read-write", data: primary,
		standby: url(second)}
}

// Stop stops the primary abruptly, as a power failure would, and promotes the standby.
func (p *Primary) Stop(t testing.TB) {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(p.data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	number, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	// SIGQUIT causes an immediate shutdown of the server and its child processes. After the signal, these processes
	// write nothing.
	if err := syscall.Kill(number, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	Administer(t, p.standby, `SELECT pg_promote()`)
}

// postgresPrograms describes how to run the programs of PostgreSQL. The field `bin` is their folder. The field `as` is
// the user who runs them; nil means the user of this process.
type postgresPrograms struct {
	bin string
	as  *syscall.Credential
}

func (s *postgresPrograms) folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if s.as != nil {
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (s *postgresPrograms) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = os.TempDir(), &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

func (s *postgresPrograms) run(t testing.TB, program string, args ...string) {
	t.Helper()
	if output, err := s.command(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

// serve starts a PostgreSQL server on the folder `data`, waits until the server answers, and returns its address.
func (s *postgresPrograms) serve(t testing.TB, data string) string {
	t.Helper()
	at := Serve(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return s.command(t.Context(), "postgres", "-D", data, "-c", "listen_addresses="+host, "-p", port,
			"-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "shared_buffers=32MB",
			"-c", "wal_retrieve_retry_interval=200ms")
	})
	WaitUntil(t, "PostgreSQL answers", func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, "postgres://postgres@"+at+"/postgres?sslmode=disable")
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
	return at
}

// queryText runs a query that returns a single text, and returns this text.
func queryText(t testing.TB, databaseURL, query string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var text string
	if err := conn.QueryRow(ctx, query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}
