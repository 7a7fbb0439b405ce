// Package postgres opens the connection pool of a service and applies its migrations. Each service has its own
// schema, which has the name of the service. Services can therefore share one database, or use one database each.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings for the database of a service.
type Config struct {
	// URL is the URL of the database, such as postgres://user@host:5432/name.
	URL string `env:"DATABASE_URL, required" secret:"true"`
	// Pooled means that URL leads to a pooler that assigns a connection per transaction, such as PgBouncer in
	// transaction mode. Session settings would be lost after each transaction. [Migrate] therefore stores these
	// settings in the PostgreSQL role of the service.
	Pooled bool `env:"DATABASE_POOLED, default=false"`
	// MigrationsURL is the URL for migrations. Migrations connect without a pooler, as
	// the owner of the tables. If it is empty, migrations use URL. If URL names another
	// user, that user can only read and write the rows of this service's schema.
	MigrationsURL string `env:"DATABASE_MIGRATIONS_URL" secret:"true"`
	// ServerConnections is the number of connections that all services together may open.
	// Migrations fail if the database server allows fewer connections. 0 disables this check.
	ServerConnections int `env:"DATABASE_SERVER_CONNECTIONS, default=0"`
	// MaxConns is the maximal number of connections in the pool.
	MaxConns int32 `env:"DATABASE_MAX_CONNS, default=16"`
	// StatementTimeout bounds the duration of a statement, and the wait for a connection from the pool.
	// If the server sends nothing for StatementTimeout plus half a second, the connection counts as lost.
	StatementTimeout time.Duration `env:"DATABASE_STATEMENT_TIMEOUT, default=3s"`
	// Wait is how long migrations try to connect to a database that does not answer yet.
	Wait time.Duration `env:"DATABASE_WAIT, default=0s"`
	// Schema is the schema of the tables. If it is empty, the schema has the name
	// of the service. Only tests set this field; no environment variable does.
	Schema string
}

// Validate checks the settings. The error does not contain an invalid URL, because the URL may contain a password.
func (c *Config) Validate() error {
	for _, url := range [][2]string{{"DATABASE_URL", c.URL},
		{"DATABASE_MIGRATIONS_URL", cmp.Or(c.MigrationsURL, c.URL)}} {
		if _, err := pgxpool.ParseConfig(url[1]); err != nil {
			return errors.New(url[0] + ": not a PostgreSQL URL; write postgres://user:password@host:5432/database")
		}
	}
	if c.ServerConnections < 0 {
		return errors.New("DATABASE_SERVER_CONNECTIONS: write how many connections the services may hold together, or 0")
	}
	if c.MaxConns < 1 {
		return errors.New("DATABASE_MAX_CONNS: at least 1")
	}
	if c.StatementTimeout <= 0 {
		return errors.New("DATABASE_STATEMENT_TIMEOUT: write a duration above 0, such as 3s")
	}
	if c.Wait < 0 {
		return errors.New("DATABASE_WAIT: write a duration from 0s on, such as 1m")
	}
	return nil
}

const (
	connectTimeout = 2 * time.Second // timeout of one attempt to connect, unless the URL sets it
	// timeout of one attempt of a migration to connect; long, because many migrations start at the same time
	migrateTimeout = 15 * time.Second
	// While a migration waits for a table lock, all later statements that use the table wait too. A migration
	// therefore stops waiting after lockTimeout, so that these statements can run, and tries again after lockPause.
	lockTimeout = time.Second
	lockPause   = time.Second
	lockTries   = 60
	// timeout of the check whether a connection that was idle for a second still works
	pingTimeout = 500 * time.Millisecond
	silence     = 500 * time.Millisecond // a working server answers within StatementTimeout plus this time
)

