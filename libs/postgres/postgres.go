// Package postgres opens a service's pool and applies its migrations. Each service has a schema of its own, named like
// it, so that services can share one database or have one each.
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

	"github.com/slotmesh/slotmesh/libs/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Config are the settings of a service's database.
type Config struct {
	// URL of the database, such as postgres://user@host:5432/name.
	URL string `env:"DATABASE_URL, required"`
	// Pooled says that URL leads to a pooler that gives out a connection for one transaction, as PgBouncer does in its transaction mode.
	// Then nothing is asked of a connection that outlives a transaction: the settings are the role's, which Migrate sees to.
	Pooled bool `env:"DATABASE_POOLED, default=false"`
	// MigrationsURL is the database by the user that owns the tables, past a pooler; empty: URL. Where its user is another, the user of
	// URL may read and write the rows of this service's schema, and nothing else.
	MigrationsURL string `env:"DATABASE_MIGRATIONS_URL"`
	// ServerConnections is how many connections all services may hold together; migrations refuse a server that takes fewer. 0: not asked.
	ServerConnections int `env:"DATABASE_SERVER_CONNECTIONS, default=0"`
	// MaxConns bounds the pool.
	MaxConns int32 `env:"DATABASE_MAX_CONNS, default=16"`
	// StatementTimeout ends a statement that runs longer, and the wait for a connection to run one on. A server that says
	// nothing for half a second more is taken for dead.
	StatementTimeout time.Duration `env:"DATABASE_STATEMENT_TIMEOUT, default=3s"`
	// Wait is how long migrations try to reach a database that does not answer yet.
	Wait time.Duration `env:"DATABASE_WAIT, default=0s"`
	// Schema is where the tables are; empty: in one that is called as the service. Tests take schemas of their own; it is no setting.
	Schema string
}

