package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// openBehindPooler returns a pool of sixty connections through a pooler in transaction mode, which has thirty
// connections to the server.
func openBehindPooler(t *testing.T) (*pgxpool.Pool, postgres.Config) {
	t.Helper()
	cfg := testkit.PooledSchema(t, "pooled")
	if err := postgres.Migrate(t.Context(), cfg, "pooled", oneTable); err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 60
	pool, err := postgres.Open(t.Context(), cfg, "pooled", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, cfg
}

func TestPoolerServesConcurrentTransactions(t *testing.T) {
	t.Parallel()
	pool, _ := openBehindPooler(t)
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			for j := range 20 {
				id := i*20 + j
				err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(t.Context(), `INSERT INTO one VALUES ($1)`, id); err != nil {
						return err
					}
					var back int
					return tx.QueryRow(t.Context(), `SELECT id FROM one WHERE id = $1`, id).Scan(&back)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var count int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM one`).Scan(&count); err != nil || count != 1200 {
		t.Errorf("%d rows, %v", count, err)
	}
}

func TestPooledSessionsHaveSameSettings(t *testing.T) {
	t.Parallel()
	pooled, cfg := openBehindPooler(t)
	cfg.URL, cfg.Pooled = cfg.MigrationsURL, false
	direct, err := postgres.Open(t.Context(), cfg, "pooled", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(direct.Close)
	for _, setting := range []string{"search_path", "timezone", "jit", "statement_timeout"} {
		var want, got string
		ask := func(pool *pgxpool.Pool, value *string) {
			if err := pool.QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(value); err != nil {
				t.Fatal(err)
			}
		}
		ask(direct, &want)
		ask(pooled, &got)
		if want, got = strings.ReplaceAll(want, `"`, ""), strings.ReplaceAll(got, `"`, ""); got != want || want == "" {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
}

func TestRunExclusivelyWorksBehindPooler(t *testing.T) {
	t.Parallel()
	pool, _ := openBehindPooler(t)
	begun, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		did, err := postgres.RunExclusively(t.Context(), pool, "work", func(context.Context) error {
			close(begun)
			<-end
			return nil
		})
		if !did || err != nil {
			t.Error(did, err)
		}
	})
	<-begun
	for range 10 {
		if did, err := postgres.RunExclusively(t.Context(), pool, "work",
			func(context.Context) error { t.Error("two work"); return nil }); did || err != nil {
			t.Error(did, err)
		}
	}
	close(end)
	first.Wait()
	if did, err := postgres.RunExclusively(t.Context(), pool, "work", func(context.Context) error { return nil }); !did ||
		err != nil {
		t.Error("after it:", did, err)
	}
}

func TestRoleAccessesOwnSchemaOnly(t *testing.T) {
	t.Parallel()
	_, other := openBehindPooler(t)
	own, cfg := openBehindPooler(t)
	for name, statement := range map[string]string{
		"another's rows":         `SELECT * FROM ` + other.Schema + `.one`,
		"a new table":            `CREATE TABLE two (id int)`,
		"its table's definition": `ALTER TABLE one ADD COLUMN two int`,
		"dropping":               `DROP TABLE one`,
		"public":                 `CREATE TABLE public.t_` + testkit.Unique() + ` (id int)`,
		"a schema of its own":    `CREATE SCHEMA s_` + testkit.Unique(),
	} {
		if _, err := own.Exec(t.Context(), statement); sqlstate.Of(err) != sqlstate.InsufficientPrivilege {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := postgres.Migrate(t.Context(), cfg, "pooled", oneTable); err != nil {
		t.Error("again:", err)
	}
}

func TestMigrateNamesMissingPermissions(t *testing.T) {
	t.Parallel()
	cfg := testkit.PooledSchema(t, "lacks")
	missing := cfg
	missing.URL = strings.Replace(cfg.URL, "role_", "norole_", 1)
	if err := postgres.Migrate(t.Context(), missing, "lacks", oneTable); err == nil || !strings.Contains(err.Error(),
		"CREATE ROLE") {
		t.Errorf("a role that is not there: %v", err)
	}
	same := cfg
	same.URL = cfg.MigrationsURL
	if err := postgres.Migrate(t.Context(), same, "lacks", oneTable); err == nil || !strings.Contains(err.Error(),
		"DATABASE_POOLED") {
		t.Errorf("a migration through a pooler: %v", err)
	}
}

func TestMigratePrintsStatementsForSuperuser(t *testing.T) {
	t.Parallel()
	cfg := testkit.PooledSchema(t, "owned")
	owner := "owner_" + testkit.Unique()
	admin := cfg.MigrationsURL
	testkit.Administer(t, admin, "CREATE ROLE "+owner+" LOGIN")
	testkit.Administer(t, admin, "CREATE SCHEMA "+cfg.Schema+" AUTHORIZATION "+owner)
	testkit.Administer(t, admin,
		`DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO %I', current_database(), '`+owner+`'); END $$`)
	t.Cleanup(func() {
		testkit.Administer(t, admin, "DROP OWNED BY "+owner+" CASCADE")
		testkit.Administer(t, admin, "DROP ROLE "+owner)
	})
	cfg.MigrationsURL = testkit.UserURL(t, admin, owner)
	err := postgres.Migrate(t.Context(), cfg, "owned", oneTable)
	if err == nil || !strings.Contains(err.Error(), "run as a superuser: ALTER ROLE") {
		t.Fatal(err)
	}
	_, statements, _ := strings.Cut(err.Error(), "run as a superuser: ")
	testkit.Administer(t, admin, statements)
	if err := postgres.Migrate(t.Context(), cfg, "owned", oneTable); err != nil {
		t.Errorf("a migration after the statements in the error: %v", err)
	}
}

func TestMigrateRejectsTooFewConnections(t *testing.T) {
	t.Parallel()
	cfg := testkit.PostgresSchema(t, "few")
	cfg.ServerConnections = 1 << 20
	if err := postgres.Migrate(t.Context(), cfg, "few", oneTable); err == nil || !strings.Contains(err.Error(),
		"max_connections") {
		t.Error(err)
	}
	cfg.ServerConnections = 10
	if err := postgres.Migrate(t.Context(), cfg, "few", oneTable); err != nil {
		t.Error(err)
	}
}

func TestTLSVerifiesAuthorityAndHost(t *testing.T) {
	t.Parallel()
	cfg := testkit.PooledSchema(t, "verified")
	for name, change := range map[string]func(*url.URL, url.Values){
		"":                         func(*url.URL, url.Values) {},
		"the system's authorities": func(_ *url.URL, q url.Values) { q.Del("sslrootcert") },
		"another name":             func(at *url.URL, _ url.Values) { at.Host = "localhost:" + at.Port() },
	} {
		at, err := url.Parse(cfg.URL)
		if err != nil {
			t.Fatal(err)
		}
		query := at.Query()
		query.Set("sslmode", "verify-full")
		change(at, query)
		at.RawQuery = query.Encode()
		otherAuthority := cfg
		otherAuthority.URL = at.String()
		pool, err := postgres.Open(t.Context(), otherAuthority, "verified", telemetry.Discard())
		if err != nil {
			t.Fatal(err)
		}
		err = pool.Ping(t.Context())
		if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), "certificate")) {
			t.Errorf("%s: %v", name, err)
		}
		pool.Close()
	}
}
