package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const (
	followEvery = 5 * time.Second
	followPage  = 100 // maximum number of businesses in one query
)

// Followers is a job that updates orders of tickets and class bookings after a business
// publishes a new version of its offer. An event's new time becomes the time of the event's
// orders. If the offer no longer contains an event, the orders of the event are withdrawn. If
// a class session is cancelled or has another time, the bookings of the session are withdrawn.
//
// The job records an event in the event log for each change. The event log causes the messages to customers.
type Followers struct {
	records    *store.Store
	businesses Businesses
	alone      func(context.Context, func(context.Context) error) error
	clock      clock.Clock
	tel        *telemetry.Telemetry
	orders     metric.Int64Counter
	bookings   metric.Int64Counter
}

// NewFollowers returns the job. The argument `alone` is a function that
// runs another function, unless another replica is running the job.
func NewFollowers(
	records *store.Store, businesses Businesses, alone func(context.Context, func(context.Context) error) error,
	c clock.Clock,
	tel *telemetry.Telemetry,
) *Followers {
	return &Followers{
		records: records, businesses: businesses, alone: alone, clock: c, tel: tel,
		orders: tel.Counter("slotmesh.tickets.followed",
			"Orders of tickets that were changed because their event was."),
		bookings: tel.Counter("slotmesh.bookings.followed",
			"Bookings that were changed because their class session was."),
	}
}

// Run updates orders and bookings until ctx ends. If an update fails, the next run repeats it.
func (f *Followers) Run(ctx context.Context) error {
	return periodic.Job{
		Every: followEvery, Timeout: time.Minute, FailureMessage: "tickets do not follow their events for now",
		Do: func(ctx context.Context) error { return f.alone(ctx, f.Once) },
	}.Run(ctx, f.tel.Logger)
}

// Once processes each business that has published a new offer. It applies the offer
// to the orders of tickets and the class bookings of the business. If this fails for
// a business, Once continues with the other businesses. It returns the first error.
func (f *Followers) Once(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var first error
	for after := uuid.Nil; ; {
		list, err := f.records.Unfollowed(ctx, after, followPage)
		if err != nil {
			return err
		}
		for _, u := range list {
			if err := f.follow(ctx, u); err != nil && first == nil {
				first = err
			}
			after = u.BusinessID
		}
		if len(list) < followPage {
			return first
		}
	}
}

func (f *Followers) follow(ctx context.Context, u store.Unfollowed) error {
	offer, err := f.businesses.Offer(ctx, u.BusinessID)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return f.records.Followed(ctx, u.BusinessID, u.Version)
	case err != nil:
		return err
	case offer.Version < u.Version:
		return nil // offer is stale; the next run reads it again
	}
	now := f.clock.Now()
	events, err := f.records.TicketedEvents(ctx, u.BusinessID, now)
	if err != nil {
		return err
	}
	for _, e := range events {
		n, err := f.records.FollowEvent(ctx, eventNow(offer, e, now))
		f.orders.Add(ctx, int64(n))
		if err != nil {
			return err
		}
		if n > 0 {
			f.tel.Logger.InfoContext(ctx, "tickets follow their event",
				"business_id", u.BusinessID.String(), "event", e.EventID.String(), "orders", n)
		}
	}
	if err := f.followSessions(ctx, offer, now); err != nil {
		return err
	}
	if !u.Settled {
		return nil
	}
	return f.records.Followed(ctx, u.BusinessID, u.Version)
}

// followSessions withdraws the bookings of class sessions that no longer take place at the booked
// time. If a session takes place at the booked time again, followSessions restores its bookings.
func (f *Followers) followSessions(ctx context.Context, offer *catalog.Snapshot, now time.Time) error {
	sessions, err := f.records.BookedSessions(ctx, offer.ID, now)
	if err != nil {
		return err
	}
	for _, of := range sessions {
		zone := timespan.Zone(of.Timezone, offer.Location())
		withdrawn := !offer.HoldsSession(of.ServiceID, of.SessionID, during(of, zone), zone)
		if withdrawn == of.Withdrawn {
			continue
		}
		n, err := f.records.FollowSession(ctx, offer.ID, of, withdrawn, now)
		f.bookings.Add(ctx, int64(n))
		if err != nil {
			return err
		}
		if n > 0 {
			f.tel.Logger.InfoContext(ctx, "bookings follow their class session",
				"business_id", offer.ID.String(), "class_schedule_id", of.SessionID.String(), "bookings", n)
		}
	}
	return nil
}

// during returns the time of a class session. It computes the time from the local start, by the current rules of
// the time zone. Therefore a change of these rules does not withdraw bookings: the class keeps its local time.
func during(of store.BookedSession, zone *time.Location) timespan.Span {
	clock := timespan.TimeOfDay(of.LocalStart.Hour()*60 + of.LocalStart.Minute())
	start := timespan.Instant(timespan.DateOf(of.LocalStart, time.UTC), clock, zone)
	return timespan.Span{Start: start, End: start + int64(of.EndsAt.Sub(of.StartsAt).Seconds())}
}

// eventNow returns the state of a ticketed event by the current offer. It converts the
// local time of the event into instants, by the time zone in which the tickets were sold.
func eventNow(offer *catalog.Snapshot, of store.TicketedEvent, now time.Time) store.EventNow {
	shown := store.EventNow{BusinessID: offer.ID, TicketedEvent: of, Now: now}
	e := offer.Event(of.EventID)
	if e == nil || !e.Active || !offer.Modules.Events {
		shown.Withdrawn = true
		return shown
	}
	zone := timespan.Zone(of.Timezone, offer.Location())
	shown.LocalStart = wallClock(e.Date, e.Start)
	shown.StartsAt = time.Unix(timespan.Instant(e.Date, e.Start, zone), 0).UTC()
	shown.EndsAt = time.Unix(endOf(e, zone), 0).UTC()
	return shown
}
