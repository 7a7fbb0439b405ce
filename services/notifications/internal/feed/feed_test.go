package feed_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/feed"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var now = time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC)

// fakeFeed is a feed in memory. The cursor of an event is its number.
type fakeFeed struct {
	events []event.Event
	fail   func() error // returns the error of a call; nil: no call fails
}

func newFakeFeed(n int) *fakeFeed {
	w := &fakeFeed{}
	for i := range n {
		w.events = append(w.events, event.Event{
			ID: uuid.New(), Type: event.BookingCreated, BusinessID: uuid.New(),
			At: now.Add(time.Duration(i) * time.Second), Sequence: 1,
			Subject: event.Subject{Kind: event.Booking, ID: uuid.New()},
		})
	}
	return w
}

func (w *fakeFeed) Events(_ context.Context, after string, limit int, _ time.Duration) (event.Page, error) {
	if w.fail != nil {
		if err := w.fail(); err != nil {
			return event.Page{}, err
		}
	}
	from, _ := strconv.Atoi(after) // "" is 0
	to := min(from+limit, len(w.events))
	return event.Page{Events: w.events[from:to], Next: strconv.Itoa(to)}, nil
}

// noteJob is the job that the subscriber of the tests creates for each event.
type noteJob struct {
	BusinessID uuid.UUID `json:"business_id"`
	EventID    uuid.UUID `json:"event_id"`
}

func (noteJob) Kind() string { return "noted" }

// noteSubscriber creates one job for each event. The function die may return an error that simulates a
// failure.
type noteSubscriber struct{ die func() error }

func (s noteSubscriber) Take(_ context.Context, _ pgx.Tx, events []event.Event) ([]river.InsertManyParams, error) {
	var all []river.InsertManyParams
	for _, e := range events {
		all = append(all, river.InsertManyParams{Args: noteJob{e.BusinessID, e.ID}})
	}
	return all, s.die()
}

// dyingJobs inserts jobs, and then sometimes fails before the commit.
type dyingJobs struct {
	feed.Jobs
	die func() error
}

func (d dyingJobs) InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error) {
	n, err := d.Jobs.InsertManyFastTx(ctx, tx, params)
	return n, errors.Join(err, d.die())
}

