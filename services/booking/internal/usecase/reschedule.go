package usecase

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Reschedule describes the requested new time of a booking.
type Reschedule struct {
	Date            timespan.Date // the local date of the new start
	Time            timespan.TimeOfDay
	StaffID         *uuid.UUID // nil: the booking keeps its staff member if possible, see [Booker.Reschedule]
	ClassScheduleID *uuid.UUID // nil: the same class session if possible, otherwise the first with free seats
	Override        bool       // for the owner only: the new time may be outside working hours
	BoundsRefund    bool       // limits a later cancellation to the refund share that applies now; true for customers

	LocationID *uuid.UUID                // nil: the booking keeps its location
	Address    *bookings.CustomerAddress // the customer's address at the location; nil: the address of the booking

	keepsTime bool // only the location or the address changes; set by [Booker.Relocate] only
}

// Reschedule changes the time of a booking. It evaluates the new time with the given offer, or with a newer version
// if the given offer is stale. The new start may be any start that GET /slots would list if the booking's own
// time were free (lifecycle.md §3). If the booking already has the requested time, Reschedule changes nothing.
//
// The booking keeps its staff member if the member is free. If the member is not free, the
// booking gets the next member in Auto-Assign order. There is one exception: if the customer
// chose the staff member at the time of booking and now reschedules, the member does not change.
//
// If the actor in the argument `by` is a customer, the setting self_service of the business determines
// the deadline. Reschedule then also refuses if the business's account does not allow bookings.
//
// Faults: not_found; conflict if the booking can no longer be rescheduled; rate_limited if a customer
// reschedules too often; the faults of [Booker.Book] about a start. A fault is the answer to the
// caller. Nothing has changed, unless the fault is outcome_unknown. Any other error is internal.
func (b *Booker) Reschedule(ctx context.Context, offer *catalog.Snapshot, by actor.Actor, id uuid.UUID,
	to Reschedule) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	to.Override = to.Override && by.Kind == actor.Owner
	to.BoundsRefund = to.BoundsRefund || by.Kind != actor.Owner
	m := rescheduleRequest{Reschedule: to, isByCustomer: by.Kind == actor.Customer, isByOwner: by.Kind == actor.Owner}
	outcome := "moved"
	updated, err := sale.RetryChanged(offer, b.readOffer(ctx, offer.Slug),
		func(offer *catalog.Snapshot) (*store.Booking, error) {
			m.offer, m.now = offer, b.Clock.Now()
			e, unchanged, err := b.evaluateReschedule(ctx, &m, id)
			if unchanged != nil {
				outcome = "unchanged"
			}
			if unchanged != nil || err != nil {
				return unchanged, err
			}
			return writeFree(ctx, b, e, func(c availability.Assignment) (*store.Booking, error) {
				return b.writeReschedule(ctx, m, e, c)
			})
		})
	if err != nil {
		updated, outcome = &store.Booking{}, fault.Of(err).Kind.Code
	}
	b.reschedules.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
	return *updated, err
}

// Relocate changes the location of a booking. The time stays the same. Relocate evaluates the request like a
// request to reschedule, and the booking keeps its staff member if this member can be at the new location. The
// argument `address` is the customer's address, for the kind customer_address; nil: the address of the booking.
//
// Faults: those of [Booker.Reschedule].
func (b *Booker) Relocate(ctx context.Context, offer *catalog.Snapshot, by actor.Actor,
	id, location uuid.UUID, address *bookings.CustomerAddress) (store.Booking, error) {
	return b.Reschedule(ctx, offer, by, id, Reschedule{LocationID: &location, keepsTime: true, Address: address})
}

// rescheduleRequest is a request to reschedule a booking. It is evaluated with one version of the offer.
type rescheduleRequest struct {
	Reschedule
	offer        *catalog.Snapshot
	booked       store.Booking // the booking before the change
	isByCustomer bool
	isByOwner    bool // the owner reschedules: notice, advance limit and grid do not apply
	now          time.Time
}

