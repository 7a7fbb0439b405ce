package consoletest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Peers records the requests that console sends to the fakes of other services.
type Peers struct {
	mu       sync.Mutex
	reads    int
	requests []string
	writes   []string
}

// readPaths has the last path segments of those POST requests that change no data.
var readPaths = []string{"/search", "/diff", "/sales", "/plan", "/customers", "/affected"}

// countRequests returns a handler that records each request and then calls the handler `to`.
func (p *Peers) countRequests(to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.Path)
		if reads := r.Method == http.MethodGet || hasSuffix(r.URL.Path, readPaths); reads {
			p.reads++
		} else {
			p.writes = append(p.writes, r.Method+" "+r.URL.Path)
		}
		p.mu.Unlock()
		to.ServeHTTP(w, r)
	})
}

func hasSuffix(path string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// ListRequests returns the methods and paths of all requests to the fakes.
func (p *Peers) ListRequests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// ListWrites returns the methods and paths of those requests to the fakes that may change data in a service.
func (p *Peers) ListWrites() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.writes...)
}

// ReadRows returns all rows of console's database as text, by the name of the table. ReadRows omits each column with
// the time of the last use, because requests that only read data also change this column.
func (w *Fixture) ReadRows(t *testing.T) map[string]string {
	t.Helper()
	ctx := context.Background()
	tables, err := w.Pool.Query(ctx,
		`SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(tables, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, name := range names {
		if name == "writes_under_way" {
			continue
		}
		var text string
		err := w.Pool.QueryRow(ctx, fmt.Sprintf(`
			SELECT coalesce(string_agg(line, E'\n' ORDER BY line), '')
			FROM (SELECT (to_jsonb(t) - 'last_used_at' - 'last_seen_at')::text AS line FROM %s AS t) AS lines`, pgx.Identifier{name}.Sanitize())).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = text
	}
	return rows
}
