// Package feed reads the event feeds of other services (lifecycle.md §1) and creates jobs from the events. Each event
// creates each of its jobs exactly once.
//
// The reader processes a page of events in one transaction: the subscribers write rows, their jobs are inserted, and
// the feed's cursor moves past the page. If a process dies before the commit, nothing is stored, and the page is read
// again.
//
// Only one replica at a time reads a feed: the replica that holds the lock in the feed's row. The lock only prevents
// useless requests by the other replicas. The guarantee "exactly once" does not depend on the lock: the transaction
// changes the cursor only if no other transaction has changed it since the page was requested.
package feed

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Events requests events from a service's feed. Its implementation is *eventclient.Client, except in tests.
type Events interface {
	// Events returns the events that follow the cursor in the argument `after`. The argument `limit` is their maximum
	// number. If there is no event yet, Events waits for the first one, at most for the duration `wait`. Fault:
	// cursor_expired if the feed has already deleted events that follow the cursor.
	Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error)
}

// Subscriber creates jobs from events.
type Subscriber interface {
	// Take writes the subscriber's rows in the transaction tx and returns the jobs that the events require. The events
	// of each subject are in order. If one subscriber returns an error, the transaction is rolled back for all
	// subscribers, and the page is retried until it succeeds.
	Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error)
}

// Jobs inserts jobs into River's queue. Its implementation is *jobs.Client, except in tests.
type Jobs interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// Config holds the dependencies and the feed of a [Reader].
type Config struct {
	Feed        string // name of the service whose feed is read
	Events      Events
	Subscribers []Subscriber
	Jobs        Jobs
	Store       *store.Store
	Clock       clock.Clock
	Telemetry   *telemetry.Telemetry
}

// Reader reads the events of one feed and creates jobs from them.
type Reader struct {
	Config
	replica     uuid.UUID
	progress    store.FeedProgress
	lockedAt    time.Time     // when this replica read the feed's progress; zero if the replica does not hold the lock
	caughtUp    time.Time     // all events until this time are processed; the feed's row does not contain this time yet
	extendAfter time.Duration // how long the reader uses the lock before it extends the lock
	failures    metric.Int64Counter
	attrs       metric.MeasurementOption
	lag         *lag
}

// New returns a reader of one feed. It creates a random ID for this replica, under which the reader holds the feed's
// lock.
func New(cfg Config) (*Reader, error) {
	attrs := metric.WithAttributeSet(attribute.NewSet(attribute.String("feed", cfg.Feed)))
	lag, err := newLag(cfg.Telemetry, cfg.Clock, attrs)
	if err != nil {
		return nil, err
	}
	return &Reader{
		Config: cfg, replica: uuid.New(), extendAfter: extendEvery, attrs: attrs, lag: lag,
		failures: cfg.Telemetry.Counter("slotmesh.notifications.feed.failures",
			"Failed reads of a feed of events."),
	}, nil
}

const (
	maxPageEvents = 200 // maximum number of events that one transaction processes
	// RequestTimeout limits one request to the feed.
	RequestTimeout = 5 * time.Second
	// lockDuration is the time after which the lock of a feed expires. lockDuration is longer than extendEvery plus the
	// time to read and store one page.
	lockDuration = 15 * time.Second
	// extendEvery is how long a replica reads a feed before it extends the feed's lock.
	extendEvery = 5 * time.Second
	// The pauses between two requests to a feed. The requests of the reader do not wait for an event: a stopping
	// process would have to wait for the end of such a request.
	idlePause       = 500 * time.Millisecond // after a page with fewer than maxPageEvents events
	passivePause    = 2 * time.Second        // while another replica holds the lock
	failurePause    = time.Second            // after the first failure; each further failure doubles the pause
	maxFailurePause = 30 * time.Second       // maximum pause after failures
	expiredPause    = time.Minute            // after events were lost, until an operator resets the cursor
)

