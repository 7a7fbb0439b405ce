package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// ReservationPayments opens and closes the payments of rental reservations. The rental
// service stores the reservations and asks ReservationPayments for the state of their payments.
//
// When a payment is open, only the state of the payment decides whether rental
// confirms the reservation or frees its units. ReservationPayments is safe for concurrent use.
type ReservationPayments struct {
	records *store.Store
	*Booker // for the payment providers and offers
}

// NewReservationPayments returns a ReservationPayments that uses the providers and offers of the booker.
func NewReservationPayments(records *store.Store, booker *Booker) *ReservationPayments {
	return &ReservationPayments{records: records, Booker: booker}
}

// maxLink is the maximum length of the customer's link in bytes.
// The provider's page sends the customer back to this link.
const maxLink = 2000

// Open opens the payment of a reservation and returns the payment with the provider's
// page. Open is idempotent: if the payment is already open, Open returns the open payment.
//
// Faults: invalid_parameter; payment_not_offered if no provider can charge the amount; payment_unavailable; conflict
// if the payment is closed; idempotency_in_progress if another request is opening the payment; the faults of [Offers].
func (c *ReservationPayments) Open(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	req booking.NewReservationPayment) (booking.ReservationCheckout, error) {
	ctx = actor.With(ctx, by)
	offer, err := findOffer(ctx, c.Offers, businessID, req.Slug)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	if req.Amount <= 0 || req.Name == "" || req.Manage == "" || len(req.Manage) > maxLink ||
		req.Currency != offer.Money().Code {
		return booking.ReservationCheckout{}, fault.New(fault.InvalidParameter,
			"send an amount above 0 in the business's currency, a name, and the customer's link.")
	}
	n, err := c.newReservationPayment(offer, id, req)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	created, err := c.records.CreateReservationPayment(ctx, n)
	switch {
	case err != nil:
		return booking.ReservationCheckout{}, err
	case !created:
		return c.answerRetry(ctx, businessID, id)
	}
	return c.pay(ctx, n, offer.Money(), req)
}

func (c *ReservationPayments) newReservationPayment(offer *catalog.Snapshot, id uuid.UUID,
	req booking.NewReservationPayment) (store.NewReservationPayment, error) {
	now := c.Clock.Now().UTC().Truncate(time.Microsecond) // the database stores microseconds
	stored, err := c.newPayment(event.Reservation, offer, "", req.Amount, now)
	if err != nil {
		return store.NewReservationPayment{}, err
	}
	stored.OnCheckout = true
	return store.NewReservationPayment{BusinessID: offer.ID, ID: id, Currency: req.Currency, NewPayment: *stored,
		Now: now}, nil
}

// pay opens the payment of a reservation. If pay returns an error, no customer
// has received the provider's page. Faults: the faults of openPayment.
func (c *ReservationPayments) pay(ctx context.Context, n store.NewReservationPayment, currency money.Currency,
	req booking.NewReservationPayment) (booking.ReservationCheckout, error) {
	var (
		state store.ReservationPayment
		due   = n.Now.Add(c.Payments.ExpiresAfter)
	)
	intent, err := c.openPayment(ctx, pendingPayment{
		Subject:    payment.Subject{BusinessID: n.BusinessID, Kind: event.Reservation, ID: n.ID},
		NewPayment: n.NewPayment, currency: currency, name: req.Name, link: req.Manage, dueAt: due,
		store: func(ctx context.Context, intent payment.Intent) error {
			var err error
			state, err = c.records.OpenReservationPayment(ctx, n.BusinessID, n.ID, intent.Reference, due, c.Clock.Now())
			return err
		},
	})
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	return booking.ReservationCheckout{Payment: c.render(state), CheckoutURL: intent.URL}, nil
}

// answerRetry answers a request to open a payment that already exists. Faults: idempotency_in_progress
// if another request is opening the payment; the faults of [ReservationPayments.FindCheckout].
func (c *ReservationPayments) answerRetry(ctx context.Context,
	businessID, id uuid.UUID) (booking.ReservationCheckout, error) {
	stored, err := c.records.ReservationPayment(ctx, businessID, id)
	switch {
	case err != nil:
		return booking.ReservationCheckout{}, err
	case stored.Status == store.PaymentCreating:
		return booking.ReservationCheckout{}, idempotency.NewInProgressFault()
	}
	return c.FindCheckout(ctx, businessID, id)
}

// FindCheckout returns an open payment with the provider's page on which the customer pays.
// Faults: conflict if the reservation has no open payment; payment_unavailable.
func (c *ReservationPayments) FindCheckout(ctx context.Context,
	businessID, id uuid.UUID) (booking.ReservationCheckout, error) {
	_, intent, err := c.paymentPage(ctx, businessID, id, nil)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	stored, err := c.records.ReservationPayment(ctx, businessID, id)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	return booking.ReservationCheckout{Payment: c.render(stored), CheckoutURL: intent.URL}, nil
}

