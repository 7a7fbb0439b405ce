package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// roundTrips notes what is sent to the database: a statement or a batch is one round trip, and so is the preparation
// of a statement, which a connection does once.
type roundTrips struct {
	mu   sync.Mutex
	sent []string
}

var (
	_ pgx.QueryTracer   = (*roundTrips)(nil)
	_ pgx.BatchTracer   = (*roundTrips)(nil)
	_ pgx.PrepareTracer = (*roundTrips)(nil)
)

func (r *roundTrips) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, what)
}

// take returns what was sent since the last call.
func (r *roundTrips) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// prepared does a thing again until it meets a connection that has all its statements prepared, and returns what was sent then.
func (r *roundTrips) prepared(t *testing.T, do func(n int)) []string {
	t.Helper()
	for n := range 10 {
		r.take()
		do(n)
		sent := r.take()
		if !slices.ContainsFunc(sent, func(what string) bool { return strings.HasPrefix(what, "prepare ") }) {
			return sent
		}
	}
	t.Fatal("statements are prepared each time")
	return nil
}

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.note(table(data.SQL))
	return ctx
}

func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.note("batch")
	return ctx
}

func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (r *roundTrips) TracePrepareStart(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareStartData) context.Context {
	r.note("prepare " + table(data.SQL))
	return ctx
}

func (r *roundTrips) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// table names a statement by what it does first.
func table(sql string) string {
	for _, name := range []string{"INSERT INTO occupied_time", "INSERT INTO idempotency_records", "DELETE FROM idempotency_records", "FROM api_keys", "UPDATE api_keys", "FROM occupied_time"} {
		if strings.Contains(sql, name) {
			return name
		}
	}
	return sql
}

// traced is the same pool with its round trips noted. Requests one after another use the same connection.
func traced(t testing.TB, pool *pgxpool.Pool, r *roundTrips) *pgxpool.Pool {
	t.Helper()
	cfg := pool.Config()
	cfg.ConnConfig.Tracer = r
	noted, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(noted.Close)
	return noted
}

func TestABookingTakesThreeRoundTripsToTheDatabase(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	key := w.key("write")
	w.expect("its use is noted", w.book(key, order("08:30", nil)), 201, "")
	at := func(n int) string { return fmt.Sprintf("2027-03-%02d", 2+n) }
	sent := w.trips.prepared(t, func(n int) {
		w.expect("plain", w.book(key, order("12:30", map[string]any{"date": at(n)})), 201, "")
	})
	want := []string{"FROM api_keys", "batch", "INSERT INTO occupied_time"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("a booking (-want +got):\n%s", diff)
	}
	sent = w.trips.prepared(t, func(n int) {
		w.expect("with an idempotency key", w.book(key, order("14:30", map[string]any{"date": at(n)}), header, at(n)), 201, "")
	})
	want = []string{"FROM api_keys", "INSERT INTO idempotency_records", "batch", "INSERT INTO occupied_time"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("a booking with an idempotency key (-want +got):\n%s", diff)
	}
	w.expect("a forged key", w.book("sm_"+strings.Repeat("0", 64), order("14:30", nil)), 401, "invalid_api_key")
	if sent := w.trips.take(); len(sent) > 0 {
		t.Errorf("a key with a wrong checksum is looked up: %v", sent)
	}
}

// The calendars ask for occupied time once for any number of dates, members and services (availability's
// queries_test.go); neither its window nor what is booked makes the statements more.
func TestOccupiedTimeTakesOneRoundTripHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	client, key := w.client(), w.key("write")
	from := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []string{"", "09:30", "11:30", "13:30"} {
		if at != "" {
			w.expect(at, w.book(key, order(at, nil)), 201, "")
		}
		for _, days := range []int{1, 62} {
			for seats, want := range map[bool][]string{false: {"FROM occupied_time"}, true: {"batch"}} {
				for _, ready := range []bool{false, true} { // the statement is prepared once
					w.trips.take()
					if _, err := client.Occupied(t.Context(), w.offer.ID, from, from.AddDate(0, 0, days), seats, nil); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, w.trips.take()); ready && diff != "" {
						t.Errorf("%d days, seats %v (-want +got):\n%s", days, seats, diff)
					}
				}
			}
		}
	}
}
