package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/sale/venue"
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
	FindByLink(ctx context.Context, hash []byte) (store.LinkedReservation, error)
	FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error)
	IsCancelledUnpaid(ctx context.Context, businessID, id uuid.UUID) (bool, error)
}

var _ LinkedReservations = (*store.Store)(nil)

// CustomerLinks implements what a customer can do with the link to a reservation:
// view it, pay for it and cancel it (lifecycle.md §5). If the token of the link
// is not valid, every method returns the same fault, [link.NewNotFoundFault].
type CustomerLinks struct {
	reservations   LinkedReservations
	businesses     Businesses
	payments       Payments
	reconciliation *Reconciliation
	clock          clock.Clock
}

// NewCustomerLinks returns a CustomerLinks. The argument `reconciliation` fetches the current state of payments from
// the booking service.
func NewCustomerLinks(reservations LinkedReservations, businesses Businesses, payments Payments,
	reconciliation *Reconciliation,
	c clock.Clock) *CustomerLinks {
	return &CustomerLinks{reservations: reservations, businesses: businesses, payments: payments,
		reconciliation: reconciliation, clock: c}
}

// CustomerView is the customer's view of a reservation.
type CustomerView struct {
	store.LinkedReservation
	Offer        *catalog.Snapshot
	EndsAt       time.Time
	Cancellation cancellation.Preview
	CanPay       bool
	IsUnpaid     bool // cancelled because not paid in time; false after the reservation's events are deleted
}

// View returns the customer's view of the reservation to which the token belongs. It first asks the booking service for
// the current state of the payment. A customer who returns from the provider's page therefore sees the payment. Fault:
// not_found.
func (l *CustomerLinks) View(ctx context.Context, token string) (CustomerView, error) {
	m, err := l.readView(ctx, token)
	if err != nil || m.Payment == nil {
		return m, err
	}
	l.reconciliation.Refresh(ctx, booking.ReservationID{BusinessID: m.BusinessID, ID: m.ID}, m.Payment)
	if m, err = l.readView(ctx, token); err != nil || m.Status != state.Cancelled || m.Payment == nil ||
		m.Payment.Status != booking.PaymentStateCancelled {
		return m, err
	}
	m.IsUnpaid, err = l.reservations.IsCancelledUnpaid(ctx, m.BusinessID, m.ID)
	return m, err
}

// readView returns the customer's view of the reservation to which a token belongs, as it is stored. It does not ask
// the booking service for the state of the payment. Fault: not_found for an invalid token.
func (l *CustomerLinks) readView(ctx context.Context, token string) (CustomerView, error) {
	hash, ok := link.HashToken(token)
	if !ok {
		return CustomerView{}, link.NewNotFoundFault()
	}
	linked, err := l.reservations.FindByLink(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return CustomerView{}, link.NewNotFoundFault()
	}
	if err != nil {
		return CustomerView{}, err
	}
	offer, err := l.businesses.Offer(ctx, linked.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return CustomerView{}, link.NewNotFoundFault()
	}
	if err != nil {
		return CustomerView{}, err
	}
	m := l.newView(linked, offer)
	if l.clock.Now().After(m.EndsAt.Add(link.Lifetime)) {
		return CustomerView{}, link.NewNotFoundFault()
	}
	return m, nil
}

// newView returns the customer's view of a reservation that the caller has read from the store or has just written.
func (l *CustomerLinks) newView(linked store.LinkedReservation, offer *catalog.Snapshot) CustomerView {
	now := l.clock.Now()
	return CustomerView{
		LinkedReservation: linked, Offer: offer, EndsAt: endOf(linked.Reservation, findZone(linked.Reservation, offer)),
		CanPay:       linked.Payment.CanPay(now),
		Cancellation: newSale(linked.Reservation, offer).PreviewForCustomer(offer, now),
	}
}