// Run reads the feed until ctx ends, and then releases the feed's lock for other replicas.
func (r *Reader) Run(ctx context.Context) error {
	backoff := failurePause
	for ctx.Err() == nil {
		pause, err := r.ReadPage(ctx)
		switch {
		case err == nil:
			backoff = failurePause
		case pause == 0:
			pause, backoff = backoff, min(2*backoff, maxFailurePause)
		}
		if pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
	releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := r.Store.ReleaseFeed(releaseCtx, r.Feed, r.replica); err != nil {
		r.Telemetry.Logger.WarnContext(ctx, "the lock of a feed was not released; it expires later", "feed", r.Feed,
			"error", err)
	}
	return nil
}

// ReadPage processes one page of events if this replica holds the feed's lock. ReadPage returns the pause before the
// next call. ReadPage logs and counts its errors.
func (r *Reader) ReadPage(ctx context.Context) (time.Duration, error) {
	pause, err := r.readPage(ctx)
	if err != nil {
		r.lockedAt = time.Time{} // read the feed's row again: the failed transaction may have been committed
	}
	if err != nil && ctx.Err() == nil {
		r.failures.Add(ctx, 1, r.attrs)
		r.logFailure(ctx, err)
	}
	return pause, err
}

// ResumeCommand is the name of the service's command that resumes the reading of a feed after events were lost.
const ResumeCommand = "resume-feed"

// logFailure logs an error. If events were lost, the log line names the command that resumes the feed.
func (r *Reader) logFailure(ctx context.Context, err error) {
	if isExpired(err) {
		r.Telemetry.Logger.ErrorContext(ctx,
			"events were lost: the feed no longer contains the events after the cursor, so no message is sent about "+
				"them. "+
				"To continue with the oldest event in the feed, run: notifications "+ResumeCommand+" "+r.Feed+
				" (of one process: slotmesh-allinone "+ResumeCommand+" "+r.Feed+")", "feed", r.Feed, "error", err)
		return
	}
	r.Telemetry.Logger.WarnContext(ctx, "a feed of events could not be read; the next read retries", "feed", r.Feed,
		"error", err)
}

func isExpired(err error) bool {
	return fault.Is(err, fault.CursorExpired)
}

func (r *Reader) readPage(ctx context.Context) (time.Duration, error) {
	if err := r.acquireLock(ctx); err != nil {
		return 0, err
	}
	if !r.progress.IsLocked {
		return passivePause, nil
	}
	page, err := r.Events.Events(ctx, r.progress.Cursor, maxPageEvents, 0)
	switch {
	case isExpired(err):
		return expiredPause, err
	case err != nil:
		return 0, err
	}
	caughtUp := r.Clock.Now() // a page that is not full contains all events until this time
	if len(page.Events) == 0 && page.Next == r.progress.Cursor {
		r.caughtUp = caughtUp // the next acquireLock stores it
		r.lag.set(caughtUp)
		return idlePause, nil
	}
	pause := idlePause
	if n := len(page.Events); n == maxPageEvents {
		caughtUp, pause = page.Events[n-1].At, 0
	}
	isTaken, err := r.Store.TakePage(ctx, store.CursorChange{Feed: r.Feed, Replica: r.replica, From: r.progress.Cursor,
		To:       page.Next,
		CaughtUp: caughtUp},
		func(ctx context.Context, tx pgx.Tx) error { return r.take(ctx, tx, page.Events) })
	if err != nil {
		return 0, err
	}
	if !isTaken {
		r.lockedAt = time.Time{}
		return passivePause, nil
	}
	r.progress.Cursor, r.caughtUp = page.Next, time.Time{}
	r.lag.set(caughtUp)
	return pause, nil
}

// acquireLock acquires or extends the lock of the feed and reads the feed's progress. acquireLock does so at most once
// per extendEvery.
func (r *Reader) acquireLock(ctx context.Context) error {
	if time.Since(r.lockedAt) < r.extendAfter {
		return nil
	}
	start := time.Now() //nolint:forbidigo // measures
	progress, err := r.Store.AcquireFeed(ctx, store.FeedLock{Feed: r.Feed, Replica: r.replica, Duration: lockDuration,
		CaughtUp: r.caughtUp,
		Now:      r.Clock.Now()})
	if err != nil {
		return err
	}
	r.progress, r.lockedAt, r.caughtUp = progress, time.Time{}, time.Time{}
	if progress.IsLocked {
		r.lockedAt = start
	}
	r.lag.set(progress.CaughtUp)
	return nil
}

// take calls the subscribers with the events of a page and inserts the jobs that the subscribers return.
func (r *Reader) take(ctx context.Context, tx pgx.Tx, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	var jobs []river.InsertManyParams
	for _, s := range r.Subscribers {
		params, err := s.Take(ctx, tx, events)
		if err != nil {
			return err
		}
		jobs = append(jobs, params...)
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err := r.Jobs.InsertManyFastTx(ctx, tx, jobs)
	return err
}
