package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ical"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Businesses gives the offer of a business by its id. Faults: business_not_found; any other error means that it could not be read.
type Businesses interface {
	Offer(ctx context.Context, id uuid.UUID) (*catalog.Offer, error)
}

// LinkedReservations finds reservations by the hash of their link's token; [store.Store] says what its method returns.
type LinkedReservations interface {
	ByLink(ctx context.Context, hash []byte) (store.Linked, error)
	Move(ctx context.Context, businessID, id uuid.UUID, t state.Transition, now time.Time) (store.Reservation, error)
	Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error)
}

var _ LinkedReservations = (*store.Store)(nil)

// ByLink shows customers their reservation by its link, and cancels it for them (lifecycle.md §5). A token that leads nowhere is answered with the one fault of
// [link.NotFound], whatever the reason.
type ByLink struct {
	reservations LinkedReservations
	businesses   Businesses
	clock        clock.Clock
}

// NewByLink returns what customers may see.
func NewByLink(reservations LinkedReservations, businesses Businesses, c clock.Clock) *ByLink {
	return &ByLink{reservations: reservations, businesses: businesses, clock: c}
}

// Managed is what a customer sees.
type Managed struct {
	store.Linked
	Offer        *catalog.Offer
	Ends         time.Time
	Cancellation Cancellation
}

// Cancellation says whether the customer may cancel now. Until is the last instant at which they may, zero where they may not.
type Cancellation struct {
	Allowed bool
	Reason  string // one of booking's Cancel… reasons, or the reservation's status
	Until   time.Time
}

// View returns what the customer sees.
func (l *ByLink) View(ctx context.Context, token string) (Managed, error) {
	hash, ok := link.HashOf(token)
	if !ok {
		return Managed{}, link.NotFound()
	}
	found, err := l.reservations.ByLink(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return Managed{}, link.NotFound()
	}
	if err != nil {
		return Managed{}, err
	}
	offer, err := l.businesses.Offer(ctx, found.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return Managed{}, link.NotFound()
	}
	if err != nil {
		return Managed{}, err
	}
	m := l.managed(found, offer)
	if l.clock.Now().After(m.Ends.Add(link.Lasts)) {
		return Managed{}, link.NotFound()
	}
	return m, nil
}

// managed is what the customer sees of a reservation as it was read or written.
func (l *ByLink) managed(found store.Linked, offer *catalog.Offer) Managed {
	return Managed{
		Linked: found, Offer: offer, Ends: ends(found.Reservation, offer.Location()),
		Cancellation: mayCancel(found.Reservation, offer, l.clock.Now()),
	}
}

// mayCancel says whether self_service lets the customer cancel a reservation now (lifecycle.md §4).
func mayCancel(r store.Reservation, offer *catalog.Offer, now time.Time) Cancellation {
	hours := offer.SelfService.CancelUntilHours
	switch {
	case r.Status != state.Reserved:
		return Cancellation{Reason: string(r.Status)}
	case hours == nil:
		return Cancellation{Reason: booking.CancelNotOffered}
	}
	until := starts(r, offer.Location()).Add(-time.Duration(*hours) * time.Hour)
	if now.After(until) {
		return Cancellation{Reason: booking.CancelTooLate}
	}
	return Cancellation{Allowed: true, Until: until}
}

// Cancel cancels a reservation for its customer, at once, and returns what they see then. Nothing of it was paid online, so they have agreed
// to a refund of nothing. Faults: conflict where it cannot be cancelled now, or another refund was agreed to.
func (l *ByLink) Cancel(ctx context.Context, token string, agreed decimal.Decimal) (Managed, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	switch c := m.Cancellation; {
	case c.Reason == booking.CancelNotOffered:
		return Managed{}, fault.New(fault.Conflict, "Reservations of this business cannot be cancelled online; ask the business.")
	case c.Reason == booking.CancelTooLate:
		return Managed{}, fault.New(fault.Conflict, "It is too late to cancel this reservation online; ask the business.")
	case c.Allowed && !agreed.IsZero():
		return Managed{}, fault.New(fault.Conflict, "The refund is another one by now; look at it before you cancel.")
	}
	transition, _ := state.Of(state.Cancel)
	cancelled, err := l.reservations.Move(held(actor.With(ctx, actor.Actor{Kind: actor.Customer}), m.Linked), m.BusinessID, m.ID, transition, l.clock.Now())
	var refused *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Managed{}, link.NotFound()
	case errors.As(err, &refused):
		return Managed{}, fault.Newf(fault.Conflict, "The reservation is %s; it cannot be cancelled.", refused.Status)
	case err != nil:
		return Managed{}, err
	}
	m.Reservation = cancelled // not read again: that could fail, although it is cancelled
	return l.managed(m.Linked, m.Offer), nil
}

// Outcome returns what became of the write of the request's Idempotency-Key, as [store.Store.Outcome] does.
func (l *ByLink) Outcome(ctx context.Context, token string) ([]byte, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.reservations.Outcome(held(ctx, m.Linked), m.BusinessID)
}

// held has the request's Idempotency-Key count for the link alone: customers do not know each other's keys.
func held(ctx context.Context, by store.Linked) context.Context {
	return idempotency.HeldBy(ctx, by.ID.String())
}

// Again is what the customer saw after a write, which is kept for its Idempotency-Key.
func (l *ByLink) Again(ctx context.Context, token string, answer []byte) (Managed, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	if err := json.Unmarshal(answer, &m.Reservation); err != nil {
		return Managed{}, err
	}
	return l.managed(m.Linked, m.Offer), nil
}

// starts is when a reservation begins: one of whole dates with the first.
func starts(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.During.Start, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.From, 0, zone), 0)
}

// ends is when a reservation is over: one of whole dates at the end of the last.
func ends(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.During.End, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.To+1, 0, zone), 0)
}

// Calendar returns it as text/calendar, for the customer's own.
func (l *ByLink) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return nil, err
	}
	event := ical.Event{
		UID: m.ID.String(), Sequence: m.Sequence, Stamp: m.UpdatedAt, Status: ical.Confirmed, Summary: m.RentalName + " · " + m.Offer.Name,
		AllDay: m.Hours == nil, Start: starts(m.Reservation, m.Offer.Location()).In(m.Offer.Location()), End: m.Ends.In(m.Offer.Location()),
	}
	if m.Quantity > 1 {
		event.Summary = fmt.Sprintf("%s (%d) · %s", m.RentalName, m.Quantity, m.Offer.Name)
	}
	if m.Status == state.Cancelled {
		event.Status = ical.Cancelled
	}
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}
