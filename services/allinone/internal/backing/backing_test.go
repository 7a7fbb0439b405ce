package backing

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// newHome creates a home that an unprivileged user can enter. Other users cannot enter folders of t.TempDir.
func newHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "allinone-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func start(t *testing.T, o Options) *Stores {
	t.Helper()
	o.Say = func(line string) { t.Log(line) }
	stores, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return stores
}

func stop(t *testing.T, s *Stores) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
}

// runStatement runs an SQL statement on a new connection.
func runStatement(t *testing.T, s *Stores, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestStopRemovesThrowawayStores(t *testing.T) {
	t.Parallel()
	s := start(t, Options{IsThrowaway: true})
	runStatement(t, s, "SELECT 1")
	options, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	if _, err := os.Stat(filepath.Dir(options.Addr)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
	select {
	case err := <-s.Failed():
		t.Errorf("an orderly stop was reported as a failure: %v", err)
	default:
	}
}

func TestStartInFolderKeepsURLs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := start(t, Options{IsThrowaway: true, Folder: home})
	database, redisURL := first.DatabaseURL, first.RedisURL
	runStatement(t, first, "CREATE TABLE lost (id int)")
	remaining := filepath.Join(first.findSocketFolder(t), "left")
	stop(t, first)
	if err := os.MkdirAll(remaining, 0o700); err != nil { // like a killed run, which leaves files
		t.Fatal(err)
	}
	second := start(t, Options{IsThrowaway: true, Folder: home})
	defer stop(t, second)
	if second.DatabaseURL != database || second.RedisURL != redisURL {
		t.Errorf("the URLs %s and %s became %s and %s", database, redisURL, second.DatabaseURL, second.RedisURL)
	}
	runStatement(t, second, "CREATE TABLE lost (id int)")
	if _, err := os.Stat(remaining); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of the earlier run is still there: %v", err)
	}
}

func TestStartKeepsDataOverRestarts(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := start(t, Options{Home: home})
	runStatement(t, first, "CREATE TABLE kept (id int)")
	stop(t, first)
	second := start(t, Options{Home: home})
	defer stop(t, second)
	runStatement(t, second, "INSERT INTO kept VALUES (1)")
}

func TestOpenHomeRefusesSecondProcess(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "new", "home")
	first, err := OpenHome(home)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenHome(home)
	want := "SLOTMESH_HOME: " + home + " is in use by the slotmesh process " + strconv.Itoa(os.Getpid()) +
		"; stop that one, or name another folder"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := OpenHome(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
}

// serverPID returns the id of the process that serves a home.
func serverPID(t *testing.T, home string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// startLongStatement runs a statement that takes seconds, even after the server was killed. The returned function waits
// for the end of the connection.
func startLongStatement(t *testing.T, s *Stores) func() {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// the test stops the server before the statement ends
		_, _ = conn.Exec(t.Context(), "DO $$ BEGIN FOR i IN 1..30000000 LOOP END LOOP; END $$")
	}()
	waiting, err := pgx.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = waiting.Close(t.Context()) }()
	for n := 0; n == 0; {
		if err := waiting.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	return func() { <-ended }
}

func TestStartRecoversAfterServerCrash(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := start(t, Options{Home: home})
	runStatement(t, first, "CREATE TABLE kept (id int)")
	defer startLongStatement(t, first)()
	if err := syscall.Kill(serverPID(t, home), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-first.Failed(); !strings.HasPrefix(err.Error(), "postgres has ended by itself: ") {
		t.Errorf("got %v", err)
	}
	stop(t, first)
	second := start(t, Options{Home: home})
	defer stop(t, second)
	runStatement(t, second, "INSERT INTO kept VALUES (1)")
}

func TestStartStopsLeftoverServer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := start(t, Options{Home: home, RedisURL: findSharedRedis(t)})
	remaining, sockets := serverPID(t, home), first.findSocketFolder(t)
	second := start(t, Options{Home: home, RedisURL: findSharedRedis(t)})
	defer stop(t, second)
	if err := <-first.Failed(); err == nil {
		t.Error("the end of the leftover server was not reported")
	}
	if pid := serverPID(t, home); pid == remaining {
		t.Errorf("process %d still serves", pid)
	}
	runStatement(t, second, "SELECT 1")
	if _, err := os.Stat(sockets); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder of sockets is still there: %v", err)
	}
}

