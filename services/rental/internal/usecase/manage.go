package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Businesses returns the offer of a business by the id of the business. Fault:
// business_not_found. Any other error means that the offer could not be read.
type Businesses interface {
	Offer(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error)
}

// LinkedReservations is the part of the store that finds and changes the
// reservation of a customer's link; [store.Store] documents its methods.
type LinkedReservations interface {
	CancellableReservations
	ByLink(ctx context.Context, hash []byte) (store.Linked, error)
	FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error)
	Unpaid(ctx context.Context, businessID, id uuid.UUID) (bool, error)
}

var _ LinkedReservations = (*store.Store)(nil)

// ByLink implements what a customer can do with the link to their reservation: view it, pay for it and cancel it
// (lifecycle.md §5). If the token of the link is not valid, every method returns the same fault, [link.NotFound].
type ByLink struct {
	reservations LinkedReservations
	businesses   Businesses
	charges      Charges
	news         *Reconciliation
	clock        clock.Clock
}

// NewByLink returns a ByLink. The argument `news` fetches the current state of charges from booking.
func NewByLink(reservations LinkedReservations, businesses Businesses, charges Charges, news *Reconciliation,
	c clock.Clock) *ByLink {
	return &ByLink{reservations: reservations, businesses: businesses, charges: charges, news: news, clock: c}
}

// Managed is the customer's view of a reservation.
type Managed struct {
	store.Linked
	Offer        *catalog.Snapshot
	Ends         time.Time
	Cancellation cancellation.Preview
	CanPay       bool
	Unpaid       bool // cancelled because the customer did not pay in time; false after the events are deleted
}

// View returns the customer's view of the reservation to which the token belongs. It first asks booking for the current
// state of the charge, so that a customer who returns from the provider's page sees the payment. Fault: not_found.
func (l *ByLink) View(ctx context.Context, token string) (Managed, error) {
	m, err := l.follow(ctx, token)
	if err != nil || m.Payment == nil {
		return m, err
	}
	l.news.Look(ctx, booking.ReservationID{BusinessID: m.BusinessID, ID: m.ID}, m.Payment)
	if m, err = l.follow(ctx, token); err != nil || m.Status != state.Cancelled || m.Payment == nil ||
		m.Payment.Status != booking.ChargeCancelled {
		return m, err
	}
	m.Unpaid, err = l.reservations.Unpaid(ctx, m.BusinessID, m.ID)
	return m, err
}

