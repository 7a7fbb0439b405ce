package testkit

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Database returns the URL of a new, empty database on the test server, for tests of several schemas; it is dropped when the test ends.
// Tests of one schema take [Postgres] or [PostgresSchema], which cost less.
func Database(t testing.TB, prefix string) string {
	t.Helper()
	base := lookup(t, DatabaseURL)
	name := prefix + "_" + Unique()
	Administer(t, base, "CREATE DATABASE "+name)
	t.Cleanup(func() { Administer(t, base, "DROP DATABASE "+name+" WITH (FORCE)") })
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// Administer runs one statement on a connection of its own.
func Administer(t testing.TB, databaseURL, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatal(err)
	}
}
