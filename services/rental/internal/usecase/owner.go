// Package usecase implements what owners and customers do with reservations: it
// reserves units of rentals, and changes and lists reservations. If a method returns
// a fault, the fault is the API's answer to the caller. Any other error is internal.
package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Offers returns the offers of businesses. Fault: business_not_found.
// Any other error means that the offer could not be read.
type Offers interface {
	// Get returns an offer that is at most a few seconds old. If the catalog service does not answer, Get returns the
	// last offer that was read.
	Get(ctx context.Context, slug string) (*catalog.Snapshot, error)
	// Fresh asks the catalog service for the current offer and returns this offer.
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Reservations is the part of the store that an [Owner] uses; [store.Store] documents its
// methods. A write with an Idempotency-Key in its context happens only once for each key.
type Reservations interface {
	CancellableReservations
	Reserve(ctx context.Context, r store.NewReservation,
		fits func(map[uuid.UUID][]occupancy.Reservation) bool) (store.Reservation, error)
	ApplyTransition(ctx context.Context, businessID, id uuid.UUID, t state.Transition,
		now time.Time) (store.Reservation, error)
	PickUp(ctx context.Context, businessID, id uuid.UUID, now time.Time,
		assign func(store.Reservation, map[uuid.UUID]store.HandedOut) ([]store.Unit, error)) (store.Reservation, error)
	MarkPaymentOpen(ctx context.Context, businessID, id uuid.UUID, opened booking.PaymentState,
		now time.Time) (store.Reservation,
		error)
	Abandon(ctx context.Context, businessID, id, write uuid.UUID, now time.Time) error
	DeleteIdempotencyResult(ctx context.Context, businessID, write, id uuid.UUID) error
	CountAhead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error)
}

var _ Reservations = (*store.Store)(nil)

// Owner implements the actions of a business's owner.
type Owner struct {
	// AbandonTimeout is the timeout for the cancellation of a reservation whose payment could not be
	// opened. The cancellation may continue after the deadline of the request. NewOwner sets a default.
	AbandonTimeout time.Duration

	offers       Offers
	reservations Reservations
	prices       Prices
	payments     Payments
	openTimeout  time.Duration
	links        *link.Links
	clock        clock.Clock
	log          *slog.Logger
	attempts     metric.Int64Counter
}

// NewOwner returns an Owner. The argument `requestTimeout` is the maximum duration of a request. A reservation is
// cancelled if its payment has not been stored as open within this duration plus a margin. The margin is necessary,
// because the clocks of replicas differ.
func NewOwner(offers Offers, reservations Reservations, prices Prices, payments Payments, links *link.Links,
	requestTimeout time.Duration, now clock.Clock, tel *telemetry.Telemetry) *Owner {
	const margin = 5 * time.Second
	return &Owner{
		offers: offers, reservations: reservations, prices: prices, payments: payments,
		openTimeout: requestTimeout + margin, links: links, clock: now,
		AbandonTimeout: 2 * time.Second,
		log:            tel.Logger,
		attempts:       tel.Counter("slotmesh.rental.reservations", "Attempts to reserve by outcome."),
	}
}

// Request is a request to reserve units of a rental for a customer.
type Request struct {
	RentalID      uuid.UUID
	Extras        []Extra
	CustomerName  string
	CustomerEmail *string
	CustomerPhone *string
	FormData      map[string]any // answers to the business's own questions
	Locale        string         // the locale that the customer's request names, or ""
	PaymentChoice string         // one of the payment modes of package catalog, or ""
	Period
}

// Reserve reserves units of a rental and of its extras: all of them or none. Both owners and customers can reserve only
// free units. Reserve counts free units in the same way as the calendars. An owner may also reserve in the past and
// beyond the advance limit. A reservation from the booking page must pass checkCustomerRules and gets the current
// price. The customer of such a reservation pays online if the business requires online payment.
//
// Faults: business_not_found; rental_not_found; invalid_parameter for times that the rental does not
// allow; conflict if too few units are free; the faults of checkCustomerRules; too_many_open_bookings;
// availability_unverified if the price or the customer's open bookings cannot be determined;
// payment_unavailable. If the actor is neither the page nor the owner: source_forbidden.
func (o *Owner) Reserve(ctx context.Context, by actor.Actor, slug string, req Request) (ReserveResult, error) {
	if by.Kind != actor.Page && by.Kind != actor.Owner {
		return ReserveResult{}, fault.New(fault.SourceForbidden, "Reservations are made on the booking page or by "+
			"the owner.")
	}
	ctx = actor.With(ctx, by)
	read := func() (*catalog.Snapshot, error) { return o.offers.Fresh(ctx, slug) }
	return sale.RetryChanged(nil, read, func(offer *catalog.Snapshot) (ReserveResult, error) {
		return o.attemptReserve(ctx, by, offer, req)
	})
}

