package usecase

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Reschedule is where a booking is to be moved.
type Reschedule struct {
	Date            timespan.Date // the calendar date of the new start
	Time            timespan.TimeOfDay
	StaffID         *uuid.UUID // nil: the same member if free, see [Booker.Reschedule]
	ClassScheduleID *uuid.UUID // nil: the same session if it happens then and has seats, else the first that has
	Override        bool       // the owner's: also outside working hours
	BoundsRefund    bool       // a later refund by policy is at most the share of now; always so when a customer moves
}

// Reschedule moves a booking, as this offer of its business allows: bookable is what /slots would list with the booking's own time
// taken as free (lifecycle.md §3). It stays with its member where that one is free. Else another one takes it, in Auto-Assign order,
// unless it is the customer who moves it and who had asked for the member. A booking that is there already stays as it is.
//
// Where by is a customer, the business's self_service says until when, and an account that takes no bookings refuses.
//
// What Reschedule returns as a fault is the answer to the caller, and but for outcome_unknown nothing is changed then: not_found, conflict
// where the booking cannot be moved any more, rate_limited for a customer who moves it too often, those of [Booker.Book] that say something of a start; any other error is internal.
func (b *Booker) Reschedule(ctx context.Context, offer *catalog.Offer, by actor.Actor, id uuid.UUID, to Reschedule) (store.Booking, error) {
	to.Override = to.Override && by.Kind == actor.Owner
	to.BoundsRefund = to.BoundsRefund || by.Kind != actor.Owner
	moved, err := b.decideMove(actor.With(ctx, by), offer, id, move{
		Reschedule: to, byCustomer: by.Kind == actor.Customer, byOwner: by.Kind == actor.Owner,
	})
	outcome := "moved"
	switch {
	case errors.Is(err, errStays):
		outcome, err = "unchanged", nil
	case err != nil:
		moved, outcome = store.Booking{}, fault.Of(err).Kind.Code
	}
	b.moves.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
	return moved, err
}

// decideMove asks and writes until the booking is moved or that is refused.
func (b *Booker) decideMove(ctx context.Context, offer *catalog.Offer, id uuid.UUID, m move) (store.Booking, error) {
	for range maxRounds {
		m.offer, m.now = offer, b.Clock.Now()
		moved, err := b.reschedule(ctx, m, id)
		if !errors.Is(err, errAgain) {
			return moved, err
		}
		if offer, err = b.Offers.Fresh(ctx, offer.Slug); err != nil {
			return store.Booking{}, Unverified(err)
		}
	}
	return store.Booking{}, Unverified(errAgain)
}

// errStays says that a booking is where it is to be moved, and comes with the booking.
var errStays = errors.New("the booking is there already")

// move is one decision about a move, on one offer.
type move struct {
	Reschedule
	offer      *catalog.Offer
	byCustomer bool
	byOwner    bool // whom notice, advance limit and grid do not bind
	now        time.Time
}

// reschedule is one decision on one reading of the tables. It returns [errAgain] when what it was made on has changed.
func (b *Booker) reschedule(ctx context.Context, m move, id uuid.UUID) (store.Booking, error) {
	booked, err := b.Bookings.Booking(ctx, m.offer.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		return booked, fault.New(fault.NotFound, "This business has no such booking.")
	}
	if err != nil {
		return booked, err
	}
	if err := m.check(booked); err != nil {
		return booked, err
	}
	q, err := m.question(booked)
	if err != nil {
		return booked, err
	}
	if m.stays(booked) {
		return booked, errStays
	}
	snapshot, err := b.snapshot(ctx, q, nil)
	if err != nil {
		return booked, Unverified(err)
	}
	slots, err := b.Availability.Bookable(ctx, q.bookable(snapshot.Occupied))
	assignments, err := q.fitting(slots, err)
	if err != nil {
		return booked, err
	}
	prefer(assignments, booked, snapshot.Held)
	var warnings []booking.Warning
	if m.byOwner {
		warnings = q.warnings(slots.Warnings)
	}
	return take(ctx, b, q, assignments, func(c availability.Assignment) (store.Booking, error) {
		moved, err := b.Bookings.Reschedule(ctx, m.rescheduled(booked, q, c))
		var tooMany *store.TooManyMovesError
		if errors.As(err, &tooMany) {
			return moved, tooManyMoves(tooMany.RetryAfter)
		}
		if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrOfferChanged) {
			err = errAgain
		}
		moved.Warnings = warnings
		return moved, err
	})
}

// check refuses a booking that cannot be moved any more, and a customer who comes too late.
func (m move) check(b store.Booking) error {
	if !slices.Contains(state.Ahead(), b.Status) {
		return fault.Newf(fault.Conflict, "The booking is %s; one that is %s can be moved.", b.Status, either(state.Ahead()))
	}
	if !m.byCustomer {
		return nil
	}
	if err := m.offer.CheckAccount(false, m.now); err != nil {
		return err
	}
	hours := m.offer.SelfService.RescheduleUntilHours
	if hours == nil {
		return fault.New(fault.Conflict, "Customers of this business do not move bookings themselves; ask the business.")
	}
	if m.now.After(b.StartsAt.Add(-time.Duration(*hours) * time.Hour)) {
		return fault.Newf(fault.Conflict, "This booking can be moved until %d hours before its start, and not any more; ask the business.", *hours)
	}
	return nil
}