// Validate refuses a URL that pgx cannot read, without repeating it: it may hold a password.
func (c *Config) Validate() error {
	for _, url := range [][2]string{{"DATABASE_URL", c.URL}, {"DATABASE_MIGRATIONS_URL", cmp.Or(c.MigrationsURL, c.URL)}} {
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
	connectTimeout = 2 * time.Second  // of one attempt to connect, where the URL does not say it
	migrateTimeout = 15 * time.Second // the same of migrations: nobody waits for them, and many start together
	// A migration that waits for a table holds up all who ask for it after: it stands back, and tries again until others let it.
	lockTimeout = time.Second
	lockPause   = time.Second
	lockTries   = 60
	pingTimeout = 500 * time.Millisecond // of the question whether a connection that lay idle for a second is alive
	silence     = 500 * time.Millisecond // beyond StatementTimeout, at which a server that is alive answers
)

// Open returns a pool whose connections work in the schema of a service. It does not connect yet: a database that is away shows in
// readiness and in the first query, not here.
func Open(ctx context.Context, cfg Config, service string, tel *telemetry.Telemetry) (*pgxpool.Pool, error) {
	parsed, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, cfg.Validate()
	}
	schema := cmp.Or(cfg.Schema, service)
	parsed.MaxConns = cfg.MaxConns
	parsed.ConnConfig.RuntimeParams["application_name"] = "slotmesh-" + schema
	if cfg.Pooled {
		parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // no statement stays prepared on a connection
	} else {
		maps.Copy(parsed.ConnConfig.RuntimeParams, settings(schema, cfg.StatementTimeout))
	}
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = connectTimeout
	}
	parsed.ConnConfig.DialFunc = dialer(parsed.ConnConfig.ConnectTimeout, cfg.StatementTimeout+silence)
	parsed.PingTimeout = pingTimeout
	// Statements are parameterised, so their text is safe in spans; the parameters stay out.
	parsed.ConnConfig.Tracer = &tracer{acquire: cfg.StatementTimeout, Tracer: otelpgx.NewTracer(otelpgx.WithTracerProvider(tel.TracerProvider),
		otelpgx.WithMeterProvider(tel.MeterProvider),
		otelpgx.WithDisableConnectionDetailsInAttributes())}
	pool, err := pgxpool.NewWithConfig(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

// settings are those that every session of a service works with.
func settings(schema string, statement time.Duration) map[string]string {
	return map[string]string{
		"search_path": searchPath(schema),
		"timezone":    "UTC",
		// No statement here runs long enough to be worth compiling. One whose plan may not read a table whole counts as dear where there
		// is no other way, however small the table: compiling it took fifty times as long as running it.
		"jit":               "off",
		"statement_timeout": fmt.Sprint(statement.Milliseconds()),
	}
}

// searchPath lets extensions that live in public be found after the service's own tables.
func searchPath(schema string) string { return pgx.Identifier{schema}.Sanitize() + ", public" }

// migrationLock is the advisory lock that migrations of all services hold in turn: replicas start together, and
// CREATE SCHEMA and CREATE EXTENSION race even with IF NOT EXISTS.
const migrationLock = 7_319_402_116

// Migrate brings the schema of a service up to the newest migration of files, creating it first. Replicas that start together wait for
// each other.
func Migrate(ctx context.Context, cfg Config, service string, files fs.FS) error {
	parsed, err := pgx.ParseConfig(cmp.Or(cfg.MigrationsURL, cfg.URL))
	if err != nil {
		return cfg.Validate()
	}
	role, err := cfg.role(parsed.User)
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
		return admit(ctx, conn, role, schema, settings(schema, cfg.StatementTimeout))
	}
	if err := migrate(ctx, db, cfg, schema, files, after); err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB, cfg Config, schema string, files fs.FS, after func(context.Context, *sql.Conn) error) error {
	lock, err := reach(ctx, db, cfg.Wait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the session's end frees the lock
	if err := ours(ctx, lock); err != nil {
		return err
	}
	defer func() {
		_, _ = lock.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
	}()
	if err := enoughConnections(ctx, lock, cfg.ServerConnections); err != nil {
		return err
	}
	if _, err := lock.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{schema}.Sanitize()); err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if err := noteTexts(ctx, db, provider, files, schema); err != nil {
		return err
	}
	if err := standingBack(ctx, func(ctx context.Context) error { _, err := provider.Up(ctx); return err }); err != nil {
		return err
	}
	return after(ctx, lock)
}

// ours takes the lock of migrations. It asks for it again and again: a statement that waits for it has a snapshot, and another service's CREATE
// INDEX CONCURRENTLY, under that lock, waits for all older snapshots, each for the other.
func ours(ctx context.Context, lock *sql.Conn) error {
	again := time.NewTicker(lockPause / 4)
	defer again.Stop()
	for {
		var taken bool
		if err := lock.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", migrationLock).Scan(&taken); err != nil || taken {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// standingBack repeats what did not get its locks in time, so that those who were queued behind it go first.
func standingBack(ctx context.Context, do func(context.Context) error) error {
	return retry.Do(ctx, retry.WithMaxRetries(lockTries, retry.NewConstant(lockPause)), func(ctx context.Context) error {
		err := do(ctx)
		if sqlstate.Of(err) == sqlstate.LockNotAvailable {
			return retry.RetryableError(err)
		}
		return err
	})
}

// reach connects; for as long as wait it tries again, as a database that is installed together with the services starts
// later than they do.
func reach(ctx context.Context, db *sql.DB, wait time.Duration) (*sql.Conn, error) {
	var conn *sql.Conn
	err := retry.Do(ctx, retry.WithMaxDuration(wait, retry.NewConstant(500*time.Millisecond)), func(ctx context.Context) error {
		opened, err := db.Conn(ctx)
		conn = opened
		return retry.RetryableError(err)
	})
	return conn, err
}

// Code returns the SQLSTATE of err, or "" when it did not come from the server.
func Code(err error) string { return sqlstate.Of(err) }

// ForeignKeyViolation is the SQLSTATE of a row that refers to none.
const ForeignKeyViolation = "23503"