// evaluateReschedule reads the booking and the occupied time, and asks availability for assignments
// at the new time. If the booking already has the requested time, staff member and session,
// evaluateReschedule returns the booking instead. Errors: [sale.ErrChanged] if the offer has changed.
func (b *Booker) evaluateReschedule(ctx context.Context, m *rescheduleRequest,
	id uuid.UUID) (evaluation, *store.Booking, error) {
	booked, err := b.Bookings.Booking(ctx, m.offer.ID, id)
	if err != nil {
		return evaluation{}, nil, toBookingFault(err)
	}
	m.booked = booked
	if err := m.check(booked); err != nil {
		return evaluation{}, nil, err
	}
	if err := m.keepTime(booked); err != nil {
		return evaluation{}, nil, err
	}
	q, err := m.newQuestion(ctx, booked)
	if err != nil {
		return evaluation{}, nil, err
	}
	if m.isUnchanged(booked) {
		return evaluation{}, &booked, nil
	}
	snapshot, err := b.readSnapshot(ctx, q, nil)
	if err != nil {
		return evaluation{}, nil, err
	}
	slots, err := b.Availability.Bookable(ctx, q.newBookableRequest(snapshot.Occupied))
	assignments, err := q.selectAssignments(slots, err)
	if err != nil {
		return evaluation{}, nil, err
	}
	sortByPreference(assignments, booked, snapshot.OwnResources)
	e := evaluation{question: q, assignments: assignments}
	if m.isByOwner {
		e.warnings = q.newWarnings(slots.Warnings)
	}
	return e, nil, nil
}

// writeReschedule stores the booking with the new assignment `c`. Errors: [store.ErrOccupied] if the
// time is occupied; [sale.ErrChanged] if the booking or the offer has changed. Fault: rate_limited.
func (b *Booker) writeReschedule(ctx context.Context, m rescheduleRequest, e evaluation,
	c availability.Assignment) (*store.Booking, error) {
	r := m.newReschedule(m.booked, e.question, c)
	if r.Location = e.newLocation(c, b.Links); r.Location != nil {
		r.ChangeMinutes = e.offer.Bookings.LocationChangeMinutes
	}
	r.Address = e.addressAt(r.Location)
	had := m.booked.Location
	if had != nil && r.Location != nil && had.ID == r.Location.ID && had.Kind == r.Location.Kind {
		r.Location = had // the customer already has its link
	}
	updated, err := b.Bookings.Reschedule(ctx, r)
	var tooMany *store.TooManyReschedulesError
	switch {
	case errors.As(err, &tooMany):
		err = newTooManyReschedulesFault(tooMany.RetryAfter)
	case errors.Is(err, store.ErrChanged), errors.Is(err, store.ErrOfferChanged):
		err = sale.ErrChanged
	default:
		err = toBookingFault(err)
	}
	updated.Warnings = e.warnings
	return &updated, err
}

// check refuses to reschedule a booking whose status does not allow it. If a customer reschedules,
// check also refuses if the business's account does not allow bookings, or if the deadline has passed.
func (m rescheduleRequest) check(b store.Booking) error {
	if !slices.Contains(state.UpcomingStates(), b.Status) {
		return fault.Newf(fault.Conflict, "The booking is %s; one that is %s can be rescheduled.", b.Status,
			joinStates(state.UpcomingStates()))
	}
	if !m.isByCustomer {
		return nil
	}
	if err := m.offer.CheckAccount(false, m.now); err != nil {
		return err
	}
	hours := m.offer.SelfService.RescheduleUntilHours
	if hours == nil {
		return fault.New(fault.Conflict,
			"Customers of this business do not reschedule bookings themselves; ask the business.")
	}
	if m.now.After(b.StartsAt.Add(-time.Duration(*hours) * time.Hour)) {
		return fault.Newf(fault.Conflict,
			"This booking can be rescheduled until %d hours before its start, and not any more; ask the business.", *hours)
	}
	return nil
}

// newTooManyReschedulesFault returns a fault with code rate_limited for a customer who reschedules a booking too often.
func newTooManyReschedulesFault(retryAfter time.Duration) error {
	f := fault.Newf(fault.RateLimited,
		"A customer can move a booking %d times an hour; try again later or ask the business.",
		store.MaxCustomerReschedules)
	f.RetryAfter = retryAfter
	return f
}

// isUnchanged reports whether the booking already has the requested time, staff member and session.
func (m rescheduleRequest) isUnchanged(b store.Booking) bool {
	same := func(wanted, had *uuid.UUID) bool { return wanted == nil || had != nil && *wanted == *had }
	return m.keepsPlace(b) && timespan.Instant(m.Date, m.Time, m.offer.Location()) == b.StartsAt.Unix() &&
		same(m.StaffID, b.StaffID) && same(m.ClassScheduleID, b.SessionID)
}

// keepsPlace reports whether the booking already has the requested location and address.
func (m rescheduleRequest) keepsPlace(b store.Booking) bool {
	return (m.LocationID == nil || b.Location != nil && b.Location.ID == *m.LocationID) && m.keepsAddress(b)
}