// attemptReserve makes one attempt to reserve, based on one version of the
// offer. It returns [sale.ErrChanged] if the caller must repeat the attempt.
func (o *Owner) attemptReserve(ctx context.Context, by actor.Actor, offer *catalog.Snapshot,
	req Request) (ReserveResult, error) {
	lines, err := newLines(offer, req)
	if err != nil {
		return ReserveResult{}, err
	}
	r := newReservation(offer, req, lines, o.clock.Now())
	r.LinkHash = o.links.Hash(event.Reservation, r.ID)
	if by.Kind == actor.Owner {
		r.Warnings = findWarnings(offer, r)
	}
	if by.Kind == actor.Page {
		r.IsCounted = true
		if err := o.prepareForCustomer(ctx, offer, lines, req, &r); err != nil {
			return ReserveResult{}, err
		}
	}
	if r.FormData, err = validateAnswers(offer, by, req, lines); err != nil {
		return ReserveResult{}, err
	}
	reservation, err := o.writeCounted(ctx, offer, lines, r)
	switch {
	case err != nil || reservation.Status != state.Pending:
		return ReserveResult{Reservation: reservation}, err
	case reservation.ID != r.ID:
		return o.answerPaidRetry(ctx, offer.ID, reservation)
	}
	return o.openPayment(ctx, offer, r)
}

// findWarnings returns the rules for customers that a reservation by the owner breaks. The owner may break these rules.
func findWarnings(offer *catalog.Snapshot, r store.NewReservation) []booking.Warning {
	if IsHandedOver(offer, store.Reservation{RentalID: r.RentalID, Dates: r.Dates, Hours: r.Hours}) {
		return nil
	}
	return []booking.Warning{{Code: fault.Closed.Code, Message: "Pick-up or return is outside opening hours."}}
}

// prepareForCustomer checks a reservation from the booking page. It sets the price
// of the reservation `r` and, if the customer pays online, the payment.
func (o *Owner) prepareForCustomer(ctx context.Context, offer *catalog.Snapshot, lines []line, req Request,
	r *store.NewReservation) error {
	if err := checkCustomerRules(offer, lines, req, r.Now); err != nil {
		return err
	}
	due, err := o.price(ctx, offer, lines, r)
	if err != nil {
		return err
	}
	return o.addPayment(offer, req.PaymentChoice, due, r)
}

// writeCounted writes a reservation. If the reservation comes from the booking page, writeCounted first asks the
// booking service to add the reservation to the customer's open bookings. Therefore no customer can exceed the limit of
// open bookings.
//
// If the write fails, writeCounted asks the booking service to remove the reservation from the open bookings again. If
// the result of the write is unknown, the booking service counts the reservation as open until its end.
func (o *Owner) writeCounted(ctx context.Context, offer *catalog.Snapshot, lines []line,
	r store.NewReservation) (store.Reservation, error) {
	if !r.IsCounted {
		return o.write(ctx, offer, lines, r)
	}
	err := o.payments.CountReservation(ctx, r.BusinessID, r.ID, booking.OpenReservation{
		CustomerEmail: *r.CustomerEmail, EndsAt: endOf(store.Reservation{Dates: r.Dates, Hours: r.Hours},
			offer.Location()), MaxOpen: offer.Bookings.MaxOpenPerCustomer,
	})
	switch {
	case fault.Is(err, fault.TooManyOpen):
		o.count(ctx, "too_many_open")
		return store.Reservation{}, err
	case err != nil:
		o.uncount(ctx, r)
		f := fault.Wrap(fault.AvailabilityUnverified, err,
			"What this e-mail address has open could not be counted just now, so nothing was reserved; try again "+
				"shortly.")
		f.RetryAfter = time.Second
		return store.Reservation{}, f
	}
	reservation, err := o.write(ctx, offer, lines, r)
	if err == nil && reservation.ID != r.ID || err != nil && !fault.Is(err, fault.OutcomeUnknown) {
		o.uncount(ctx, r)
	}
	return reservation, err
}

// uncount asks the booking service to remove a reservation, which was not written, from the customer's open bookings.
// An error is only logged.
func (o *Owner) uncount(ctx context.Context, r store.NewReservation) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.AbandonTimeout)
	defer cancel()
	if err := o.payments.UncountReservation(ctx, r.BusinessID, r.ID); err != nil {
		o.log.WarnContext(ctx, "a reservation that was not written counts as open until its end", "reservation", r.ID,
			"error", err)
	}
}

