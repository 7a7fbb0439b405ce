// Package testkit gives tests access to the PostgreSQL and the Redis
// that `make test` starts. If a store is missing, the test fails.
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

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// DatabaseURL and RedisURL are the environment variables with the URLs of the stores.
const (
	DatabaseURL = "SLOTMESH_TEST_DATABASE_URL"
	RedisURL    = "SLOTMESH_TEST_REDIS_URL"
)

// Pooled is an environment variable. If it is set, tests that use tables connect to PostgreSQL through a PgBouncer in
// transaction mode.
const Pooled = "SLOTMESH_TEST_POOLED"

// Postgres returns a pool for a new schema and applies the migrations to it. The schema is dropped when the test ends.
func Postgres(t testing.TB, prefix string, migrations fs.FS) *pgxpool.Pool {
	t.Helper()
	schema := PostgresSchema
	if os.Getenv(Pooled) != "" {
		schema = PooledSchema
	}
	cfg := schema(t, prefix)
	// The migrations of all tests run one after the other, so the last test waits for a long time.
	ctx, cancel := context.WithTimeout(context.Background(), 5*MaxWait)
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

// PostgresSchema returns the settings for the test database, with the name of a schema that does
// not exist yet. The test may create this schema. The schema is dropped when the test ends.
func PostgresSchema(t testing.TB, prefix string) postgres.Config {
	t.Helper()
	cfg := postgres.Config{URL: Server(t), MaxConns: 16, StatementTimeout: MaxWait, Schema: prefix + "_" + Unique()}
	t.Cleanup(func() { drop(t, cfg) })
	return cfg
}

func drop(t testing.TB, cfg postgres.Config) {
	ctx, cancel := context.WithTimeout(context.Background(), MaxWait)
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

// Server returns the URL of the test database. The URL contains a long connect timeout, because the
// machine may be slow. Without a timeout in the URL, services would use their own short timeout.
func Server(t testing.TB) string {
	t.Helper()
	at, err := url.Parse(lookup(t, DatabaseURL))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("connect_timeout", strconv.Itoa(int(MaxWait.Seconds())))
	at.RawQuery = query.Encode()
	return at.String()
}

// RedisConfig returns the settings for the test Redis. The timeouts in these settings are long, because the machine may
// be slow.
func RedisConfig(t testing.TB) redisx.Config {
	t.Helper()
	return redisx.Config{URL: lookup(t, RedisURL), Timeout: MaxWait}
}

// MaxWait is the maximal time for which a test waits, unless the test
// is about a deadline. It is much longer than a slow machine needs.
const MaxWait = 2 * time.Minute

// Redis returns a client for the test Redis, and a prefix that only the keys of this test have.
func Redis(t testing.TB) (redis.UniversalClient, string) {
	t.Helper()
	client, err := redisx.Open(context.Background(), RedisConfig(t), telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, "test:" + Unique() + ":"
}

// RedisDatabase returns the URL of a database in the test Redis that no other test uses. Limits therefore
// count only the requests of this test, although the requests of all tests come from the same address.
func RedisDatabase(t testing.TB) string {
	t.Helper()
	client, _ := Redis(t)
	n, err := client.Incr(context.Background(), "test:databases").Result() // database 0 is shared by other tests
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

// Unique returns a random name of 12 characters.
func Unique() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func lookup(t testing.TB, name string) string {
	t.Helper()
	inputs.Programs() // the test depends on the stores, which are programs of this machine
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run the tests by `make test`, which starts PostgreSQL, Redis and stripe-mock, and "+
			"builds Dex", name)
	}
	return value
}

// WaitUntil calls `check` until it returns nil. If this takes longer than [MaxWait], the test fails. The argument
// `what` names the expected state in the message.
func WaitUntil(t testing.TB, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond) // the work of other processes causes no event, so check polls
	defer look.Stop()
	for {
		err := check(ctx)
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

// AsSystem returns the context of the test with Slotmesh itself as the actor. Writes require an actor in their context.
func AsSystem(t testing.TB) context.Context { return actor.AsSystem(t.Context()) }