// List returns the payments of the given reservations. The result leaves out reservations that
// have no payment. Fault: invalid_parameter if there are more than booking.MaxReservationPayments reservations.
func (c *ReservationPayments) List(ctx context.Context,
	of []booking.ReservationID) ([]booking.ReservationPayment, error) {
	if len(of) > booking.MaxReservationPayments {
		return nil, fault.Newf(fault.InvalidParameter, "reservations: send at most %d.", booking.MaxReservationPayments)
	}
	payments, err := c.records.ReservationPayments(ctx, of)
	return c.renderAll(payments), err
}

// ListReports returns the payments for which the provider has sent reports that rental
// has not processed yet. The result has at most booking.MaxReservationPayments payments.
func (c *ReservationPayments) ListReports(ctx context.Context) ([]booking.ReservationPayment, error) {
	payments, err := c.records.ReservationPaymentsWithReports(ctx, booking.MaxReservationPayments)
	return c.renderAll(payments), err
}

// AcknowledgeReports stores, for each payment, the number of the provider's last report that rental has
// processed. Fault: invalid_parameter if there are more than booking.MaxReservationPayments payments.
func (c *ReservationPayments) AcknowledgeReports(ctx context.Context, acks []booking.ReportAcknowledgement) error {
	if len(acks) > booking.MaxReservationPayments {
		return fault.Newf(fault.InvalidParameter, "noted: send at most %d.", booking.MaxReservationPayments)
	}
	return c.records.AcknowledgeReports(ctx, acks)
}

func (c *ReservationPayments) renderAll(payments []store.ReservationPayment) []booking.ReservationPayment {
	shown := make([]booking.ReservationPayment, len(payments))
	for i, entry := range payments {
		shown[i] = booking.ReservationPayment{
			ReservationID: booking.ReservationID{BusinessID: entry.BusinessID, ID: entry.ID},
			Payment:       c.render(entry),
			Reports:       entry.Reports,
		}
	}
	return shown
}

// Close closes the payment of a cancelled reservation and returns the new state of the payment.
// If the payment is paid, Close starts the refund `req.Refund`, or a refund of the whole amount
// if `req.Refund` is nil. Faults: not_found if the reservation has no payment; invalid_parameter.
func (c *ReservationPayments) Close(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	req booking.ClosePayment) (booking.PaymentState, error) {
	ctx = actor.With(ctx, by)
	if r := req.Refund; r != nil && (r.Number < 1 || r.Amount < 0 || r.Percent < 0 || r.Percent > 100) {
		return booking.PaymentState{}, fault.New(fault.InvalidParameter,
			"refund: send its number from 1 on, an amount of 0 or more, and its percentage.")
	}
	err := c.records.CloseReservationPayment(ctx, businessID, id, req.Refund, c.Clock.Now())
	if err == nil {
		var stored store.ReservationPayment
		if stored, err = c.records.ReservationPayment(ctx, businessID, id); err == nil {
			return c.render(stored), nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = fault.New(fault.NotFound, "This reservation has no payment.")
	}
	return booking.PaymentState{}, err
}

// render converts a payment into the type that rental reads.
func (c *ReservationPayments) render(of store.ReservationPayment) booking.PaymentState {
	currency, _ := money.ParseCurrency(of.Currency) // ParseCurrency cannot fail: the code was valid when it was stored
	state := booking.PaymentState{
		Provider: of.Provider, Status: of.Status, Amount: of.Amount, DueAt: of.DueAt.UTC(), Policy: of.Policy,
		Step:     c.Payments.Providers.Step(of.Provider, currency),
		Refunded: of.Refunded, RefundNumber: of.RefundNumber, RefundAmount: of.RefundAmount,
		RefundPercent: of.RefundPercent,
		RefundStatus:  string(of.RefundStatus), RefundReason: of.RefundReason,
		RefundedElsewhere: of.RefundedElsewhere, DisputeStatus: string(of.DisputeStatus),
		DisputeReason: of.DisputeReason, UpdatedAt: of.UpdatedAt.UTC(),
	}
	if of.FailedAt != nil {
		failed := of.FailedAt.UTC()
		state.FailedAt = &failed
	}
	return state
}

// CountReservation adds a reservation of the booking page to the customer's open bookings.
// The number of a customer's open bookings is limited. The rental service calls CountReservation
// before it writes the reservation. Faults: invalid_parameter; too_many_open_bookings.
func (c *ReservationPayments) CountReservation(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	req booking.OpenReservation) error {
	ctx = actor.With(ctx, by)
	address, err := customer.Check(req.CustomerEmail)
	switch {
	case err != nil:
		return err
	case req.MaxOpen < 1:
		return fault.New(fault.InvalidParameter, "max_open: send a whole number of 1 or more.")
	}
	err = c.records.CountReservation(ctx, store.OpenReservation{
		BusinessID: businessID, ID: id, Email: address, EndsAt: req.EndsAt, MaxOpen: req.MaxOpen,
		Now: c.Clock.Now(),
	})
	if errors.Is(err, store.ErrTooManyOpen) {
		return newTooManyOpenFault(req.MaxOpen)
	}
	return err
}

// UncountReservation removes a reservation from the customer's open bookings.
// The rental service calls UncountReservation if the reservation is over or could not be made.
func (c *ReservationPayments) UncountReservation(ctx context.Context, by actor.Actor, businessID, id uuid.UUID) error {
	ctx = actor.With(ctx, by)
	return c.records.UncountReservation(ctx, businessID, id)
}
