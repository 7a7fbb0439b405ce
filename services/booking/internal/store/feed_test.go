package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// showStored shows each event exactly as it is stored.
func showStored(_ context.Context, records []json.RawMessage) ([]json.RawMessage, error) {
	return records, nil
}

func openLog(pool *pgxpool.Pool, c clock.Clock) *eventlog.Log {
	return openLogWith(pool, c, telemetry.Discard())
}

func openLogWith(pool *pgxpool.Pool, c clock.Clock, tel *telemetry.Telemetry) *eventlog.Log {
	show := map[event.SubjectKind]eventlog.Show{event.Booking: showStored, event.Ticket: showStored, event.Key: showStored}
	return eventlog.New(pool, show, eventlog.Config{KeepDays: 90}, c, tel)
}

func neverShow() bool { return false }

// changeSQL changes a subject and records the event, as the statements of the service do. The subject is an API key,
// because that is the smallest kind of subject.
var changeSQL = `
WITH changed AS (
    INSERT INTO api_keys AS k (business_id, id, name, scope, hash, prefix, created_at)
    VALUES (@business_id, @id, 'site', 'all', sha256(uuid_send(@id)), '', @at)
    ON CONFLICT (business_id, id) DO UPDATE SET sequence = k.sequence + 1
    RETURNING *
)
` + eventlog.Record(event.Key, event.KeyCreated, "changed", `jsonb_build_object('sequence', changed.sequence)`)

func change(ctx context.Context, tx pgx.Tx, business, subject uuid.UUID) error {
	args := eventlog.Add(ctx, pgx.NamedArgs{"business_id": business, "id": subject, "at": now}, now)
	_, err := tx.Exec(ctx, changeSQL, args)
	return err
}

// writer makes one to four changes in each of its transactions. A transaction stays open while others commit, and ends
// at random with a commit, a rollback or a closed connection.
type writer struct {
	t         *testing.T
	pool      *pgxpool.Pool
	business  uuid.UUID
	subjects  []uuid.UUID
	random    *rand.Rand
	remaining *atomic.Int64
}

func (w *writer) run(ctx context.Context) {
	var open [4]pgx.Tx // two transactions on one subject would deadlock here
	for slot := range open {
		defer func() { w.end(ctx, open[slot]) }()
	}
	for w.remaining.Add(-1) >= 0 {
		slot := w.random.IntN(len(open))
		w.end(ctx, open[slot])
		tx, err := w.pool.Begin(ctx)
		if err != nil {
			w.t.Error(err)
			return
		}
		open[slot] = tx
		subject := w.subjects[w.random.IntN(len(w.subjects)/len(open))*len(open)+slot]
		for range 1 + w.random.IntN(4) {
			if err := change(ctx, tx, w.business, subject); err != nil {
				w.t.Errorf("change: %v", err)
			}
		}
	}
}

func (w *writer) end(ctx context.Context, tx pgx.Tx) {
	if tx == nil {
		return
	}
	switch w.random.IntN(10) {
	case 0:
		_ = tx.Rollback(ctx)
	case 1:
		_ = tx.Conn().Close(ctx)
		_ = tx.Rollback(ctx)
	default:
		if err := tx.Commit(ctx); err != nil {
			w.t.Errorf("commit: %v", err)
		}
	}
}

// reader reads the feed to its end. At random it dies before it has stored what it read, and then reads again from its
// stored cursor. It fails if it sees an event twice, or the events of a subject out of order.
type reader struct {
	t      *testing.T
	log    *eventlog.Log
	random *rand.Rand
	done   func() bool

	cursor string
	seen   map[uuid.UUID]bool
	last   map[uuid.UUID]int
	died   int
}