// keepsAddress reports whether the booking already has the requested address, or needs none at its location.
func (m rescheduleRequest) keepsAddress(b store.Booking) bool {
	switch {
	case m.Address == nil:
		return true
	case b.Customer.Address != nil:
		return *m.Address == *b.Customer.Address
	case b.Location == nil:
		return true
	}
	l := m.offer.FindLocation(b.Location.ID)
	return l == nil || l.Kind != catalog.KindCustomerAddress
}

// newQuestion returns the question to availability: the booked services at the new time. Faults:
// conflict if the offer no longer contains the services as they were booked; invalid_parameter.
func (m rescheduleRequest) newQuestion(ctx context.Context, b store.Booking) (question, error) {
	r := &request.Request{
		Date: m.Date, Time: m.Time, StaffID: m.StaffID, ClassScheduleID: m.ClassScheduleID, PartySize: b.PartySize,
		IsPackage: b.IsPackage, StaffingMode: b.StaffingMode, Variants: map[uuid.UUID]uuid.UUID{},
		Override:     m.isByOwner,
		OutsideHours: m.Override,
	}
	if m.isByCustomer && b.StaffRequested && r.StaffID == nil {
		r.StaffID = b.StaffID
	}
	for _, s := range b.Services {
		r.ServiceIDs = append(r.ServiceIDs, s.ID)
		if s.VariantID != uuid.Nil {
			r.Variants[s.ID] = s.VariantID
		}
	}
	services, err := m.offer.Appointment(r.ServiceIDs, r.Variants)
	if err != nil || services[0].IsClass() != (b.SessionID != nil) {
		return question{}, fault.Newf(fault.Conflict,
			"%s is not offered any more as it was booked, so the booking cannot be rescheduled.", b.Services[0].Name)
	}
	if err := checkClassSession(r, services); err != nil {
		return question{}, err
	}
	at, err := m.choosePlace(ctx, b, services)
	if err != nil {
		return question{}, err
	}
	return question{offer: m.offer, request: r, services: services, now: m.now, except: b.ID, place: at}, nil
}

// sortByPreference sorts the assignments so that the first assignment changes the booking as little as possible. An
// assignment with the booking's session comes first, then one with the booking's staff member, then one with most of
// the booking's other resources. The argument `held` contains the ids of the resources that the booking occupies now.
func sortByPreference(assignments []availability.Assignment, b store.Booking, held []uuid.UUID) {
	kept := func(c availability.Assignment) int {
		n := 0
		for _, p := range c.Parts {
			if slices.Contains(held, p.Resource.ID) {
				n++
			}
		}
		const most = 1 << 10 // more than the number of parts
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

// newReschedule returns the booking with its new assignment. The names and prices
// of the services stay unchanged. The durations of the services are those of the
// current offer, because availability checked the new time for these durations.
func (m rescheduleRequest) newReschedule(b store.Booking, q question, c availability.Assignment) store.Reschedule {
	start, end, loc := time.Unix(c.During.Start, 0), time.Unix(c.During.End, 0), q.offer.Location()
	r := store.Reschedule{
		BusinessID: q.offer.ID, ID: b.ID, Sequence: b.Sequence, OfferVersion: q.offer.Version, Now: q.now,
		StartsAt: start, EndsAt: end, LocalStart: store.WallClock(start, loc), LocalEnd: store.WallClock(end, loc),
		Timezone: q.offer.Timezone,
		Services: slices.Clone(b.Services), StaffID: c.StaffID, StaffName: q.staffName(c), PartySize: b.PartySize,
		Parts:        c.Parts,
		IsByCustomer: m.isByCustomer,
		IsRelocation: !m.isByCustomer && start.Equal(b.StartsAt) && !m.keepsPlace(b),
	}
	for i := range r.Services {
		r.Services[i].DurationMinutes, r.Services[i].StaffID = q.services[i].DurationMinutes, findPerformer(c, i)
	}
	sameMember := b.StaffID != nil && c.StaffID != nil && *b.StaffID == *c.StaffID
	r.StaffRequested = m.isByCustomer && m.StaffID != nil || b.StaffRequested && sameMember
	if c.Session != nil {
		r.SessionID, r.Capacity = &c.Session.ID, c.Session.Capacity
	}
	if m.BoundsRefund && b.Payment != nil {
		bounded := b.Payment.Policy.Limit(b.Payment.Policy.Percent(b.CreatedAt, b.StartsAt, q.now))
		r.Policy = &bounded
	}
	return r
}