// Cancel cancels a reservation for its customer, with immediate effect, and returns the customer's view after the
// cancellation. The argument `shownRefund` is the refund that the page showed to the customer. Faults: not_found for an
// invalid token; invalid_parameter; conflict if the reservation cannot be cancelled now, or if the refund has changed.
func (l *CustomerLinks) Cancel(ctx context.Context, token string, shownRefund decimal.Decimal) (CustomerView, error) {
	m, err := l.View(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	refuse := func(err error) error {
		if errors.Is(err, store.ErrNotFound) {
			return link.NewNotFoundFault()
		}
		return newStatusFault(err, "it cannot be cancelled")
	}
	cancelled, err := newCancellations(l.reservations, m.Offer, refuse, l.clock).
		CancelForCustomer(withLinkKey(ctx, m.LinkedReservation), m.Offer, m.ID, shownRefund)
	if err != nil {
		return CustomerView{}, err
	}
	m.Reservation = cancelled // not read again, because the read could fail although the cancellation succeeded
	return l.newView(m.LinkedReservation, m.Offer), nil
}

// OpenPayment returns the customer's view and the URL of the provider's page on
// which the customer pays the open payment (lifecycle.md §5). Faults: not_found for
// an invalid token; conflict if nothing is to be paid online; payment_unavailable.
func (l *CustomerLinks) OpenPayment(ctx context.Context, token string) (CustomerView, string, error) {
	m, err := l.View(ctx, token)
	switch {
	case err != nil:
		return CustomerView{}, "", err
	case !m.CanPay:
		return CustomerView{}, "", fault.New(fault.Conflict, "Nothing is to be paid online here now.")
	}
	page, err := l.payments.FindCheckout(ctx, m.BusinessID, m.ID)
	if fault.Is(err, fault.PeerUnavailable) {
		f := fault.Wrap(fault.PaymentUnavailable, err, "The payment cannot be opened just now; try again shortly.")
		f.RetryAfter = time.Second
		err = f
	}
	if err != nil {
		return CustomerView{}, "", err
	}
	return m, page.CheckoutURL, nil
}

// FindIdempotencyResult returns the stored answer of an earlier write with the same Idempotency-Key,
// as [store.Store.FindIdempotencyResult] does. Fault: not_found for an invalid token.
func (l *CustomerLinks) FindIdempotencyResult(ctx context.Context, token string) ([]byte, error) {
	m, err := l.readView(ctx, token)
	if err != nil {
		return nil, err
	}
	return l.reservations.FindIdempotencyResult(withLinkKey(ctx, m.LinkedReservation), m.BusinessID)
}

// withLinkKey limits the request's Idempotency-Key to the reservation of the link. Without
// this limit, the requests of two customers would conflict if their keys are the same.
func withLinkKey(ctx context.Context, by store.LinkedReservation) context.Context {
	return idempotency.WithHolder(ctx, by.ID.String())
}

// AnswerRetry returns the customer's view for a repeated write. The
// argument `answer` is the stored answer of the first write.
func (l *CustomerLinks) AnswerRetry(ctx context.Context, token string, answer []byte) (CustomerView, error) {
	m, err := l.readView(ctx, token)
	if err != nil {
		return CustomerView{}, err
	}
	if err := json.Unmarshal(answer, &m.Reservation); err != nil {
		return CustomerView{}, err
	}
	return l.newView(m.LinkedReservation, m.Offer), nil
}

// findZone returns the time zone in which a reservation was made. If that
// zone is unknown, findZone returns the current time zone of the business.
func findZone(r store.Reservation, offer *catalog.Snapshot) *time.Location {
	return timespan.Zone(r.Timezone, offer.Location())
}

// startOf returns the instant at which a reservation begins. A
// reservation for whole dates begins at 00:00 of the first date.
func startOf(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.Span.Start, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.From, 0, zone), 0)
}

// endOf returns the instant at which a reservation ends. A reservation
// for whole dates ends at the midnight after the last date.
func endOf(r store.Reservation, zone *time.Location) time.Time {
	if r.Hours != nil {
		return time.Unix(r.Hours.Span.End, 0)
	}
	return time.Unix(timespan.Instant(r.Dates.To+1, 0, zone), 0)
}

// Translate returns the view with the names of the rentals in the customer's language.
func (m CustomerView) Translate() CustomerView {
	m.RentalName = m.Offer.RentalName(m.RentalID, m.RentalName, m.Locale)
	m.Extras = slices.Clone(m.Extras)
	for i := range m.Extras {
		m.Extras[i].Name = m.Offer.RentalName(m.Extras[i].RentalID, m.Extras[i].Name, m.Locale)
	}
	return m
}

// Calendar returns the reservation in the format text/calendar, which the customer
// can import into a calendar program. Fault: not_found for an invalid token.
func (l *CustomerLinks) Calendar(ctx context.Context, token string) ([]byte, error) {
	m, err := l.readView(ctx, token)
	if err != nil {
		return nil, err
	}
	m = m.Translate()
	zone := findZone(m.Reservation, m.Offer)
	event := ical.Event{
		UID: m.ID.String(), Sequence: m.Sequence, Stamp: m.UpdatedAt, Status: ical.Confirmed,
		Summary: m.RentalName,
		AllDay:  m.Hours == nil, Start: startOf(m.Reservation, zone).In(zone), End: m.EndsAt.In(zone),
	}
	if m.Quantity > 1 {
		event.Description = strconv.Itoa(m.Quantity) + " × " + m.RentalName
	}
	for _, extra := range m.Extras { // the messages to the customer list the extras in the same way
		event.Summary += ", " + strconv.Itoa(extra.Quantity) + " × " + extra.Name
	}
	switch m.Status {
	case state.Pending:
		event.Status = ical.Tentative
	case state.Cancelled:
		event.Status = ical.Cancelled
	default: // a calendar shows all other states as confirmed
	}
	venue.Set(&event, m.Offer, m.Offer.SoldLocation(m.RentalID), m.Locale)
	return ical.Calendar{Method: ical.Publish, Events: []ical.Event{event}}.Write()
}
