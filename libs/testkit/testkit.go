// Package testkit gives tests the real PostgreSQL and Redis that `make test` starts. A missing one fails the test.
package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/redisx"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// The variables that name the stores.
const (
	DatabaseURL = "SLOTMESH_TEST_DATABASE_URL"
	RedisURL    = "SLOTMESH_TEST_REDIS_URL"
)

// Pooled is the variable that, where it is set, leads the tests of tables through a PgBouncer in transaction mode.
const Pooled = "SLOTMESH_TEST_POOLED"

// Postgres returns a pool on a new schema with the given migrations applied; the schema goes when the test ends.
func Postgres(t testing.TB, prefix string, migrations fs.FS) *pgxpool.Pool {
	t.Helper()
	schema := PostgresSchema
	if os.Getenv(Pooled) != "" {
		schema = PooledSchema
	}
	cfg := schema(t, prefix)
	ctx, cancel := context.WithTimeout(context.Background(), 5*Patience) // migrations of all tests wait for each other
	defer cancel()
	if err := postgres.Migrate(ctx, cfg, prefix, migrations); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(ctx, cfg, prefix, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// PostgresSchema returns the test database's settings with a schema that the test may create; it goes when the test ends.
func PostgresSchema(t testing.TB, prefix string) postgres.Config {
	t.Helper()
	cfg := postgres.Config{URL: Server(t), MaxConns: 16, StatementTimeout: Patience, Schema: prefix + "_" + Unique()}
	t.Cleanup(func() { drop(t, cfg) })
	return cfg
}

func drop(t testing.TB, cfg postgres.Config) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, cfg.URL)
	if err != nil {
		t.Errorf("drop schema %s: %v", cfg.Schema, err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{cfg.Schema}.Sanitize()+" CASCADE"); err != nil {
		t.Errorf("drop schema %s: %v", cfg.Schema, err)
	}
}

// Server is the URL of the test database, with time to connect that a slow machine keeps: where a URL says nothing, a service gives up soon.
func Server(t testing.TB) string {
	t.Helper()
	at, err := url.Parse(lookup(t, DatabaseURL))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("connect_timeout", strconv.Itoa(int(Patience.Seconds())))
	at.RawQuery = query.Encode()
	return at.String()
}

// RedisConfig returns the test Redis's settings, with deadlines that a slow machine keeps.
func RedisConfig(t testing.TB) redisx.Config {
	t.Helper()
	return redisx.Config{URL: lookup(t, RedisURL), Timeout: Patience}
}

// Patience bounds what a test waits for where no deadline is what it tests: far more than a slow machine needs.
const Patience = 2 * time.Minute

// Redis returns a client of the test Redis and a prefix for the test's keys.
func Redis(t testing.TB) (redis.UniversalClient, string) {
	t.Helper()
	client, err := redisx.Open(context.Background(), RedisConfig(t), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, "test:" + Unique() + ":"
}

// RedisDatabase returns the address of a database of the test Redis that no other test of any package has: what counts there is the test's alone, also
// where its programs name no client, so that all they do comes from this machine's address.
func RedisDatabase(t testing.TB) string {
	t.Helper()
	client, _ := Redis(t)
	n, err := client.Incr(context.Background(), "test:databases").Result() // 0 is everybody's
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(lookup(t, RedisURL))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("db", strconv.FormatInt(n, 10))
	at.RawQuery = query.Encode()
	return at.String()
}

// Unique is a short random name.
func Unique() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func lookup(t testing.TB, name string) string {
	t.Helper()
	inputs.Programs() // the stores are programs of this machine
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run the tests by `make test`, which starts PostgreSQL, Redis and stripe-mock, and builds Dex", name)
	}
	return value
}

// Until tries until it works, [Patience] at most.
func Until(t testing.TB, what string, works func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond) // no event tells what other processes have done
	defer look.Stop()
	for {
		err := works(ctx)
		if err == nil {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// AsSystem returns the context of a test in which Slotmesh itself acts: a write needs an actor.
func AsSystem(t testing.TB) context.Context { return actor.AsSystem(t.Context()) }