// findSocketFolder returns the folder of PostgreSQL's socket.
func (s *Stores) findSocketFolder(t *testing.T) string {
	t.Helper()
	config, err := pgx.ParseConfig(s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return config.Host
}

// findSharedRedis returns the URL of the Redis that all tests share.
func findSharedRedis(t *testing.T) string {
	t.Helper()
	url := os.Getenv("SLOTMESH_TEST_REDIS_URL")
	if url == "" {
		t.Fatal("SLOTMESH_TEST_REDIS_URL is not set: run the tests by `make test` or under cmd/withstores")
	}
	return url
}

func TestStartIgnoresPIDFileOfOtherProgram(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	stop(t, start(t, Options{Home: home, RedisURL: findSharedRedis(t)}))
	other := exec.CommandContext(t.Context(), "sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	pidFile := filepath.Join(home, "postgres", "postmaster.pid")
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(other.Process.Pid)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, Options{Home: home, RedisURL: findSharedRedis(t)}))
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other program was stopped: %v", err)
	}
}

func TestStartRepeatsInterruptedInitdb(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	if err := os.MkdirAll(filepath.Join(home, "postgres.new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, Options{Home: home, RedisURL: findSharedRedis(t)}))
}

func TestFetchFittingRefusesOtherMajorVersion(t *testing.T) {
	t.Parallel()
	s := programSearch{finder: finder{lookPath: func(string) (string, error) {
		return "", exec.ErrNotFound
	}}, major: 14}
	_, err := fetchFitting(t.Context(), nil, s)
	want := "the data was made by PostgreSQL 14, and this machine has none: install PostgreSQL 14, or set SLOTMESH_HOME to another folder to begin anew"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestStartReportsBrokenURLsWithoutPassword(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"not a database URL": {
			Options{DatabaseURL: "postgres://u:secret@host:notaport/db"},
			"DATABASE_URL: not a PostgreSQL URL; write postgres://user:password@host:5432/database",
		},
		"no database there": {
			Options{DatabaseURL: "postgres://u:secret@127.0.0.1:1/db?sslmode=disable"},
			`DATABASE_URL: cannot use database "db" at 127.0.0.1:1 as user "u": connect: connection refused`,
		},
		"no such host": {
			Options{DatabaseURL: "postgres://u:secret@nosuchhost.invalid/db"},
			`DATABASE_URL: cannot use database "db" at nosuchhost.invalid:5432 as user "u": lookup nosuchhost.invalid`,
		},
		"no folder of sockets": {
			Options{DatabaseURL: "postgres:///db?host=/nonexistent&user=u&password=secret"},
			`DATABASE_URL: cannot use database "db" at /nonexistent as user "u": connect: no such file or directory`,
		},
		"not a Redis URL": {
			Options{RedisURL: "http://u:secret@host"},
			"REDIS_URL: not a Redis URL; write redis://user:password@host:6379/0 or unix:///path/redis.sock",
		},
		"no Redis there": {
			Options{RedisURL: "redis://u:secret@127.0.0.1:1/0"},
			"REDIS_URL: cannot use the Redis at 127.0.0.1:1/0: connect: connection refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Start(t.Context(), test.options)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "secret") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestStartUsesNamedStores(t *testing.T) {
	t.Parallel()
	o := Options{DatabaseURL: os.Getenv("SLOTMESH_TEST_DATABASE_URL"), RedisURL: findSharedRedis(t)}
	s := start(t, o)
	if s.DatabaseURL != o.DatabaseURL || s.RedisURL != o.RedisURL || len(s.stops) != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestOpenHomeReportsUnwritableFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(file, "home")
	_, err := OpenHome(home)
	want := "SLOTMESH_HOME: cannot write in " + home +
		": not a directory; name a folder that this user may write to and that has space"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLaunchSeparatesLogs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	a, err := findProcessAccount()
	if err != nil {
		t.Fatal(err)
	}
	sh := func(script string) *process {
		t.Helper()
		p, err := launch(storeFolders{account: a, logs: home}, "store", "/bin/sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	speak := filepath.Join(home, "speak")
	left := sh("until [ -e " + speak + " ]; do sleep 0.02; done; echo 'FATAL:  said late by the one before'")
	now := sh("echo 'FATAL:  said by this one'")
	<-now.exited
	if err := os.WriteFile(speak, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-left.exited
	if got := readLogReason(now.log); !strings.HasPrefix(got, "said by this one ") {
		t.Errorf("got %q", got)
	}
}
