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
	syncInterval = 5 * time.Second
	syncPage     = 100 // maximum number of businesses in one query
)

// OfferSync is a job that updates orders of tickets and class bookings after a business publishes
// a new version of its offer. If a ticketed event has a new time, its orders get this time. If
// the offer no longer contains a ticketed event, the orders of this event are withdrawn. If a
// class session is cancelled or has another time, the bookings of the session are withdrawn.
//
// If the business chose it, the customers with future bookings at a place get a message about the new
// address of the place.
//
// The job records an event in the event log for each change. The notifications
// service reads the event log and sends the messages to customers.
type OfferSync struct {
	records    *store.Store
	businesses Businesses
	clock      clock.Clock
	tel        *telemetry.Telemetry
	orders     metric.Int64Counter
	bookings   metric.Int64Counter
}

// NewOfferSync returns the job.
func NewOfferSync(records *store.Store, businesses Businesses, c clock.Clock, tel *telemetry.Telemetry) *OfferSync {
	return &OfferSync{
		records: records, businesses: businesses, clock: c, tel: tel,
		orders: tel.Counter("slotmesh.tickets.followed",
			"Orders of tickets that were changed because their event was."),
		bookings: tel.Counter("slotmesh.bookings.followed",
			"Bookings that were changed because their class session or the address of their place was."),
	}
}

// Periodic returns the job that updates orders and bookings every [syncInterval]. If an update fails, the next run
// repeats it.
func (f *OfferSync) Periodic() periodic.Job {
	return periodic.Job{Every: syncInterval, Timeout: time.Minute,
		FailureMessage: "tickets do not follow their events for now", Do: f.RunOnce}
}

// RunOnce processes each business that has published a new offer. It applies the offer to the
// orders of tickets and the class bookings of the business. If the offer of one business
// cannot be applied, RunOnce continues with the other businesses. It returns the first error.
func (f *OfferSync) RunOnce(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	first := f.recordAddressChanges(ctx)
	for after := uuid.Nil; ; {
		list, err := f.records.PendingOfferUpdates(ctx, after, syncPage)
		if err != nil {
			return err
		}
		for _, u := range list {
			if err := f.apply(ctx, u); err != nil && first == nil {
				first = err
			}
			after = u.BusinessID
		}
		if len(list) < syncPage {
			return first
		}
	}
}

// recordAddressChanges records events about new addresses of places. If a run does not reach all
// places, or one fails, the next run continues.
func (f *OfferSync) recordAddressChanges(ctx context.Context) error {
	list, err := f.records.PendingAddressChanges(ctx, syncPage)
	if err != nil {
		return err
	}
	var first error
	for _, c := range list {
		n, err := f.records.RecordAddressChange(ctx, c, f.clock.Now())
		f.bookings.Add(ctx, int64(n))
		if err != nil && first == nil {
			first = err
		}
		if n > 0 {
			f.tel.Logger.InfoContext(ctx, "customers are notified of the new address of a place",
				"business_id", c.BusinessID.String(), "location_id", c.LocationID.String(), "bookings", n)
		}
	}
	return first
}

func (f *OfferSync) apply(ctx context.Context, u store.OfferUpdate) error {
	offer, err := f.businesses.Offer(ctx, u.BusinessID)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return f.records.MarkOfferApplied(ctx, u.BusinessID, u.Version)
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
		n, err := f.records.UpdateEventOrders(ctx, newEventState(offer, e, now))
		f.orders.Add(ctx, int64(n))
		if err != nil {
			return err
		}
		if n > 0 {
			f.tel.Logger.InfoContext(ctx, "tickets are updated to the new offer",
				"business_id", u.BusinessID.String(), "event", e.EventID.String(), "orders", n)
		}
	}
	if err := f.applySessions(ctx, offer, now); err != nil {
		return err
	}
	if !u.IsFinal {
		return nil
	}
	return f.records.MarkOfferApplied(ctx, u.BusinessID, u.Version)
}

// applySessions withdraws the bookings of class sessions that no longer take place at the booked
// time. If a session takes place at the booked time again, applySessions restores its bookings.
func (f *OfferSync) applySessions(ctx context.Context, offer *catalog.Snapshot, now time.Time) error {
	sessions, err := f.records.BookedSessions(ctx, offer.ID, now)
	if err != nil {
		return err
	}
	for _, of := range sessions {
		zone := timespan.Zone(of.Timezone, offer.Location())
		withdrawn := !offer.HoldsSession(of.ServiceID, of.SessionID, computeSpan(of, zone), zone)
		if withdrawn == of.Withdrawn {
			continue
		}
		n, err := f.records.UpdateSessionBookings(ctx, offer.ID, of, withdrawn, now)
		f.bookings.Add(ctx, int64(n))
		if err != nil {
			return err
		}
		if n > 0 {
			f.tel.Logger.InfoContext(ctx, "class bookings are updated to the new offer",
				"business_id", offer.ID.String(), "class_schedule_id", of.SessionID.String(), "bookings", n)
		}
	}
	return nil
}

// computeSpan returns the time of a class session. It computes the time from the local start and the current rules of
// the time zone. Therefore a change of these rules does not withdraw bookings: the class keeps its local time.
func computeSpan(of store.BookedSession, zone *time.Location) timespan.Span {
	clock := timespan.TimeOfDay(of.LocalStart.Hour()*60 + of.LocalStart.Minute())
	start := timespan.Instant(timespan.DateOf(of.LocalStart, time.UTC), clock, zone)
	return timespan.Span{Start: start, End: start + int64(of.EndsAt.Sub(of.StartsAt).Seconds())}
}

// newEventState returns the state of a ticketed event according to the given offer. It converts the
// local time of the event into instants. It uses the time zone in which the tickets were sold.
func newEventState(offer *catalog.Snapshot, of store.TicketedEvent, now time.Time) store.EventState {
	current := store.EventState{BusinessID: offer.ID, TicketedEvent: of, Now: now}
	e := offer.Event(of.EventID)
	if e == nil || !e.Active || !offer.Modules.Events {
		current.Withdrawn = true
		return current
	}
	zone := timespan.Zone(of.Timezone, offer.Location())
	current.LocalStart = toWallClock(e.Date, e.Start)
	current.StartsAt = time.Unix(timespan.Instant(e.Date, e.Start, zone), 0).UTC()
	current.EndsAt = time.Unix(computeEnd(e, zone), 0).UTC()
	return current
}
