// Package feed follows the feeds of events of other services (lifecycle.md §1), and makes jobs of them.
//
// Taking a page of events is one transaction: the subscribers write what they keep and say which jobs are to be done, the jobs are
// inserted, and the cursor moves from where the page began. Whatever dies before the commit leaves nothing, and the page is
// read again; so each event leads to each of its jobs exactly once.
//
// One replica reads a feed at a time, the one that holds its row, so that the others do not ask for what they could not take. The
// guarantee does not rest on that: a page is taken only where the cursor is still where it was asked from.
package feed

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Events asks a service for events of its feed; *eventclient.Client is the one outside tests.
type Events interface {
	// Events returns up to limit events after the cursor, waiting for the first one for up to wait. Faults: cursor_expired where
	// the events after the cursor are no longer kept.
	Events(ctx context.Context, after string, limit int, wait time.Duration) (event.Page, error)
}

// Subscriber makes of events what is to be done.
type Subscriber interface {
	// Take writes, in the transaction that takes these events, what it keeps of them, and returns the jobs that they lead to. The
	// events of one subject come in their order. An error leaves all of them untaken, for all subscribers, until it is mended.
	Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error)
}

// Jobs inserts jobs; *jobs.Client is the one outside tests.
type Jobs interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// Config is what a [Reader] is made of.
type Config struct {
	Feed        string // the service whose feed it is
	Events      Events
	Subscribers []Subscriber
	Jobs        Jobs
	Store       *store.Store
	Clock       clock.Clock
	Telemetry   *telemetry.Telemetry
}

// Reader takes the events of one feed.
type Reader struct {
	Config
	replica  uuid.UUID
	at       store.Feed
	heldAt   time.Time     // when at was read, where this replica holds the feed by it; else zero
	until    time.Time     // as the last turn was caught up, where that is not written down; else zero
	anew     time.Duration // after which it holds the feed anew
	failures metric.Int64Counter
	attrs    metric.MeasurementOption
	lag      *lag
}

// New returns a reader, which is a replica of its own.
func New(cfg Config) (*Reader, error) {
	attrs := metric.WithAttributeSet(attribute.NewSet(attribute.String("feed", cfg.Feed)))
	lag, err := newLag(cfg.Telemetry, cfg.Clock, attrs)
	if err != nil {
		return nil, err
	}
	return &Reader{
		Config: cfg, replica: uuid.New(), anew: holdEvery, attrs: attrs, lag: lag,
		failures: cfg.Telemetry.Counter("slotmesh.notifications.feed.failures", "Turns of reading a feed of events that failed."),
	}, nil
}

const (
	pageEvents = 200 // that are taken in one transaction
	// AskWithin bounds one call.
	AskWithin = 5 * time.Second
	// heldFor is how long a replica holds a feed: longer than until it holds it anew and a turn.
	heldFor = 15 * time.Second
	// holdEvery is how long a replica reads before it holds the feed anew.
	holdEvery = 5 * time.Second
	// Pauses between turns. The feed is asked instead of having it wait for an event: a stop would have to wait with it, as a call to a
	// peer cannot be broken off.
	idle      = 500 * time.Millisecond // where everything was taken
	passive   = 2 * time.Second        // where another replica reads
	failed    = time.Second            // after a failure, twice as long each further time
	failedMax = 30 * time.Second       // at most
	expired   = time.Minute            // where events were lost, until somebody sets the cursor
)

