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
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Charges opens and closes the charges of rental reservations. Rental
// stores the reservations and asks Charges for the state of their charges.
//
// When a charge is open, only the state of the charge decides whether rental
// confirms the reservation or frees its units. Charges is safe for concurrent use.
type Charges struct {
	records *store.Store
	*Booker // for the payment providers and offers
}

// NewCharges returns a Charges that uses the providers and offers of the booker.
func NewCharges(records *store.Store, booker *Booker) *Charges {
	return &Charges{records: records, Booker: booker}
}

// maxLink is the maximum length of the customer's link in bytes.
// The provider's page sends the customer back to this link.
const maxLink = 2000

// Open opens the charge of a reservation and returns the charge with the provider's
// page. Open is idempotent: if the charge is already open, Open returns the open charge.
//
// Faults: invalid_parameter; payment_not_offered if no provider can charge the amount; payment_unavailable; conflict
// if the charge is closed; idempotency_in_progress if another request is opening the charge; the faults of [Offers].
func (c *Charges) Open(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	asked booking.NewReservationPayment) (booking.ReservationCheckout, error) {
	ctx = actor.With(ctx, by)
	offer, err := offerOf(ctx, c.Offers, businessID, asked.Slug)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	if asked.Amount <= 0 || asked.Name == "" || asked.Manage == "" || len(asked.Manage) > maxLink ||
		asked.Currency != offer.Money().Code {
		return booking.ReservationCheckout{}, fault.New(fault.InvalidParameter,
			"send an amount above 0 in the business's currency, a name, and the customer's link.")
	}
	n, err := c.newCharge(offer, id, asked)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	created, err := c.records.CreateCharge(ctx, n)
	switch {
	case err != nil:
		return booking.ReservationCheckout{}, err
	case !created:
		return c.again(ctx, businessID, id)
	}
	return c.pay(ctx, n, offer.Money(), asked)
}

func (c *Charges) newCharge(offer *catalog.Snapshot, id uuid.UUID,
	asked booking.NewReservationPayment) (store.NewCharge, error) {
	now := c.Clock.Now().UTC().Truncate(time.Microsecond) // the database stores microseconds
	charge, err := c.newPayment(event.Reservation, offer, "", asked.Amount, now)
	if err != nil {
		return store.NewCharge{}, err
	}
	charge.OnCheckout = true
	return store.NewCharge{BusinessID: offer.ID, ID: id, Currency: asked.Currency, NewPayment: *charge, Now: now}, nil
}

// pay opens the payment of a reservation. If pay returns an error, no customer
// has received the provider's page. Faults: the faults of openPayment.
func (c *Charges) pay(ctx context.Context, n store.NewCharge, currency money.Currency,
	asked booking.NewReservationPayment) (booking.ReservationCheckout, error) {
	var (
		opened store.Charge
		due    = n.Now.Add(c.Payments.ExpiresAfter)
	)
	intent, err := c.openPayment(ctx, pendingPayment{
		Subject:    payment.Subject{BusinessID: n.BusinessID, Kind: event.Reservation, ID: n.ID},
		NewPayment: n.NewPayment, currency: currency, name: asked.Name, link: asked.Manage, dueAt: due,
		store: func(ctx context.Context, intent payment.Intent) error {
			var err error
			opened, err = c.records.OpenedCharge(ctx, n.BusinessID, n.ID, intent.Reference, due, c.Clock.Now())
			return err
		},
	})
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	return booking.ReservationCheckout{Payment: c.shown(opened), CheckoutURL: intent.URL}, nil
}

// again answers a request to open a charge that already exists. Faults: idempotency_in_progress
// if another request is opening the charge; the faults of [Charges.Page].
func (c *Charges) again(ctx context.Context, businessID, id uuid.UUID) (booking.ReservationCheckout, error) {
	known, err := c.records.Charge(ctx, businessID, id)
	switch {
	case err != nil:
		return booking.ReservationCheckout{}, err
	case known.Status == store.ChargeCreating:
		return booking.ReservationCheckout{}, inProgress()
	}
	return c.Page(ctx, businessID, id)
}

// Page returns an open charge with the provider's page on which the customer pays.
// Faults: conflict if the reservation has no open charge; payment_unavailable.
func (c *Charges) Page(ctx context.Context, businessID, id uuid.UUID) (booking.ReservationCheckout, error) {
	_, intent, err := c.paymentPage(ctx, businessID, id, nil)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	known, err := c.records.Charge(ctx, businessID, id)
	if err != nil {
		return booking.ReservationCheckout{}, err
	}
	return booking.ReservationCheckout{Payment: c.shown(known), CheckoutURL: intent.URL}, nil
}

