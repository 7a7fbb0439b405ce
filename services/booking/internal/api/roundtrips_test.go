package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// roundTrips records the round trips to the database. A statement, a batch and the preparation of a statement are one
// round trip each. A connection prepares each statement only once.
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

// take returns the round trips since its last call.
func (r *roundTrips) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// measure calls `do` until a call prepares no statement, and returns the round trips of that call.
func (r *roundTrips) measure(t *testing.T, do func(n int)) []string {
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

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	// Old events of the feed are removed in the background; these batches do not belong to a request.
	ofTheFeed := func(q *pgx.QueuedQuery) bool { return strings.Contains(q.SQL, "event_feed") }
	if !slices.ContainsFunc(data.Batch.QueuedQueries, ofTheFeed) {
		r.note("batch")
	}
	return ctx
}

func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (r *roundTrips) TracePrepareStart(ctx context.Context, _ *pgx.Conn,
	data pgx.TracePrepareStartData) context.Context {
	r.note("prepare " + table(data.SQL))
	return ctx
}

func (r *roundTrips) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// table returns a short name for a statement.
func table(sql string) string {
	for _, name := range []string{"INSERT INTO occupied_time", "INSERT INTO made_writes",
		"DELETE FROM made_writes", "FROM api_keys", "UPDATE api_keys", "FROM occupied_time"} {
		if strings.Contains(sql, name) {
			return name
		}
	}
	return sql
}

// withTracer returns a copy of the pool that records its round trips in `r`.
func withTracer(t testing.TB, pool *pgxpool.Pool, r *roundTrips) *pgxpool.Pool {
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

// commands counts the round trips to Redis; a command or a pipeline is one round trip.
type commands struct{ sent atomic.Int64 }

var _ redis.Hook = (*commands)(nil)

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.sent.Add(1)
		return next(ctx, cmd)
	}
}

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.sent.Add(1)
		return next(ctx, cmds)
	}
}

func TestBookTakesOneRedisRoundTrip(t *testing.T) {
	t.Parallel()
	w := openWithLimiter(t, limits.Config{BookPerMinute: 100, KeyPerMinute: 4}, telemetry.Discard(), newRedisLimiter)
	key := w.key("write")
	w.expect("the key is not known yet", w.book(key, newOrder("08:30", nil)), 201, "")
	for _, at := range []string{"09:30", "10:30", "11:30"} {
		before := w.redis.sent.Load()
		w.expect(at, w.book(key, newOrder(at, nil)), 201, "")
		if n := w.redis.sent.Load() - before; n != 1 {
			t.Errorf("%s: %d round trips to Redis, want 1", at, n)
		}
	}
	w.expect("over the limit of the key", w.book(key, newOrder("12:30", nil)), 401, "rate_limited")
	if err := w.store.RevokeAllKeys(testkit.AsSystem(t), w.offer.ID, now); err != nil {
		t.Fatal(err)
	}
	a := w.book(key, newOrder("12:30", nil))
	w.expect("that the key is none comes first", a, 401, "invalid_api_key")
	if policy := a.header.Get("RateLimit-Policy"); policy != `"book";q=100;w=60` {
		t.Errorf("it tells the limits %s", policy)
	}
}

func TestBookTakesTwoDatabaseRoundTrips(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("its use is noted", w.book(key, newOrder("08:30", nil)), 201, "")
	at := func(n int) string { return fmt.Sprintf("2027-03-%02d", 2+n) }
	sent := w.trips.measure(t, func(n int) {
		w.expect("plain", w.book(key, newOrder("12:30", map[string]any{"date": at(n)})), 201, "")
	})
	want := []string{"FROM occupied_time", "INSERT INTO occupied_time"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("a booking (-want +got):\n%s", diff)
	}
	sent = w.trips.measure(t, func(n int) {
		w.expect("with an idempotency key", w.book(key, newOrder("14:30", map[string]any{"date": at(n)}), header, at(n)),
			201, "")
	})
	want = []string{"batch", "INSERT INTO occupied_time"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("a booking with an idempotency key (-want +got):\n%s", diff)
	}
	w.expect("a forged key", w.book("sm_"+strings.Repeat("0", 64), newOrder("14:30", nil)), 401, "invalid_api_key")
	if sent := w.trips.take(); len(sent) > 0 {
		t.Errorf("a key with a wrong checksum is looked up: %v", sent)
	}
}

// TestBookAsksAvailabilityAndPricingConcurrently shows that a booking calls availability and pricing at
// the same time, and does not call catalog. Each of the two fakes answers only after both were called.
func TestBookAsksAvailabilityAndPricingConcurrently(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("the first", w.book(key, newOrder("08:30", nil)), 201, "")
	w.set(func(w *fixture) {
		w.staleOffer, w.freshCalls, w.bookableCalls, w.quotes, w.meetingPoint = w.offer, 0, 0, nil, newMeetingPoint()
	})
	w.expect("the next", w.book(key, newOrder("09:30", nil)), 201, "")
	if w.freshCalls != 0 || w.bookableCalls != 1 || len(w.quotes) != 1 {
		t.Errorf("catalog is asked %d times, availability %d, pricing %d; want 0, 1, 1", w.freshCalls, w.bookableCalls,
			len(w.quotes))
	}
}

// meetingPoint lets the fakes of availability and pricing wait until both were called.
type meetingPoint struct{ availability, pricing chan struct{} }

func newMeetingPoint() *meetingPoint { return &meetingPoint{make(chan struct{}), make(chan struct{})} }

// meetOther closes the channel `here` and waits until the channel `there` is closed.
func meetOther(ctx context.Context, here, there chan struct{}) error {
	close(here)
	select {
	case <-there:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestOccupiedTakesOneRoundTrip shows that reading occupied time takes one round trip, however
// long the window is and however many bookings there are. Availability's queries_test.go shows that calendars read
// occupied time once.
func TestOccupiedTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	client, key := w.client(), w.key("write")
	from := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []string{"", "09:30", "11:30", "13:30"} {
		if at != "" {
			w.expect(at, w.book(key, newOrder(at, nil)), 201, "")
		}
		for _, days := range []int{1, 62} {
			for seats, want := range map[bool][]string{false: {"FROM occupied_time"}, true: {"batch"}} {
				sent := w.trips.measure(t, func(int) {
					if _, err := client.Occupied(t.Context(), w.offer.ID, from, from.AddDate(0, 0, days),
						booking.OccupiedQuery{Seats: seats}); err != nil {
						t.Fatal(err)
					}
				})
				if diff := cmp.Diff(want, sent); diff != "" {
					t.Errorf("%d days, seats %v (-want +got):\n%s", days, seats, diff)
				}
			}
		}
	}
}