func newReader(t *testing.T, pool *pgxpool.Pool, events feed.Events, die func() error,
	tel *telemetry.Telemetry) *feed.Reader {
	t.Helper()
	client, err := jobs.Open(pool, &jobs.Work{}, clock.Fixed(now), tel)
	if err != nil {
		t.Fatal(err)
	}
	r, err := feed.New(feed.Config{
		Feed: "booking", Events: events, Subscribers: []feed.Subscriber{noteSubscriber{die}},
		Jobs:  dyingJobs{client, die},
		Store: store.New(pool), Clock: clock.Fixed(now), Telemetry: tel,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readNotedEvents returns the ids of the events for which jobs exist, in the order of insertion.
func readNotedEvents(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, _ := pool.Query(t.Context(), `SELECT args->>'event_id' FROM river_job ORDER BY id`)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (w *fakeFeed) collectIDs() []string {
	var ids []string
	for _, e := range w.events {
		ids = append(ids, e.ID.String())
	}
	return ids
}

// Four replicas read one feed. Each fails at random: before it has the page, before its jobs are
// inserted, and before the commit. The lock of the feed also expires while a reader is working, as for
// a slow reader.
func TestReaderInsertsEachJobOnceDespiteFailures(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	var deaths atomic.Int64
	die := func() error {
		if rand.IntN(6) == 0 {
			deaths.Add(1)
			return errors.New("died")
		}
		return nil
	}
	events := newFakeFeed(10_000)
	events.fail = die
	end := strconv.Itoa(len(events.events))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for cursor := ""; cursor != end; {
				for r, isAlive := newReader(t, pool, events, die, telemetry.Discard()),
					true; isAlive && cursor != end; {
					_, err := r.ReadPage(t.Context())
					isAlive = err == nil
					if err := pool.QueryRow(t.Context(),
						`SELECT coalesce(max(cursor), '') FROM feeds`).Scan(&cursor); err != nil {
						t.Error(err)
						return
					}
				}
				if _, err := pool.Exec(t.Context(), `UPDATE feeds SET reader_until = '-infinity'`); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(events.collectIDs(), readNotedEvents(t, pool)); diff != "" {
		t.Errorf("events and their jobs (-want +got):\n%s", diff)
	}
	if deaths.Load() == 0 {
		t.Error("no replica failed, so the test proves nothing")
	}
}

func TestFeedLockHasOneHolder(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	first, second := uuid.New(), uuid.New()
	records := store.New(pool)
	acquire := func(replica uuid.UUID) bool {
		t.Helper()
		progress, err := records.AcquireFeed(t.Context(), store.FeedLock{Feed: "booking", Replica: replica,
			Duration: time.Hour,
			Now:      now})
		if err != nil {
			t.Fatal(err)
		}
		return progress.IsLocked
	}
	if !acquire(first) || acquire(second) || !acquire(first) {
		t.Error("the first replica does not hold the lock alone")
	}
	change := store.CursorChange{Feed: "booking", Replica: second, To: "7", CaughtUp: now}
	storeNothing := func(context.Context, pgx.Tx) error { return nil }
	if isTaken, err := records.TakePage(t.Context(), change, storeNothing); isTaken || err != nil {
		t.Errorf("a replica without the lock changes the cursor: %v", err)
	}
	if err := records.ReleaseFeed(t.Context(), "booking", first); err != nil {
		t.Fatal(err)
	}
	if !acquire(second) {
		t.Error("a released lock is not acquired by the next replica")
	}
	if isTaken, err := records.TakePage(t.Context(), change, storeNothing); !isTaken || err != nil {
		t.Errorf("the holder of the lock does not change the cursor: %v", err)
	}
	if isTaken, err := records.TakePage(t.Context(), change, storeNothing); isTaken || err != nil {
		t.Errorf("a page is taken twice: %v", err)
	}
}

// A reader uses its copy of the progress for some seconds. If another replica has changed the cursor,
// or after an error, the reader reads the progress again.
func TestReaderRereadsLostFeed(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	events := newFakeFeed(17)
	all := events.events
	r := newReader(t, pool, events, func() error { return nil }, telemetry.Discard())
	r.SetExtendAfter(time.Hour) // so that the reader does not extend the lock, even if the test is slow
	readPage := func(there int, moved string) error {
		t.Helper()
		if moved != "" {
			if _, err := pool.Exec(t.Context(),
				`UPDATE feeds SET cursor = $1, reader = NULL, reader_until = '-infinity'`, moved); err != nil {
				t.Fatal(err)
			}
		}
		events.events = all[:there]
		_, err := r.ReadPage(t.Context())
		return err
	}
	expectJobs := func(want int, when string) {
		t.Helper()
		if n := len(readNotedEvents(t, pool)); n != want {
			t.Errorf("%s there are jobs of %d events, want %d", when, n, want)
		}
	}
	if err := readPage(10, ""); err != nil {
		t.Fatal(err)
	}
	expectJobs(10, "at first")
	if err := readPage(15, "12"); err != nil { // another replica takes two events while this one reads
		t.Fatal(err)
	}
	expectJobs(10, "after another replica has changed the cursor")
	if err := readPage(15, ""); err != nil {
		t.Fatal(err)
	}
	expectJobs(13, "after the lock was lost")
	events.fail = func() error { return errors.New("broken off") }
	if err := readPage(17, "16"); err == nil {
		t.Error("no error")
	}
	events.fail = nil
	if err := readPage(17, ""); err != nil {
		t.Fatal(err)
	}
	expectJobs(14, "after a failure")
}

func TestReaderReportsLostEvents(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	events := newFakeFeed(3)
	events.fail = func() error {
		return fault.New(fault.CursorExpired, "The cursor is too old.")
	}
	var lines strings.Builder
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	r := newReader(t, pool, events, func() error { return nil }, tel)
	if pause, err := r.ReadPage(t.Context()); err == nil || pause < time.Minute {
		t.Errorf("the pause is %v, the error %v", pause, err)
	}
	for _, want := range []string{"level=ERROR", "events were lost", "notifications resume-feed "} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%q is not logged: %s", want, lines.String())
		}
	}
	if got := readNotedEvents(t, pool); len(got) != 0 {
		t.Errorf("jobs: %v", got)
	}
	records := store.New(pool)
	if err := records.ResumeFeed(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(),
		"the feeds are "+r.Feed) {
		t.Errorf("an unknown feed: %v", err)
	}
	if err := records.ResumeFeed(t.Context(), r.Feed); err != nil {
		t.Fatal(err)
	}
	events.fail = nil
	if _, err := newReader(t, pool, events, func() error { return nil }, tel).ReadPage(t.Context()); err != nil {
		t.Errorf("after the feed is resumed: %v", err)
	}
}
