package deliver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/notifications/internal/deliver"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var start = time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC)

// fixture is one replica that sends webhooks, with a real database and a manual clock.
type fixture struct {
	t        *testing.T
	pool     *pgxpool.Pool
	clock    *clock.Manual
	records  *store.Store
	webhooks *deliver.Webhooks
	jobs     *jobs.Client
	business uuid.UUID
	disabled []store.Endpoint // endpoints whose owner gets a notice that they are disabled
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newReplica(t, testkit.Postgres(t, "notifications", migrations.FS), clock.Fixed(start), uuid.New())
}

// newReplica returns another replica with the same database.
func newReplica(t *testing.T, pool *pgxpool.Pool, now *clock.Manual, business uuid.UUID) *fixture {
	t.Helper()
	w := &fixture{t: t, pool: pool, clock: now, records: store.New(pool), business: business}
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, nil, now, testkit.MaxWait)
	t.Cleanup(sender.Close)
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.webhooks = &deliver.Webhooks{
		Store: w.records, Sender: sender, Clock: now, Telemetry: tel,
		FindSlug: func(context.Context, uuid.UUID) (string, error) { return "harbor", nil },
		NotifyDisabled: func(_ context.Context, _ pgx.Tx, e store.Endpoint) ([]river.InsertManyParams, error) {
			w.disabled = append(w.disabled, e)
			return nil, nil
		},
	}
	work := jobs.NewWork()
	w.webhooks.AddTo(work)
	var err error
	if w.jobs, err = jobs.Open(pool, work, now, telemetry.Discard()); err != nil {
		t.Fatal(err)
	}
	w.webhooks.SetJobs(w.jobs)
	return w
}

// startJobs starts to run jobs, and returns a function that stops.
func (w *fixture) startJobs() func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.jobs.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	return sync.OnceFunc(func() { cancel(); <-done })
}

