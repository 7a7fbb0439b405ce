package testkit

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database creates an empty database on the test server and returns its URL. It is dropped when
// the test ends. A test of one schema should use [Postgres] or [PostgresSchema], which are faster.
func Database(t testing.TB, prefix string) string {
	t.Helper()
	return database(t, prefix, "template1")
}

// database creates a copy of a template database and returns its URL. It copies the files
// of the template, which takes PostgreSQL a quarter of the time of its default strategy.
func database(t testing.TB, prefix, template string) string {
	t.Helper()
	base := Server(t)
	name := prefix + "_" + Unique()
	Administer(t, base, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy")
	t.Cleanup(func() { Administer(t, base, "DROP DATABASE "+name+" WITH (FORCE)") })
	return withDatabase(t, base, name)
}

// withDatabase returns the URL of another database on the server.
func withDatabase(t testing.TB, base, name string) string {
	t.Helper()
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// Template is a database that is filled once for all tests of a package; each test uses a copy.
type Template struct {
	Fill func(ctx context.Context, databaseURL string) error // must leave no connection open

	mu         sync.Mutex
	base, name string // name is "" until it is filled
}

// Copy returns the URL of a new copy of the template. It is dropped when the test ends.
func (c *Template) Copy(t testing.TB, prefix string) string {
	t.Helper()
	return database(t, prefix, c.ensureFilled(t))
}

func (c *Template) ensureFilled(t testing.TB) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != "" {
		return c.name
	}
	c.base = Server(t)
	name := "template_" + Unique()
	Administer(t, c.base, "CREATE DATABASE "+name)
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	defer cancel()
	if err := c.Fill(ctx, withDatabase(t, c.base, name)); err != nil {
		Administer(t, c.base, "DROP DATABASE "+name+" WITH (FORCE)")
		t.Fatalf("filling a database that is to be copied: %v", err)
	}
	c.name = name
	return name
}

// Drop removes the template, if it was created. It must be called after all tests.
func (c *Template) Drop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name == "" {
		return nil
	}
	return administer(c.base, "DROP DATABASE "+c.name+" WITH (FORCE)")
}

// Administer runs one statement on a new connection.
func Administer(t testing.TB, databaseURL, statement string) {
	t.Helper()
	if err := administer(databaseURL, statement); err != nil {
		t.Fatal(err)
	}
}

func administer(databaseURL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), MaxWait)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