// follow returns the customer's view of the reservation to which a token belongs, as it is stored.
// It does not ask booking for the state of the charge. Fault: not_found for an invalid token.
func (l *ByLink) follow(ctx context.Context, token string) (Managed, error) {
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

// managed returns the customer's view of a reservation that the caller has read from the store or has just written.
func (l *ByLink) managed(found store.Linked, offer *catalog.Snapshot) Managed {
	now := l.clock.Now()
	return Managed{
		Linked: found, Offer: offer, Ends: ends(found.Reservation, zoneOf(found.Reservation, offer)),
		CanPay:       found.Payment.CanPay(now),
		Cancellation: terms(found.Reservation, offer).PreviewForCustomer(offer, now),
	}
}

// Cancel cancels a reservation for its customer, with immediate effect, and returns the customer's view after the
// cancellation. The argument `shown` is the refund that the page showed to the customer. Faults: not_found for an
// invalid token; invalid_parameter; conflict if the reservation cannot be cancelled now, or if the refund has changed.
func (l *ByLink) Cancel(ctx context.Context, token string, shown decimal.Decimal) (Managed, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	refuse := func(err error) error {
		if errors.Is(err, store.ErrNotFound) {
			return link.NotFound()
		}
		return refusal(err, "it cannot be cancelled")
	}
	cancelled, err := cancellations(l.reservations, m.Offer, refuse, l.clock).
		CancelForCustomer(held(ctx, m.Linked), m.Offer, m.ID, shown)
	if err != nil {
		return Managed{}, err
	}
	m.Reservation = cancelled // not read again: the read could fail although the cancellation succeeded
	return l.managed(m.Linked, m.Offer), nil
}

// OpenPayment returns the customer's view and the address of the provider's page on
// which the customer pays the open charge (lifecycle.md §5). Faults: not_found for
// an invalid token; conflict if nothing is to be paid online; payment_unavailable.
func (l *ByLink) OpenPayment(ctx context.Context, token string) (Managed, string, error) {
	m, err := l.View(ctx, token)
	switch {
	case err != nil:
		return Managed{}, "", err
	case !m.CanPay:
		return Managed{}, "", fault.New(fault.Conflict, "Nothing is to be paid online here now.")
	}
	page, err := l.charges.Page(ctx, m.BusinessID, m.ID)
	if fault.Is(err, fault.PeerUnavailable) {
		f := fault.Wrap(fault.PaymentUnavailable, err, "The payment cannot be opened just now; try again shortly.")
		f.RetryAfter = time.Second
		err = f
	}
	if err != nil {
		return Managed{}, "", err
	}
	return m, page.CheckoutURL, nil
}

// FindIdempotencyResult returns the stored answer of an earlier write with the same Idempotency-Key,
// as [store.Store.FindIdempotencyResult] does. Fault: not_found for an invalid token.
func (l *ByLink) FindIdempotencyResult(ctx context.Context, token string) ([]byte, error) {
	m, err := l.follow(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.reservations.FindIdempotencyResult(held(ctx, m.Linked), m.BusinessID)
}

// held limits the request's Idempotency-Key to one reservation, that of the link. Without
// this limit, the requests of two customers who choose the same key would conflict.
func held(ctx context.Context, by store.Linked) context.Context {
	return idempotency.WithHolder(ctx, by.ID.String())
}

// Again returns the customer's view for a repeated write. The
// argument `answer` is the stored answer of the first write.
func (l *ByLink) Again(ctx context.Context, token string, answer []byte) (Managed, error) {
	m, err := l.follow(ctx, token)
	if err != nil {
		return Managed{}, err
	}
	if err := json.Unmarshal(answer, &m.Reservation); err != nil {
		return Managed{}, err
	}
	return l.managed(m.Linked, m.Offer), nil
}

// zoneOf returns the time zone in which a reservation was made. If that
// zone is unknown, zoneOf returns the current time zone of the business.
func zoneOf(r store.Reservation, offer *catalog.Snapshot) *time.Location {
	return timespan.Zone(r.Timezone, offer.Location())
}

// starts returns the instant at which a reservation begins. A
// reservation for whole dates begins at 00:00 of the first date.
func starts(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.During.Start, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.From, 0, zone), 0)
}

// ends returns the instant at which a reservation ends. A reservation
// for whole dates ends at the midnight after the last date.
func ends(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.During.End, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.To+1, 0, zone), 0)
}

// Translated returns the view with the names of the rentals in the customer's language.
func (m Managed) Translated() Managed {
	m.RentalName = m.Offer.RentalName(m.RentalID, m.RentalName, m.Locale)
	m.Extras = slices.Clone(m.Extras)
	for i := range m.Extras {
		m.Extras[i].Name = m.Offer.RentalName(m.Extras[i].RentalID, m.Extras[i].Name, m.Locale)
	}
	return m
}

// Calendar returns the reservation in the format text/calendar, which the customer
// can import into a calendar program. Fault: not_found for an invalid token.
func (l *ByLink) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.follow(ctx, token)
	if err != nil {
		return nil, err
	}
	m = m.Translated()
	zone := zoneOf(m.Reservation, m.Offer)
	event := ical.Event{
		UID: m.ID.String(), Sequence: m.Sequence, Stamp: m.UpdatedAt, Status: ical.Confirmed,
		Summary: m.RentalName + " · " + m.Offer.NameIn(m.Locale),
		AllDay:  m.Hours == nil, Start: starts(m.Reservation, zone).In(zone), End: m.Ends.In(zone),
	}
	if m.Quantity > 1 {
		event.Summary = fmt.Sprintf("%s (%d) · %s", m.RentalName, m.Quantity, m.Offer.NameIn(m.Locale))
	}
	switch m.Status {
	case state.Pending:
		event.Status = ical.Tentative
	case state.Cancelled:
		event.Status = ical.Cancelled
	default: // a calendar shows all other states as confirmed
	}
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}