func (r *reader) run(ctx context.Context) {
	for {
		ended := r.done()
		dying, die := context.WithCancel(ctx)
		if r.random.IntN(10) == 0 {
			die() // in the middle of its read
		}
		page, err := r.log.Feed(dying, r.cursor, 1+r.random.IntN(500), 0, neverShow)
		die()
		switch {
		case errors.Is(err, context.Canceled) || err == nil && r.random.IntN(10) == 0:
			r.died++
			continue
		case err != nil:
			r.t.Errorf("read: %v", err)
			return
		}
		for _, e := range page.Events {
			if r.seen[e.ID] || e.Sequence != r.last[e.Subject.ID]+1 {
				r.t.Errorf("event %d of %s after %d, seen: %v", e.Sequence, e.Subject.ID, r.last[e.Subject.ID],
					r.seen[e.ID])
			}
			r.seen[e.ID], r.last[e.Subject.ID] = true, e.Sequence
		}
		r.cursor = page.Next
		if ended && len(page.Events) == 0 {
			return
		}
	}
}

// TestFeedReadersGetEachEventOnce writes SLOTMESH_TEST_EVENTS changes while readers read the feed; `make
// events` writes a million.
func TestFeedReadersGetEachEventOnce(t *testing.T) {
	t.Parallel()
	const writers, readers = 8, 3
	changes := int64(2000)
	if text := os.Getenv("SLOTMESH_TEST_EVENTS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		changes = n
	}
	_, pool := open(t)
	cfg := pool.Config()
	cfg.MaxConns = writers*4 + readers
	wide, err := pgxpool.NewWithConfig(testkit.AsSystem(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	var (
		left    atomic.Int64
		writing atomic.Int64
		all     sync.WaitGroup
		read    [readers]*reader
		seed    = rand.Uint64()
	)
	t.Logf("seed %d", seed)
	left.Store(changes / 2) // a transaction makes 2.5 changes on average, and one in five is lost
	writing.Store(writers)
	for i := range writers {
		w := &writer{t: t, pool: wide, business: uuid.New(), random: rand.New(rand.NewPCG(seed, uint64(i))),
			remaining: &left}
		for range 400 {
			w.subjects = append(w.subjects, uuid.New())
		}
		all.Go(func() { defer writing.Add(-1); w.run(testkit.AsSystem(t)) })
	}
	for i := range readers {
		read[i] = &reader{
			t: t, log: openLog(wide, clock.System()), random: rand.New(rand.NewPCG(seed, uint64(writers+i))),
			done: func() bool { return writing.Load() == 0 }, seen: map[uuid.UUID]bool{}, last: map[uuid.UUID]int{},
		}
		all.Go(func() { read[i].run(testkit.AsSystem(t)) })
	}
	all.Wait()
	checkFeeds(t, pool, read[:])
}

// checkFeeds fails the test unless each reader has read every change in the tables.
func checkFeeds(t *testing.T, pool *pgxpool.Pool, read []*reader) {
	t.Helper()
	rows, err := pool.Query(testkit.AsSystem(t), `SELECT id, sequence FROM api_keys`)
	if err != nil {
		t.Fatal(err)
	}
	var (
		subject  uuid.UUID
		sequence int
		total    int
		tables   = map[uuid.UUID]int{}
	)
	if _, err := pgx.ForEachRow(rows, []any{&subject, &sequence}, func() error {
		tables[subject] = sequence
		total += sequence
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, r := range read {
		t.Logf("reader %d: %d events of %d subjects, died %d times", i, len(r.seen), len(r.last), r.died)
		if len(r.seen) != total || len(r.last) != len(tables) {
			t.Errorf("reader %d saw %d events of %d subjects, the tables have %d of %d", i, len(r.seen), len(r.last),
				total, len(tables))
		}
		for subject, sequence := range tables {
			if r.last[subject] != sequence {
				t.Errorf("reader %d is at %d of %s, the table at %d", i, r.last[subject], subject, sequence)
			}
		}
	}
}

// record makes `n` changes of a new subject, with events at the time `at`, and returns the business.
func record(t *testing.T, pool *pgxpool.Pool, at time.Time, n int) uuid.UUID {
	t.Helper()
	business, subject := uuid.New(), uuid.New()
	for range n {
		if err := pgx.BeginFunc(testkit.AsSystem(t), pool,
			func(tx pgx.Tx) error { return change(testkit.AsSystem(t), tx, business, subject) }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(testkit.AsSystem(t), `UPDATE events SET at = $2 WHERE subject_id = $1`, subject,
		at); err != nil {
		t.Fatal(err)
	}
	return business
}

// follow reads `n` events one by one from the cursor `after` on, and returns the next cursor.
func follow(t *testing.T, log *eventlog.Log, after string, n int) string {
	t.Helper()
	for range n {
		page, err := log.Feed(testkit.AsSystem(t), after, 1, 0, neverShow)
		if err != nil || len(page.Events) != 1 {
			t.Fatalf("%d events, %v", len(page.Events), err)
		}
		after = page.Next
	}
	return after
}

func TestLaggingReaderGetsFault(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	at := clock.Fixed(now)
	log := openLog(pool, at)
	firstPage, err := log.Feed(testkit.AsSystem(t), "", 10, 0, neverShow)
	if err != nil || len(firstPage.Events) != 0 {
		t.Fatalf("%+v, %v", firstPage, err)
	}
	record(t, pool, now.Add(-89*24*time.Hour), 3)
	second := follow(t, log, firstPage.Next, 2)
	record(t, pool, now, 1)
	for days, want := range []int{0, 0, 3} { // the events of today stay
		if days == 2 {
			at.Advance(2 * 24 * time.Hour)
		}
		if n, err := log.Prune(testkit.AsSystem(t)); err != nil || n != want {
			t.Fatalf("removed %d, %v", n, err)
		}
	}
	for _, lagging := range []string{firstPage.Next, second} {
		if _, err := log.Feed(testkit.AsSystem(t), lagging, 10, 0, neverShow); !fault.Is(err, fault.CursorExpired) {
			t.Errorf("after %s: %v", lagging, err)
		}
	}
	rest, err := log.Feed(testkit.AsSystem(t), "", 10, 0, neverShow)
	if err != nil || len(rest.Events) != 1 {
		t.Errorf("the remaining events: %+v, %v", rest, err)
	}
	if later, err := log.Feed(testkit.AsSystem(t), rest.Next, 10, 0, neverShow); err != nil || len(later.Events) != 0 ||
		later.Next != rest.Next {
		t.Errorf("after it: %+v, %v", later, err)
	}
}

// TestEventWritesOneLogLine shows that each event is logged in exactly one line, even if several replicas read the
// feed at once. The line has only ids, the kind of the event and the actor of the change.
func TestEventWritesOneLogLine(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	var written bytes.Buffer // slog calls Write once for each line
	tel, err := telemetry.New(testkit.AsSystem(t), telemetry.Config{}, "booking", &written)
	if err != nil {
		t.Fatal(err)
	}
	key := actor.Actor{Kind: actor.APIKey, ID: uuid.New()}
	business, subject := uuid.New(), uuid.New()
	err = pgx.BeginFunc(testkit.AsSystem(t), pool, func(tx pgx.Tx) error {
		return change(actor.With(t.Context(), key), tx, business, subject)
	})
	if err != nil {
		t.Fatal(err)
	}
	record(t, pool, now, 40)
	log := openLogWith(pool, clock.Fixed(now), tel)
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() {
			if _, err := log.Feed(testkit.AsSystem(t), "", 100, 0, neverShow); err != nil {
				t.Error(err)
			}
		})
	}
	replicas.Wait()
	type line struct {
		Level, Msg, Service, By string
		BusinessID              uuid.UUID `json:"business_id"`
		KeyID                   uuid.UUID `json:"key_id"`
		ByID                    uuid.UUID `json:"by_id"`
		At                      time.Time
	}
	lines := strings.Split(strings.TrimSpace(written.String()), "\n")
	var first line
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	want := line{Level: "INFO", Msg: "key.created", Service: "booking", By: "api_key", BusinessID: business,
		KeyID: subject, ByID: key.ID, At: now}
	if len(lines) != 41 || first != want {
		t.Errorf("%d lines, first %+v, want 41 and %+v", len(lines), first, want)
	}
}

func TestUnreadEventsAreRemoved(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	record(t, pool, now.Add(-91*24*time.Hour), 5)
	if n, err := openLog(pool, clock.Fixed(now)).Prune(testkit.AsSystem(t)); err != nil || n != 5 {
		t.Errorf("removed %d, %v", n, err)
	}
}

// TestCursorOfRestoredDatabaseIsRejected shows that a cursor from before a restore of the database returns
// cursor_expired. The restored database assigns positions again that readers have already passed.
func TestCursorOfRestoredDatabaseIsRejected(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	log := openLog(pool, clock.Fixed(now))
	record(t, pool, now, 2)
	stored := follow(t, log, "", 2)
	record(t, pool, now, 2)
	lost := follow(t, log, stored, 2)
	if _, err := pool.Exec(testkit.AsSystem(t),
		`WITH gone AS (DELETE FROM events WHERE position > 2) UPDATE event_feed SET position = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Feed(testkit.AsSystem(t), lost, 10, 0, neverShow); !fault.Is(err, fault.CursorExpired) {
		t.Errorf("a cursor after the last event: %v", err)
	}
	record(t, pool, now, 5)
	follow(t, log, stored, 5)
	if _, err := log.Feed(testkit.AsSystem(t), lost, 10, 0, neverShow); !fault.Is(err, fault.CursorExpired) {
		t.Errorf("a cursor of another event: %v", err)
	}
}

func TestInvalidCursorIsRejected(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	for _, text := range []string{"x", "-1", "1.", "1.x", "99999999999999999999", fmt.Sprintf("1.%s.", uuid.New())} {
		if _, err := openLog(pool, clock.Fixed(now)).Feed(testkit.AsSystem(t), text, 10, 0, neverShow); !fault.Is(err,
			fault.InvalidParameter) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLateCommitGetsLatePosition shows that the feed returns events in the order of their commits. An event whose
// transaction commits late comes after the events that readers have read, although its row was inserted first.
func TestLateCommitGetsLatePosition(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	log := openLog(pool, clock.Fixed(now))
	slow, err := pool.Begin(testkit.AsSystem(t))
	if err != nil {
		t.Fatal(err)
	}
	late := uuid.New()
	if err := change(testkit.AsSystem(t), slow, late, uuid.New()); err != nil {
		t.Fatal(err)
	}
	record(t, pool, now, 3)
	after := follow(t, log, "", 3)
	if page, err := log.Feed(testkit.AsSystem(t), after, 10, 0, neverShow); err != nil || len(page.Events) != 0 {
		t.Fatalf("%+v, %v", page, err)
	}
	if err := slow.Commit(testkit.AsSystem(t)); err != nil {
		t.Fatal(err)
	}
	page, err := log.Feed(testkit.AsSystem(t), after, 10, 0, neverShow)
	if err != nil || len(page.Events) != 1 || page.Events[0].BusinessID != late {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestWaitingReaderGetsNewEvents(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	log := openLog(pool, clock.Fixed(now))
	firstPage, err := log.Feed(testkit.AsSystem(t), "", 10, 0, neverShow)
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	looks := make(chan struct{}, 1)
	looked := func() bool { // the log calls looked after each query that found no event
		select {
		case looks <- struct{}{}:
		default:
		}
		return false
	}
	waiting.Go(func() {
		page, err := log.Feed(testkit.AsSystem(t), firstPage.Next, 10, time.Hour, looked)
		if err != nil || len(page.Events) == 0 {
			t.Errorf("%+v, %v", page, err)
		}
	})
	<-looks
	record(t, pool, now, 1)
	waiting.Wait()
	after := follow(t, log, firstPage.Next, 1)
	if page, err := log.Feed(testkit.AsSystem(t), after, 10, time.Hour, func() bool { return true }); err != nil ||
		len(page.Events) != 0 || page.Next != after {
		t.Errorf("a service that stops: %+v, %v", page, err)
	}
}