// tooManyMoves is the fault of a customer who moves a booking to and fro.
func tooManyMoves(retryAfter time.Duration) error {
	f := fault.Newf(fault.RateLimited, "A customer can move a booking %d times an hour; try again later or ask the business.", store.MaxCustomerMoves)
	f.RetryAfter = retryAfter
	return f
}

// stays reports whether the booking is where it is to be moved.
func (m move) stays(b store.Booking) bool {
	same := func(wanted, had *uuid.UUID) bool { return wanted == nil || had != nil && *wanted == *had }
	return timespan.Instant(m.Date, m.Time, m.offer.Location()) == b.StartsAt.Unix() &&
		same(m.StaffID, b.StaffID) && same(m.ClassScheduleID, b.SessionID)
}

// question asks for the same as was booked, at the new time. Its faults are conflict where that is not offered any more, and
// invalid_parameter.
func (m move) question(b store.Booking) (question, error) {
	r := &request.Request{
		Date: m.Date, Time: m.Time, StaffID: m.StaffID, ClassScheduleID: m.ClassScheduleID, PartySize: b.PartySize,
		IsPackage: b.IsPackage, StaffingMode: b.StaffingMode, Variants: map[uuid.UUID]uuid.UUID{}, Override: m.byOwner, OutsideHours: m.Override,
	}
	if m.byCustomer && b.StaffRequested && r.StaffID == nil {
		r.StaffID = b.StaffID
	}
	for _, s := range b.Services {
		r.ServiceIDs = append(r.ServiceIDs, s.ID)
		if s.VariantID != uuid.Nil {
			r.Variants[s.ID] = s.VariantID
		}
	}
	services, err := m.offer.Appointment(r.ServiceIDs, r.Variants)
	if err != nil || services[0].Class() != (b.SessionID != nil) {
		return question{}, fault.Newf(fault.Conflict, "%s is not offered any more as it was booked, so the booking cannot be moved.", b.Services[0].Name)
	}
	if err := checkClassSession(r, services); err != nil {
		return question{}, err
	}
	return question{offer: m.offer, request: r, services: services, now: m.now, moving: b.ID}, nil
}

// prefer puts first what a booking had: its session, its member, and then what holds most of what it held.
func prefer(assignments []availability.Assignment, b store.Booking, held []uuid.UUID) {
	kept := func(c availability.Assignment) int {
		n := 0
		for _, p := range c.Parts {
			if slices.Contains(held, p.Resource.ID) {
				n++
			}
		}
		const most = 1 << 10 // more than there are parts
		if c.StaffID != nil && b.StaffID != nil && *c.StaffID == *b.StaffID {
			n += most
		}
		if c.Session != nil && b.SessionID != nil && c.Session.ID == *b.SessionID {
			n += 2 * most
		}
		return n
	}
	slices.SortStableFunc(assignments, func(x, y availability.Assignment) int { return kept(y) - kept(x) })
}

// rescheduled is the booking as an assignment serves it. Names and prices stay as they were sold; its services last as long as the
// offer makes them now, which is what was found to be free.
func (m move) rescheduled(b store.Booking, q question, c availability.Assignment) store.Reschedule {
	start, end, loc := time.Unix(c.During.Start, 0), time.Unix(c.During.End, 0), q.offer.Location()
	r := store.Reschedule{
		BusinessID: q.offer.ID, ID: b.ID, Sequence: b.Sequence, OfferVersion: q.offer.Version, Now: q.now,
		StartsAt: start, EndsAt: end, LocalStart: store.WallClock(start, loc), LocalEnd: store.WallClock(end, loc), Timezone: q.offer.Timezone,
		Services: slices.Clone(b.Services), StaffID: c.StaffID, StaffName: q.staffName(c), PartySize: b.PartySize, Parts: c.Parts,
		ByCustomer: m.byCustomer,
	}
	for i := range r.Services {
		r.Services[i].DurationMinutes, r.Services[i].StaffID = q.services[i].DurationMinutes, performer(c, i)
	}
	sameMember := b.StaffID != nil && c.StaffID != nil && *b.StaffID == *c.StaffID
	r.StaffRequested = m.byCustomer && m.StaffID != nil || b.StaffRequested && sameMember
	if c.Session != nil {
		r.SessionID, r.Capacity = &c.Session.ID, c.Session.Capacity
	}
	if m.BoundsRefund && b.Payment != nil {
		bounded := b.Payment.Policy.Bounded(b.Payment.Policy.Percent(b.CreatedAt, b.StartsAt, q.now))
		r.Policy = &bounded
	}
	return r
}