// Run reads until ctx ends, and gives the feed up for other replicas then.
func (r *Reader) Run(ctx context.Context) error {
	again := failed
	for ctx.Err() == nil {
		pause, err := r.Turn(ctx)
		switch {
		case err == nil:
			again = failed
		case pause == 0:
			pause, again = again, min(2*again, failedMax)
		}
		if pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := r.Store.ReleaseFeed(leave, r.Feed, r.replica); err != nil {
		r.Telemetry.Logger.WarnContext(ctx, "a feed is not given up and rests until its hold ends", "feed", r.Feed, "error", err)
	}
	return nil
}

// Turn takes one page, where this replica holds the feed, and returns how long to wait until the next turn. What fails is logged
// and counted.
func (r *Reader) Turn(ctx context.Context) (time.Duration, error) {
	pause, err := r.turn(ctx)
	if err != nil {
		r.heldAt = time.Time{} // the feed is read anew: what failed may have been done
	}
	if err != nil && ctx.Err() == nil {
		r.failures.Add(ctx, 1, r.attrs)
		r.report(ctx, err)
	}
	return pause, err
}

// ResumeCommand is the command of the service that makes a reader go on after events were lost.
const ResumeCommand = "resume-feed"

// report says what stands in the way, and what to do about events that are gone.
func (r *Reader) report(ctx context.Context, err error) {
	if isExpired(err) {
		r.Telemetry.Logger.ErrorContext(ctx, "events were lost: the feed no longer keeps those after the cursor, so no message is sent about them. "+
			"To go on from the oldest that is kept, run: notifications "+ResumeCommand+" "+r.Feed+" (of one process: slotmesh-allinone "+ResumeCommand+" "+r.Feed+")", "feed", r.Feed, "error", err)
		return
	}
	r.Telemetry.Logger.WarnContext(ctx, "a feed of events is not read for now", "feed", r.Feed, "error", err)
}

func isExpired(err error) bool {
	return fault.Is(err, fault.CursorExpired)
}

func (r *Reader) turn(ctx context.Context) (time.Duration, error) {
	if err := r.hold(ctx); err != nil {
		return 0, err
	}
	if !r.at.Held {
		return passive, nil
	}
	page, err := r.Events.Events(ctx, r.at.Cursor, pageEvents, 0)
	switch {
	case isExpired(err):
		return expired, err
	case err != nil:
		return 0, err
	}
	until := r.Clock.Now() // everything until then was taken
	if len(page.Events) == 0 && page.Next == r.at.Cursor {
		r.until = until // the next hold writes it down
		r.lag.set(until)
		return idle, nil
	}
	pause := idle
	if n := len(page.Events); n == pageEvents {
		until, pause = page.Events[n-1].At, 0
	}
	taken, err := r.Store.TakePage(ctx, store.Move{Feed: r.Feed, Replica: r.replica, From: r.at.Cursor, To: page.Next, CaughtUp: until},
		func(ctx context.Context, tx pgx.Tx) error { return r.take(ctx, tx, page.Events) })
	if err != nil {
		return 0, err
	}
	if !taken {
		r.heldAt = time.Time{}
		return passive, nil
	}
	r.at.Cursor, r.until = page.Next, time.Time{}
	r.lag.set(until)
	return pause, nil
}

// hold has this replica hold the feed, or hold it on, and reads how far it was taken; not more often than it has to.
func (r *Reader) hold(ctx context.Context) error {
	if time.Since(r.heldAt) < r.anew {
		return nil
	}
	begun := time.Now() //nolint:forbidigo // measures
	at, err := r.Store.HoldFeed(ctx, store.Hold{Feed: r.Feed, Replica: r.replica, For: heldFor, CaughtUp: r.until, Now: r.Clock.Now()})
	if err != nil {
		return err
	}
	r.at, r.heldAt, r.until = at, time.Time{}, time.Time{}
	if at.Held {
		r.heldAt = begun
	}
	r.lag.set(at.CaughtUp)
	return nil
}

// take makes the jobs of a page.
func (r *Reader) take(ctx context.Context, tx pgx.Tx, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	var all []river.InsertManyParams
	for _, s := range r.Subscribers {
		made, err := s.Take(ctx, tx, events)
		if err != nil {
			return err
		}
		all = append(all, made...)
	}
	if len(all) == 0 {
		return nil
	}
	_, err := r.Jobs.InsertManyFastTx(ctx, tx, all)
	return err
}