// write writes a reservation if enough units are free for all lines. Fault: conflict if too few units are free.
func (o *Owner) write(ctx context.Context, offer *catalog.Snapshot, lines []line,
	r store.NewReservation) (store.Reservation, error) {
	var (
		calendar = occupancy.NewCalendar(offer.Location(), r.Now, r.Dates)
		missing  error
	)
	reservation, err := o.reservations.Reserve(ctx, r, func(occupying map[uuid.UUID][]occupancy.Reservation) bool {
		missing = checkUnits(calendar, lines, occupying)
		return missing == nil
	})
	switch {
	case errors.Is(err, store.ErrTooFewUnits):
		o.count(ctx, "lacking")
		err = missing
	case err == nil:
		o.count(ctx, "reserved")
	}
	return reservation, err
}

// newReservation returns the reservation to write for a request. The caller adds the price and the customer's answers.
func newReservation(offer *catalog.Snapshot, req Request, lines []line, now time.Time) store.NewReservation {
	own := lines[0]
	r := store.NewReservation{
		BusinessID: offer.ID, ID: uuid.New(), RentalID: own.ID, RentalName: own.Name, Quantity: req.Quantity,
		Dates: req.Dates, CustomerName: req.CustomerName, CustomerEmail: req.CustomerEmail,
		CustomerPhone: req.CustomerPhone,
		Locale:        locale.MatchOr(req.Locale, offer.Languages, offer.DefaultLanguage), Timezone: offer.Timezone,
		OfferVersion: offer.Version, Now: now,
	}
	if own.isHourly {
		r.Hours = &store.Hours{Start: *req.Start, End: *req.End, Span: own.span}
	}
	for _, extra := range lines[1:] {
		r.Extras = append(r.Extras, store.Extra{RentalID: extra.ID, Name: extra.Name, Quantity: extra.quantity,
			ByDay: !extra.isHourly})
	}
	return r
}

// validateAnswers returns the customer's answers to the questions of the business about the
// reserved rentals, as JSON to store. Faults: the faults of [catalog.Snapshot.CheckAnswers].
func validateAnswers(offer *catalog.Snapshot, by actor.Actor, req Request, lines []line) (json.RawMessage, error) {
	rentals := make([]uuid.UUID, len(lines))
	for i, l := range lines {
		rentals[i] = l.ID
	}
	answers, err := offer.CheckAnswers(by, req.FormData, rentals...)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answers)
}

// checkUnits returns a fault with code conflict for the first line that needs more
// units than are free. It returns nil if enough units are free for all lines.
func checkUnits(calendar *occupancy.Calendar, lines []line, occupying map[uuid.UUID][]occupancy.Reservation) error {
	for i, l := range lines {
		span := l.span
		if !l.isHourly {
			span = calendar.Span()
		}
		free := calendar.CountFree(span, occupancy.NewStock(l.Rental), occupying[l.ID])
		switch {
		case free >= l.quantity:
		case i == 0:
			return fault.Newf(fault.Conflict, "Too few units are free then: %d of the %d asked for.", free, l.quantity)
		default:
			return fault.Newf(fault.Conflict, "Too few units of %s are free then: %d of the %d asked for.", l.Name,
				free, l.quantity)
		}
	}
	return nil
}

func (o *Owner) count(ctx context.Context, outcome string) {
	o.attempts.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// ApplyTransition picks up, returns or cancels a reservation (semantics.md §4). If it cancels the reservation, the
// refund follows the cancellation policy. Faults: not_found for an unknown reservation or an unknown transition;
// conflict if the status does not allow the transition; not_enough_units if too few units can be handed out.
func (o *Owner) ApplyTransition(ctx context.Context, by actor.Actor, offer *catalog.Snapshot, id uuid.UUID,
	name state.TransitionName) (store.Reservation, error) {
	if name == state.Cancel {
		return o.Cancellations(offer).Cancel(ctx, by, offer.ID, id, "")
	}
	ctx = actor.With(ctx, by)
	transition, ok := state.FindTransition(name)
	if !ok {
		return store.Reservation{},
			fault.New(fault.NotFound, "There is no such transition; choose pickup, return or cancel.")
	}
	var (
		updated store.Reservation
		err     error
	)
	if name == state.Pickup {
		updated, err = o.pickUp(ctx, offer, id)
	} else {
		updated, err = o.reservations.ApplyTransition(ctx, offer.ID, id, transition, o.clock.Now())
	}
	return updated, newStatusFault(err, fmt.Sprintf("%s takes one that is %s", name, transition.From[0]))
}

// CountAhead returns the number of reservations that the owner must still serve. It counts reservations that are not
// picked up yet and end today or later in the business's time zone. It also counts reservations that are picked up and
// not returned yet, even if the return is late. Fault: business_not_found.
func (o *Owner) CountAhead(ctx context.Context, slug string) (int, error) {
	offer, err := o.offers.Fresh(ctx, slug)
	if err != nil {
		return 0, err
	}
	return o.reservations.CountAhead(ctx, offer.ID, offer.Today(o.clock.Now()))
}