// Known returns the charges of the given reservations. The result leaves out reservations that
// have no charge. Fault: invalid_parameter if there are more than booking.MaxReservationPayments reservations.
func (c *Charges) Known(ctx context.Context, of []booking.ReservationID) ([]booking.ReservationPayment, error) {
	if len(of) > booking.MaxReservationPayments {
		return nil, fault.Newf(fault.InvalidParameter, "reservations: send at most %d.", booking.MaxReservationPayments)
	}
	found, err := c.records.Charges(ctx, of)
	return c.allShown(found), err
}

// Reports returns the charges with reports of the provider that rental has
// not processed yet. The result has at most booking.MaxReservationPayments charges.
func (c *Charges) News(ctx context.Context) ([]booking.ReservationPayment, error) {
	found, err := c.records.ChargesWithNews(ctx, booking.MaxReservationPayments)
	return c.allShown(found), err
}

// Noted stores, for each charge, the number of the provider's last report that rental has
// processed. Fault: invalid_parameter if there are more than booking.MaxReservationPayments charges.
func (c *Charges) Noted(ctx context.Context, noted []booking.ReportAcknowledgement) error {
	if len(noted) > booking.MaxReservationPayments {
		return fault.Newf(fault.InvalidParameter, "noted: send at most %d.", booking.MaxReservationPayments)
	}
	return c.records.NotedNews(ctx, noted)
}

func (c *Charges) allShown(found []store.Charge) []booking.ReservationPayment {
	shown := make([]booking.ReservationPayment, len(found))
	for i, charge := range found {
		shown[i] = booking.ReservationPayment{
			ReservationID: booking.ReservationID{BusinessID: charge.BusinessID, ID: charge.ID},
			Payment:       c.shown(charge),
			Reports:       charge.News,
		}
	}
	return shown
}

// Close closes the charge of a cancelled reservation and returns the new state of the charge. If
// the charge is paid, Close starts the refund asked.Refund, or a refund of the whole amount if
// asked.Refund is nil. Faults: not_found if the reservation has no charge; invalid_parameter.
func (c *Charges) Close(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	asked booking.ClosePayment) (booking.PaymentState, error) {
	ctx = actor.With(ctx, by)
	if r := asked.Refund; r != nil && (r.Number < 1 || r.Amount < 0 || r.Percent < 0 || r.Percent > 100) {
		return booking.PaymentState{}, fault.New(fault.InvalidParameter,
			"refund: send its number from 1 on, an amount of 0 or more, and its percentage.")
	}
	err := c.records.CloseCharge(ctx, businessID, id, asked.Refund, c.Clock.Now())
	if err == nil {
		var known store.Charge
		if known, err = c.records.Charge(ctx, businessID, id); err == nil {
			return c.shown(known), nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = fault.New(fault.NotFound, "This reservation has no charge.")
	}
	return booking.PaymentState{}, err
}

// shown converts a charge into the type that rental reads.
func (c *Charges) shown(of store.Charge) booking.PaymentState {
	currency, _ := money.ParseCurrency(of.Currency) // ParseCurrency cannot fail: the code was valid when it was stored
	shown := booking.PaymentState{
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
		shown.FailedAt = &failed
	}
	return shown
}

// Count adds a reservation of the booking page to the customer's open bookings. The number of open bookings is
// limited. Rental calls Count before it writes the reservation. Faults: invalid_parameter; too_many_open_bookings.
func (c *Charges) Count(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	asked booking.OpenReservation) error {
	ctx = actor.With(ctx, by)
	address, err := customer.Check(asked.CustomerEmail)
	switch {
	case err != nil:
		return err
	case asked.MaxOpen < 1:
		return fault.New(fault.InvalidParameter, "max_open: send a whole number of 1 or more.")
	}
	err = c.records.CountReservation(ctx, store.OpenReservation{
		BusinessID: businessID, ID: id, Email: address, EndsAt: asked.EndsAt, MaxOpen: asked.MaxOpen,
		Now: c.Clock.Now(),
	})
	if errors.Is(err, store.ErrTooManyOpen) {
		return tooManyOpen(asked.MaxOpen)
	}
	return err
}

// Uncount removes a reservation from the customer's open bookings.
// Rental calls Uncount if the reservation is over or could not be made.
func (c *Charges) Uncount(ctx context.Context, by actor.Actor, businessID, id uuid.UUID) error {
	ctx = actor.With(ctx, by)
	return c.records.UncountReservation(ctx, businessID, id)
}