// addEndpoint creates an endpoint of the business. Without events it receives all events.
func (w *fixture) addEndpoint(url string, events ...string) store.EndpointSecret {
	w.t.Helper()
	if len(events) == 0 {
		events = []string{webhook.AllEvents}
	}
	created, err := w.records.CreateEndpoint(testkit.AsSystem(w.t), store.Endpoint{
		BusinessID: w.business, ID: uuid.New(), URL: url, Events: events, CreatedAt: w.clock.Now(),
	}, webhook.NewSecret())
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

// newEvents returns events of a subject with these sequence numbers.
func (w *fixture) newEvents(subject uuid.UUID, sequences ...int) []event.Event {
	var events []event.Event
	for _, n := range sequences {
		events = append(events, event.Event{
			ID: uuid.New(), Type: event.BookingCreated, BusinessID: w.business, At: w.clock.Now(), Sequence: n,
			Subject: event.Subject{Kind: event.Booking, ID: subject},
			Data:    json.RawMessage(fmt.Sprintf(`{"id":%q}`, subject)),
		})
	}
	return events
}

// take takes events like the reader of a feed.
func (w *fixture) take(events []event.Event) {
	w.t.Helper()
	err := pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		params, err := w.webhooks.Take(w.t.Context(), tx, events)
		if err != nil || len(params) == 0 {
			return err
		}
		_, err = w.jobs.InsertManyFastTx(w.t.Context(), tx, params)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// runNextJob sets the clock to the time of the next job and runs the job in place of River. It returns
// that time, or false if there is no job.
func (w *fixture) runNextJob() (time.Time, bool) {
	w.t.Helper()
	var (
		id          int64
		args        []byte
		scheduledAt time.Time
	)
	err := w.pool.QueryRow(w.t.Context(),
		`DELETE FROM river_job WHERE id = (SELECT id FROM river_job WHERE kind = 'webhook_lane' ORDER BY scheduled_at, id LIMIT 1) RETURNING id, args, scheduled_at`).
		Scan(&id, &args, &scheduledAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if scheduledAt.After(w.clock.Now()) {
		w.clock.Set(scheduledAt.UTC())
	}
	if err := w.webhooks.RunJob(w.t.Context(), id, args); err != nil {
		w.t.Fatal(err)
	}
	return scheduledAt.UTC(), true
}

// nextJobTime returns the time of the next job, or false if there is no job.
func (w *fixture) nextJobTime() (time.Time, bool) {
	w.t.Helper()
	var scheduledAt *time.Time
	if err := w.pool.QueryRow(w.t.Context(),
		`SELECT min(scheduled_at) FROM river_job WHERE kind = 'webhook_lane' AND state IN ('available', 'scheduled')`).Scan(&scheduledAt); err != nil {
		w.t.Fatal(err)
	}
	if scheduledAt == nil {
		return time.Time{}, false
	}
	return scheduledAt.UTC(), true
}

// runRandomJob runs any job in place of River. If the job is interrupted, it stays and runs again,
// like the jobs of a dead process.
func (w *fixture) runRandomJob(ctx context.Context) {
	_ = pgx.BeginFunc(context.WithoutCancel(ctx), w.pool, func(tx pgx.Tx) error {
		var (
			id   int64
			args []byte
		)
		err := tx.QueryRow(context.WithoutCancel(ctx),
			`SELECT id, args FROM river_job WHERE kind = 'webhook_lane' ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&id, &args)
		if err != nil {
			return err
		}
		if err := w.webhooks.RunJob(ctx, id, args); err != nil {
			return err
		}
		_, err = tx.Exec(context.WithoutCancel(ctx), `DELETE FROM river_job WHERE id = $1`, id)
		return err
	})
}

// expireLocks lets all delivery locks expire.
func (w *fixture) expireLocks() {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(),
		`UPDATE webhook_endpoints SET lane_until = '-infinity' WHERE lane_until > '-infinity'`); err != nil {
		w.t.Fatal(err)
	}
}

// wake inserts a job that sends the due deliveries of an endpoint.
func (w *fixture) wake(ctx context.Context, tx pgx.Tx, endpoint uuid.UUID, state store.EndpointState) error {
	return w.webhooks.Wake(ctx, tx, w.business, endpoint, state)
}

// runAllJobs runs jobs until there are no jobs.
func (w *fixture) runAllJobs() {
	w.t.Helper()
	for hasMore := true; hasMore; {
		_, hasMore = w.runNextJob()
	}
}

func (w *fixture) listDeliveries(endpoint uuid.UUID) []store.Delivery {
	w.t.Helper()
	rows, _ := w.pool.Query(w.t.Context(),
		`SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY created_at, subject_id, sequence`, endpoint)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		w.t.Fatal(err)
	}
	byID := map[uuid.UUID]store.Delivery{}
	for cursor := ""; ; {
		page, next, err := w.records.Deliveries(w.t.Context(), w.business, endpoint, "", newPage(cursor))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range page {
			byID[d.ID] = d
		}
		if cursor = next; next == "" {
			break
		}
	}
	list := make([]store.Delivery, len(ids))
	for i, id := range ids {
		list[i] = byID[id]
	}
	return list
}

// countDeliveries returns the number of deliveries with a status.
func (w *fixture) countDeliveries(status string) int {
	w.t.Helper()
	var n int
	if err := w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE status = $1`,
		status).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// checkCount returns a function that checks that the count which a query returns is want.
func (w *fixture) checkCount(want int, query string) func(context.Context) error {
	return func(ctx context.Context) error {
		var n int
		if err := w.pool.QueryRow(ctx, query).Scan(&n); err != nil {
			return err
		}
		if n != want {
			return fmt.Errorf("%d, want %d", n, want)
		}
		return nil
	}
}

// receivedRequest is a request that a receiver received.
type receivedRequest struct {
	header http.Header
	body   []byte
}

// receiver is an HTTP server that keeps the requests that it received.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []receivedRequest
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request, body []byte)) *receiver {
	t.Helper()
	to := &receiver{}
	to.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		to.mu.Lock()
		to.requests = append(to.requests, receivedRequest{r.Header.Clone(), body})
		n := len(to.requests)
		to.mu.Unlock()
		answer(n, w, r, body)
	}))
	t.Cleanup(to.Close)
	return to
}

func (r *receiver) receivedRequests() []receivedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]receivedRequest(nil), r.requests...)
}

func alwaysAnswer(status int) func(int, http.ResponseWriter, *http.Request, []byte) {
	return func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(status) }
}
