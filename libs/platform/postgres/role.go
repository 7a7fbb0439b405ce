package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
)

// serviceRole returns the user of URL, or "" if this user is the argument `owner`, which owns the tables.
func (c *Config) serviceRole(owner string) (string, error) {
	by, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return "", c.Validate()
	}
	if by.User != owner {
		return by.User, nil
	}
	if c.Pooled {
		return "", errors.New("DATABASE_POOLED: a pooler keeps no settings of a session, so that each service needs " +
			"a user of its own, which has them: write that user into DATABASE_URL, and the URL of the database " +
			"itself, past the pooler, with the user that owns the tables, into DATABASE_MIGRATIONS_URL")
	}
	return "", nil
}

// grantAccess grants the given role access to the rows of the schema and stores the session settings in the role. It
// skips settings that the role already has. If the migration's user is not permitted to change the role, an
// administrator can store the settings in advance.
func grantAccess(ctx context.Context, conn *sql.Conn, role, schema string, required map[string]string) error {
	var exists bool
	if err := conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`,
		role).Scan(&exists); err != nil {
		return err
	}
	name := pgx.Identifier{role}.Sanitize()
	if !exists {
		return fmt.Errorf("DATABASE_URL: there is no role %s; make it by: CREATE ROLE %s LOGIN PASSWORD '…'", name,
			name)
	}
	if err := storeSettings(ctx, conn, role, required); err != nil {
		return err
	}
	in := pgx.Identifier{schema}.Sanitize()
	for _, grant := range []string{
		"USAGE ON SCHEMA ", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ",
		"USAGE ON ALL SEQUENCES IN SCHEMA ",
	} {
		if _, err := conn.ExecContext(ctx, "GRANT "+grant+in+" TO "+name); err != nil {
			return fmt.Errorf("admit role %s: %w", name, err)
		}
	}
	return nil
}

// storeSettings stores session settings for a role in the current database.
// The argument `required` maps the names of the settings to their values.
func storeSettings(ctx context.Context, conn *sql.Conn, role string, required map[string]string) error {
	var (
		database string
		current  []string
	)
	err := conn.Raw(func(driver any) error {
		return driver.(*stdlib.Conn).Conn().QueryRow(ctx, `
			SELECT current_database(), COALESCE((SELECT s.setconfig FROM pg_db_role_setting s
			    JOIN pg_roles r ON r.oid = s.setrole JOIN pg_database d ON d.oid = s.setdatabase
			    WHERE r.rolname = $1 AND d.datname = current_database()), '{}')`, role).Scan(&database, &current)
	})
	if err != nil {
		return fmt.Errorf("settings of role %s: %w", role, err)
	}
	for i := range current { // PostgreSQL may return names in quotes
		current[i] = strings.ReplaceAll(current[i], `"`, "")
	}
	var missing []string
	for _, setting := range slices.Sorted(maps.Keys(required)) {
		is := setting + "=" + strings.ReplaceAll(required[setting], `"`, "")
		if !slices.ContainsFunc(current, func(has string) bool { return strings.EqualFold(has, is) }) {
			missing = append(missing, fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET %s = %s",
				pgx.Identifier{role}.Sanitize(),
				pgx.Identifier{database}.Sanitize(), setting, formatLiteral(setting, required[setting])))
		}
	}
	for _, statement := range missing {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok &&
				refused.Code == sqlstate.InsufficientPrivilege {
				return fmt.Errorf("DATABASE_MIGRATIONS_URL: its user may not give the role of DATABASE_URL its "+
					"settings (%s); let it (CREATEROLE, from PostgreSQL 16 on "+
					"with ADMIN OPTION of the role), or run as a superuser: %s", refused.Message,
					strings.Join(missing, "; "))
			}
			return fmt.Errorf("settings of role %s: %w", role, err)
		}
	}
	return nil
}

// formatLiteral formats the value of a setting for ALTER ROLE. The value of search_path is
// a list of names, so it stays unquoted. In quotes, the whole list would be a single name.
func formatLiteral(setting, value string) string {
	if setting == "search_path" {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// checkConnections returns an error if the server or the database allows
// fewer connections than the argument `required`. 0 disables the check.
func checkConnections(ctx context.Context, conn *sql.Conn, required int) error {
	if required == 0 {
		return nil
	}
	var server, database int
	err := conn.QueryRowContext(ctx,
		`SELECT current_setting('max_connections')::int, datconnlimit FROM pg_database WHERE datname = current_database()`).
		Scan(&server, &database)
	if err != nil {
		return fmt.Errorf("count the server's connections: %w", err)
	}
	what, allowed := "server takes %d (max_connections)", server
	if database >= 0 && database < server {
		what, allowed = "database takes %d (CONNECTION LIMIT)", database
	}
	if allowed < required {
		return fmt.Errorf("DATABASE_SERVER_CONNECTIONS: the services may hold %d connections together, and this "+what+
			": raise that, or give them fewer", required, allowed)
	}
	return nil
}