// Open returns a pool whose connections use the schema of the service. It does not connect
// yet. If the database is unavailable, the readiness check and the first query fail.
func Open(ctx context.Context, cfg Config, service string, tel *telemetry.Telemetry) (*pgxpool.Pool, error) {
	parsed, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, cfg.Validate()
	}
	schema := cmp.Or(cfg.Schema, service)
	parsed.MaxConns = cfg.MaxConns
	parsed.ConnConfig.RuntimeParams["application_name"] = "slotmesh-" + schema
	if cfg.Pooled {
		// The mode QueryExecModeCacheDescribe creates no prepared statements on a connection.
		parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	} else {
		maps.Copy(parsed.ConnConfig.RuntimeParams, settings(schema, cfg.StatementTimeout))
	}
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = connectTimeout
	}
	parsed.ConnConfig.DialFunc = newDialFunc(parsed.ConnConfig.ConnectTimeout, cfg.StatementTimeout+silence)
	parsed.PingTimeout = pingTimeout
	// The SQL text may appear in spans, because statements pass values as parameters. Parameters are not recorded.
	parsed.ConnConfig.Tracer = &tracer{acquire: cfg.StatementTimeout,
		Tracer: otelpgx.NewTracer(otelpgx.WithTracerProvider(tel.TracerProvider),
			otelpgx.WithMeterProvider(tel.MeterProvider),
			otelpgx.WithDisableConnectionDetailsInAttributes())}
	pool, err := pgxpool.NewWithConfig(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

// settings returns the PostgreSQL settings that each session of a service needs.
func settings(schema string, statement time.Duration) map[string]string {
	return map[string]string{
		"search_path": searchPath(schema),
		"timezone":    "UTC",
		// No statement runs long enough to benefit from JIT compilation. Some transactions set enable_seqscan to off.
		// If a plan must still use a sequential scan, its estimated cost is then very high. PostgreSQL would therefore
		// compile such a plan even for a small table.
		"jit":               "off",
		"statement_timeout": fmt.Sprint(statement.Milliseconds()),
	}
}

// searchPath returns a search_path with the schema of the service,
// followed by the schema public, which contains the extensions.
func searchPath(schema string) string { return pgx.Identifier{schema}.Sanitize() + ", public" }

// migrationLock is the key of the advisory lock that serializes the migrations of all services. Replicas start at
// the same time, and concurrent CREATE SCHEMA or CREATE EXTENSION statements can fail even with IF NOT EXISTS.
const migrationLock = 7_319_402_116

// Migrate creates the schema of a service if it does not exist, and applies all pending migrations
// in files. If several replicas call Migrate at the same time, they run one after the other.
func Migrate(ctx context.Context, cfg Config, service string, files fs.FS) error {
	parsed, err := pgx.ParseConfig(cmp.Or(cfg.MigrationsURL, cfg.URL))
	if err != nil {
		return cfg.Validate()
	}
	role, err := cfg.serviceRole(parsed.User)
	if err != nil {
		return err
	}
	schema := cmp.Or(cfg.Schema, service)
	parsed.RuntimeParams["search_path"] = searchPath(schema)
	parsed.RuntimeParams["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = migrateTimeout
	}
	db := stdlib.OpenDB(*parsed)
	defer func() { _ = db.Close() }()
	after := func(ctx context.Context, conn *sql.Conn) error {
		if role == "" {
			return nil
		}
		return grantAccess(ctx, conn, role, schema, settings(schema, cfg.StatementTimeout))
	}
	if err := migrate(ctx, db, cfg, schema, files, after); err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB, cfg Config, schema string, files fs.FS,
	after func(context.Context, *sql.Conn) error) error {
	lock, err := connectWithRetry(ctx, db, cfg.Wait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // closing the session releases the migration lock
	if err := acquireMigrationLock(ctx, lock); err != nil {
		return err
	}
	defer func() {
		_, _ = lock.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
	}()
	if err := checkConnections(ctx, lock, cfg.ServerConnections); err != nil {
		return err
	}
	if _, err := lock.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{schema}.Sanitize()); err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if err := storeTextHashes(ctx, db, provider, files, schema); err != nil {
		return err
	}
	if err := retryOnLockTimeout(ctx,
		func(ctx context.Context) error { _, err := provider.Up(ctx); return err }); err != nil {
		return err
	}
	return after(ctx, lock)
}

// acquireMigrationLock acquires the migration lock. It polls, because a statement that waits
// for the lock could cause a deadlock. The waiting statement would hold a snapshot. A CREATE
// INDEX CONCURRENTLY of the service that holds the lock would wait for that snapshot.
func acquireMigrationLock(ctx context.Context, lock *sql.Conn) error {
	ticker := time.NewTicker(lockPause / 4)
	defer ticker.Stop()
	for {
		var acquired bool
		if err := lock.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)",
			migrationLock).Scan(&acquired); err != nil || acquired {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retryOnLockTimeout calls `do` again when a statement of `do` exceeds lock_timeout. During
// the pause between two calls, other statements that wait for the same table can run.
func retryOnLockTimeout(ctx context.Context, do func(context.Context) error) error {
	return retry.Do(ctx, retry.WithMaxRetries(lockTries, retry.NewConstant(lockPause)),
		func(ctx context.Context) error {
			err := do(ctx)
			if sqlstate.Of(err) == sqlstate.LockNotAvailable {
				return retry.RetryableError(err)
			}
			return err
		})
}

// connectWithRetry connects to the database. It retries until the duration `wait` has passed, because a database that
// is installed together with the services may start later than the services.
func connectWithRetry(ctx context.Context, db *sql.DB, wait time.Duration) (*sql.Conn, error) {
	var conn *sql.Conn
	err := retry.Do(ctx, retry.WithMaxDuration(wait, retry.NewConstant(500*time.Millisecond)),
		func(ctx context.Context) error {
			opened, err := db.Conn(ctx)
			conn = opened
			return retry.RetryableError(err)
		})
	return conn, err
}

// Code returns the SQLSTATE of err, or "" if err did not come from the database server.
func Code(err error) string { return sqlstate.Of(err) }

// ForeignKeyViolation is the SQLSTATE for a reference to a row that does not exist.
const ForeignKeyViolation = "23503"
