package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// openPool returns a pool on a new schema, with settings that the argument change modifies.
func openPool(t *testing.T, change func(*postgres.Config)) *pgxpool.Pool {
	t.Helper()
	cfg := testkit.PostgresSchema(t, "faults")
	change(&cfg)
	if err := postgres.Migrate(t.Context(), cfg, "faults", oneTable); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(t.Context(), cfg, "faults", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestUnavailableDatabaseIsServerFault(t *testing.T) {
	t.Parallel()
	pool := openPool(t, func(*postgres.Config) {})
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var bound string
	// testkit opens the database with testkit.MaxWait as the statement timeout.
	if err := conn.QueryRow(t.Context(), `SELECT current_setting('statement_timeout')`).Scan(&bound); err != nil ||
		bound != "2min" {
		t.Fatalf("the bound of statements is %q, %v", bound, err)
	}
	// The server must report the timeout within half a second after the statement timeout of the pool. With a shorter
	// timeout in the session, the server has more time.
	if _, err := conn.Exec(t.Context(), `SET statement_timeout = '100ms'`); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `SELECT pg_sleep(60)`)
	if sqlstate.Of(err) != "57014" || !sqlstate.IsUnavailable(err) {
		t.Errorf("a statement that takes too long: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`); !sqlstate.IsUnavailable(err) {
		t.Errorf("a connection that the server ends: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT 1`); !sqlstate.IsUnavailable(err) {
		t.Errorf("a connection that is closed: %v", err)
	}
}

func TestConnectionToDemotedServerIsReplaced(t *testing.T) {
	t.Parallel()
	pool := openPool(t, func(cfg *postgres.Config) { cfg.MaxConns = 1 })
	conn, err := pool.Acquire(t.Context()) // held: one that lay idle for a second may be replaced before it is used
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `INSERT INTO one VALUES (1)`)
	conn.Release()
	if sqlstate.Of(err) != sqlstate.ReadOnly || !sqlstate.IsUnavailable(err) {
		t.Fatalf("a write to a replica: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO one VALUES (1)`); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

// testWait is how long these tests wait for an answer that never arrives. Every expected answer must arrive earlier,
// even on a slow machine.
const testWait = 10 * time.Second

// longConnectTimeout gives connections through a [testkit.HangingProxy] the same time for connecting as other
// connections.
const longConnectTimeout = "&connect_timeout=120"

func TestPoolWaitIsBounded(t *testing.T) {
	t.Parallel()
	pool := openPool(t, func(cfg *postgres.Config) { cfg.MaxConns, cfg.StatementTimeout = 1, testWait })
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `SELECT 1`); err == nil || t.Context().Err() != nil {
		t.Errorf("a pool without a free connection: %v", err)
	}
	conn.Release()
	if _, err := pool.Exec(t.Context(), `SELECT 1`); err != nil {
		t.Errorf("when one is free again: %v", err)
	}
}

func TestSilentServerClosesConnection(t *testing.T) {
	t.Parallel()
	var hanging *testkit.HangingProxy
	pool := openPool(t, func(cfg *postgres.Config) {
		hanging = testkit.NewHangingProxy(t, cfg.URL)
		cfg.URL, cfg.MaxConns, cfg.StatementTimeout = hanging.URL+longConnectTimeout, 2, testWait
	})
	conn, err := pool.Acquire(t.Context()) // held: one that lay idle for a second may be replaced before it is used
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT 1`); err != nil {
		t.Fatal(err)
	}
	before := hanging.Connections()
	hanging.Hang(false)
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	_, err = conn.Exec(ctx, `SELECT 1`)
	conn.Release()
	if !sqlstate.IsUnavailable(err) || ctx.Err() != nil {
		t.Errorf("a statement on a hanging connection: %v", err)
	}
	if _, err := pool.Exec(ctx, `SELECT 1`); err != nil || hanging.Connections() == before {
		t.Errorf("a statement on another connection: %v", err)
	}
}

// The deadline of a caller applies if it is earlier than the bound for silence.
func TestCallerDeadlineEndsHangingRead(t *testing.T) {
	t.Parallel()
	var hanging *testkit.HangingProxy
	pool := openPool(t, func(cfg *postgres.Config) {
		hanging = testkit.NewHangingProxy(t, cfg.URL)
		cfg.URL, cfg.StatementTimeout = hanging.URL+longConnectTimeout, time.Hour
	})
	if _, err := pool.Exec(t.Context(), `SELECT 1`); err != nil {
		t.Fatal(err)
	}
	hanging.Hang(true)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := pool.Exec(ctx, `SELECT 1`); err == nil {
				t.Error("the statement succeeded")
			}
		})
	}
	all.Wait()
	hanging.Resume()
}
