package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

var oneTable = fstest.MapFS{"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (id int PRIMARY KEY);\n")}}

// startLateDatabase starts a proxy in front of the test's database that closes the first connections, like a database
// that is starting. It returns the URL of the database through the proxy.
func startLateDatabase(t *testing.T, database string, hangUps int) string {
	t.Helper()
	parsed, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(parsed.Host, parsed.Port)
	var open sync.WaitGroup
	open.Go(func() {
		for callers := 0; ; callers++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if callers < hangUps {
				_ = conn.Close()
				continue
			}
			open.Go(func() { connectTo(conn, network, address) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); open.Wait() })
	name := url.URL{Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password),
		Host: listener.Addr().String(),
		Path: parsed.Database, RawQuery: "sslmode=disable"}
	return name.String()
}

// connectTo forwards bytes in both directions until one side closes.
func connectTo(conn net.Conn, network, address string) {
	database, err := net.Dial(network, address)
	if err != nil {
		_ = conn.Close()
		return
	}
	var both sync.WaitGroup
	carry := func(to, from net.Conn) { _, _ = io.Copy(to, from); _, _ = to.Close(), from.Close() }
	both.Go(func() { carry(database, conn) })
	both.Go(func() { carry(conn, database) })
	both.Wait()
}

func TestMigrateWaitsForDatabase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait time.Duration
		good bool
	}{"with time to wait": {wait: time.Minute, good: true}, "without": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testkit.PostgresSchema(t, "late")
			cfg.URL, cfg.Wait = startLateDatabase(t, cfg.URL, 2), c.wait
			err := postgres.Migrate(context.Background(), cfg, "late", oneTable)
			if (err == nil) != c.good {
				t.Errorf("migrate: %v", err)
			}
		})
	}
}

func TestMigrateRejectsChangedText(t *testing.T) {
	t.Parallel()
	cfg := testkit.PostgresSchema(t, "texts")
	for _, again := range []string{"first", "again"} {
		if err := postgres.Migrate(t.Context(), cfg, "texts", oneTable); err != nil {
			t.Fatal(again, err)
		}
	}
	two := fstest.MapFS{"00001_one.sql": oneTable["00001_one.sql"],
		"00002_two.sql": {Data: []byte("-- +goose Up\nCREATE TABLE two (id int PRIMARY KEY);\n")}}
	if err := postgres.Migrate(t.Context(), cfg, "texts", two); err != nil {
		t.Fatal("one more:", err)
	}
	if err := postgres.Migrate(t.Context(), cfg, "texts", oneTable); err != nil {
		t.Error("the release before, as when one is taken back:", err)
	}
	other := fstest.MapFS{"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (id bigint PRIMARY KEY);\n")}}
	err := postgres.Migrate(t.Context(), cfg, "texts", other)
	if refused, ok := errors.AsType[*postgres.ChangedTextError](err); !ok || refused.Migration != "00001_one.sql" ||
		refused.Schema != cfg.Schema ||
		!strings.Contains(err.Error(), "another text of 00001_one.sql") || !strings.Contains(err.Error(),
		"DROP SCHEMA") {
		t.Error(err)
	}
	pool, err := postgres.Open(t.Context(), cfg, "texts", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), `DROP TABLE migration_texts`); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), cfg, "texts", oneTable); err == nil {
		t.Error("Migrate accepts tables whose migration texts are unknown")
	}
}

// A long request holds a lock on the table that a migration needs. Later requests must not queue behind the migration.
func TestWaitingMigrationDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	cfg := testkit.PostgresSchema(t, "waits")
	if err := postgres.Migrate(t.Context(), cfg, "waits", oneTable); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(t.Context(), cfg, "waits", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	long, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Exec(t.Context(), `SELECT * FROM one`); err != nil {
		t.Fatal(err)
	}
	two := fstest.MapFS{"00001_one.sql": oneTable["00001_one.sql"],
		"00002_two.sql": {Data: []byte("-- +goose Up\nALTER TABLE one ADD COLUMN two int;\n")}}
	migrated := make(chan error, 1)
	go func() { migrated <- postgres.Migrate(context.Background(), cfg, "waits", two) }()
	waitForBlockedMigration(t, pool, cfg.Schema)
	if _, err := pool.Exec(t.Context(), `SELECT * FROM one`); err != nil {
		t.Error("a request after the migration:", err)
	}
	if err := long.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

// All services migrate at the same time. A service that waits for the migration lock must not block a concurrent index
// build of another one.
func TestMigrateCreatesIndexConcurrently(t *testing.T) {
	t.Parallel()
	index := fstest.MapFS{"00001_one.sql": oneTable["00001_one.sql"], "00002_two.sql": {Data: []byte(
		"-- +goose NO TRANSACTION\n-- +goose Up\nSELECT pg_sleep(0.5);\nDROP INDEX CONCURRENTLY IF EXISTS one_by_id;\nCREATE INDEX CONCURRENTLY one_by_id ON one (id);\n")}}
	var all sync.WaitGroup
	for range 5 {
		cfg := testkit.PostgresSchema(t, "index")
		all.Go(func() {
			if err := postgres.Migrate(t.Context(), cfg, "index", index); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// waitForBlockedMigration waits until a connection waits for a lock on a table of the schema.
func waitForBlockedMigration(t *testing.T, pool *pgxpool.Pool, schema string) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond) // the server reports no event for this
	defer look.Stop()
	for {
		var waits bool
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
			WHERE NOT l.granted AND c.relnamespace = $1::regnamespace)`, schema).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		if waits {
			return
		}
		select {
		case <-look.C:
		case <-t.Context().Done():
			t.Fatal("no session waits for the lock")
		}
	}
}

// PostgreSQL would compile statements with a high estimated cost, such as a read of the event feed. Compiling takes
// longer than such a statement.
func TestSessionsDisableJIT(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(t.Context(), testkit.PostgresSchema(t, "jit"), "jit", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var jit string
	if err := pool.QueryRow(t.Context(), "SHOW jit").Scan(&jit); err != nil || jit != "off" {
		t.Errorf("jit is %q, %v", jit, err)
	}
}
