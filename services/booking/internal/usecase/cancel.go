package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Cancellations cancels bookings and orders of tickets, and refunds them (lifecycle.md §4). What is owed is written with the cancellation; [Payments] has the
// provider give it back.
type Cancellations struct {
	records   *store.Store
	providers payment.Providers
	clock     clock.Clock
}

// NewCancellations returns cancellations of bookings that were charged by these providers.
func NewCancellations(records *store.Store, providers payment.Providers, c clock.Clock) *Cancellations {
	return &Cancellations{records: records, providers: providers, clock: c}
}

// Cancellation is what cancelling a booking would do now.
type Cancellation struct {
	Allowed bool
	Reason  string // why it is not allowed: one of booking's Cancel… reasons, or the booking's status
	// Refund is what the policy gives back, in minor units of Currency; Percent is its share of what was paid online.
	Refund   int64
	Percent  int
	Currency money.Currency
	Until    time.Time // the last instant at which this holds; zero where it is not allowed or does not end
}

// Preview says what a cancellation by the owner would do now. Faults: not_found.
func (c *Cancellations) Preview(ctx context.Context, businessID, id uuid.UUID) (Cancellation, error) {
	b, err := c.find(ctx, businessID, id)
	if err != nil {
		return Cancellation{}, err
	}
	return c.preview(bookingPurchase(b), c.clock.Now()), nil
}

// PreviewForCustomer says what a cancellation by the customer would do now, under the offer of the business. Faults: not_found.
func (c *Cancellations) PreviewForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID) (Cancellation, error) {
	b, err := c.find(ctx, offer.ID, id)
	if err != nil {
		return Cancellation{}, err
	}
	return c.previewForCustomer(offer, bookingPurchase(b), c.clock.Now()), nil
}

func (c *Cancellations) find(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error) {
	b, err := c.records.Booking(ctx, businessID, id)
	return b, noBooking(err)
}

// noBooking says that there is no such booking, and passes any other error on.
func noBooking(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such booking.")
	}
	return err
}

// purchase is what is cancelled, as far as refunds ask.
type purchase struct {
	what     string // in the sentences of refusals
	status   string
	standing bool // it can be cancelled from this status
	payment  *store.Payment
	currency money.Currency
	madeAt   time.Time
	startsAt time.Time
}

func bookingPurchase(b store.Booking) purchase {
	cancel, _ := state.Of(state.Cancel)
	return purchase{what: "booking", status: string(b.Status), standing: cancel.Allows(b.Status), payment: b.Payment, currency: b.Currency,
		madeAt: b.CreatedAt, startsAt: b.StartsAt}
}

func ticketPurchase(t store.Ticket) purchase {
	return purchase{what: "order of tickets", status: t.Status, standing: t.Status != booking.StatusCancelled, payment: t.Payment, currency: t.Currency,
		madeAt: t.CreatedAt, startsAt: t.StartsAt}
}

func (c *Cancellations) preview(of purchase, now time.Time) Cancellation {
	p := Cancellation{Currency: of.currency}
	if !of.standing {
		p.Reason = of.status
		return p
	}
	p.Allowed = true
	if of.payment.Left() > 0 {
		owed := c.byPolicy(of, now)
		p.Refund, p.Percent = owed.Amount, owed.Percent
		p.Until = of.payment.Policy.Until(of.madeAt, of.startsAt, now)
	}
	return p
}

func (c *Cancellations) previewForCustomer(offer *catalog.Offer, of purchase, now time.Time) Cancellation {
	p := c.preview(of, now)
	if !p.Allowed {
		return p
	}
	within := offer.SelfService.CancelUntilHours
	if within == nil {
		return Cancellation{Reason: booking.CancelNotOffered, Currency: of.currency}
	}
	closes := of.startsAt.Add(-time.Duration(*within) * time.Hour)
	if now.After(closes) {
		return Cancellation{Reason: booking.CancelTooLate, Currency: of.currency}
	}
	if p.Until.IsZero() || closes.Before(p.Until) {
		p.Until = closes
	}
	return p
}

// Cancel cancels a booking for the owner, at once, and refunds as much as is wanted: by the policy the booking was made under where
// wanted is "". Faults: not_found; conflict where the booking's status does not allow it or more is wanted than is left to refund;
// invalid_parameter for what is no amount.
func (c *Cancellations) Cancel(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	now := c.clock.Now()
	return c.cancel(ctx, businessID, id, now, func(b store.Booking) (store.Owed, error) { return c.owed(bookingPurchase(b), wanted, now) })
}

// CancelForCustomer cancels a booking for its customer, by the policy it was made under, where the offer of the business lets
// customers cancel now. seen is the refund in minor units that the customer has agreed to. Faults: not_found; conflict where it
// cannot be cancelled now, or the refund has become another one.
func (c *Cancellations) CancelForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID, seen int64) (store.Booking, error) {
	now := c.clock.Now()
	return c.cancel(ctx, offer.ID, id, now, func(b store.Booking) (store.Owed, error) { return c.agreed(offer, bookingPurchase(b), seen, now) })
}

// agreed is what goes back to a customer who cancels now, having agreed to this much.
func (c *Cancellations) agreed(offer *catalog.Offer, of purchase, seen int64, now time.Time) (store.Owed, error) {
	switch p := c.previewForCustomer(offer, of, now); {
	case p.Reason == booking.CancelNotOffered:
		return store.Owed{}, fault.New(fault.Conflict, "Bookings of this business cannot be cancelled online; ask the business.")
	case p.Reason == booking.CancelTooLate:
		return store.Owed{}, fault.Newf(fault.Conflict, "It is too late to cancel this %s online; ask the business.", of.what)
	case p.Refund != seen:
		return store.Owed{}, fault.New(fault.Conflict, "The refund is another one by now; look at it before you cancel.")
	default:
		return store.Owed{Amount: p.Refund, Percent: p.Percent}, nil
	}
}

func (c *Cancellations) cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time, owed func(store.Booking) (store.Owed, error)) (store.Booking, error) {
	transition, _ := state.Of(state.Cancel)
	cancelled, err := c.records.Cancel(ctx, businessID, id, now, owed)
	var refused *store.NotAllowedError
	if errors.As(err, &refused) {
		err = fault.Newf(fault.Conflict, "The booking is %s; cancel takes one that is %s.", refused.Status, either(transition.From))
	}
	return cancelled, noBooking(err)
}

// Refund refunds a booking that is over, all that is left where wanted is "": what a provider refused is tried again so, and an
// owner gives back more than was owed. Faults: not_found; conflict where the booking is still ahead, a refund is on its way, or
// more is wanted than is left; invalid_parameter for what is no amount.
func (c *Cancellations) Refund(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	now := c.clock.Now()
	refunded, err := c.records.Refund(ctx, businessID, id, now, func(b store.Booking) (store.Owed, error) {
		return c.afterwards(bookingPurchase(b), wanted, now)
	})
	return refunded, noBooking(err)
}

// afterwards is what is to be given back of what is over.
func (c *Cancellations) afterwards(of purchase, wanted booking.RefundAmount, now time.Time) (store.Owed, error) {
	if wanted == "" {
		wanted = booking.RefundFull
	}
	switch {
	case of.standing:
		return store.Owed{}, fault.Newf(fault.Conflict, "The %s is %s; cancel it, which refunds it.", of.what, of.status)
	case wanted == booking.RefundPolicy || wanted == booking.RefundNone:
		return store.Owed{}, fault.New(fault.InvalidParameter, `refund: send "full" or an amount such as 12.50.`)
	case of.payment != nil && of.payment.RefundStatus == payment.RefundPending:
		return store.Owed{}, fault.Newf(fault.Conflict, "A refund of this %s is on its way; ask again when the provider has answered.", of.what)
	case of.payment.Left() == 0:
		return store.Owed{}, fault.Newf(fault.Conflict, "Nothing is left to refund of what was paid online for this %s.", of.what)
	}
	return c.owed(of, wanted, now)
}

// owed is what is to be given back now.
func (c *Cancellations) owed(of purchase, wanted booking.RefundAmount, now time.Time) (store.Owed, error) {
	left := of.payment.Left()
	switch wanted {
	case booking.RefundNone:
		return store.Owed{}, nil
	case booking.RefundFull:
		return of.payment.Owed(left), nil
	case booking.RefundPolicy, "":
		return c.byPolicy(of, now), nil
	}
	d, err := decimal.NewFromString(string(wanted))
	if err != nil {
		return store.Owed{}, fault.New(fault.InvalidParameter, `refund: send "policy", "full", "none" or an amount such as 12.50.`)
	}
	amount, err := of.currency.Minor(d)
	switch {
	case err != nil:
		return store.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	case amount < 0:
		return store.Owed{}, fault.New(fault.InvalidParameter, "refund: send an amount of 0 or more.")
	case amount > left:
		return store.Owed{}, fault.Newf(fault.Conflict, "refund: only %s %s is left of what was paid online.", of.currency.JSON(left), of.currency.Code)
	case amount > 0 && c.payable(of, amount) != amount:
		return store.Owed{}, fault.Newf(fault.InvalidParameter, "refund: the payment provider cannot refund this amount of %s; %s is the nearest below.",
			of.currency.Code, of.currency.JSON(c.payable(of, amount)))
	}
	return of.payment.Owed(amount), nil
}

// byPolicy is what the policy gives back of a booking that is cancelled now.
func (c *Cancellations) byPolicy(of purchase, now time.Time) store.Owed {
	if of.payment.Left() == 0 {
		return store.Owed{}
	}
	percent := of.payment.Policy.Percent(of.madeAt, of.startsAt, now)
	amount := min(c.payable(of, refund.Share(of.payment.Amount, percent)), of.payment.Left())
	return store.Owed{Amount: amount, Percent: percent}
}

// payable is the most that the provider can pay of an amount; some pay certain currencies in coarser steps than these have.
func (c *Cancellations) payable(of purchase, amount int64) int64 {
	provider, connected := c.providers[of.payment.Provider]
	if !connected {
		return amount
	}
	payable, err := provider.Chargeable(amount, of.currency)
	if err != nil {
		return 0 // less than the smallest coin
	}
	return payable
}

// PreviewTicket says what a cancellation of an order of tickets by the owner would do now. Faults: not_found.
func (c *Cancellations) PreviewTicket(ctx context.Context, businessID, id uuid.UUID) (Cancellation, error) {
	t, err := c.records.Ticket(ctx, businessID, id)
	if err != nil {
		return Cancellation{}, noTickets(err)
	}
	return c.preview(ticketPurchase(t), c.clock.Now()), nil
}

// CancelTicket cancels an order of tickets for the owner, as [Cancellations.Cancel] does a booking; its tickets are free again at once.
func (c *Cancellations) CancelTicket(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Ticket, error) {
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, businessID, id, now, func(t store.Ticket) (store.Owed, error) {
		return c.owed(ticketPurchase(t), wanted, now)
	})
	return cancelled, noTickets(err)
}

// CancelTicketForCustomer cancels an order of tickets for its customer, as [Cancellations.CancelForCustomer] does a booking.
func (c *Cancellations) CancelTicketForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID, seen int64) (store.Ticket, error) {
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, offer.ID, id, now, func(t store.Ticket) (store.Owed, error) {
		return c.agreed(offer, ticketPurchase(t), seen, now)
	})
	return cancelled, noTickets(err)
}

// RefundTicket refunds an order of tickets that is cancelled, as [Cancellations.Refund] does a booking.
func (c *Cancellations) RefundTicket(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Ticket, error) {
	now := c.clock.Now()
	refunded, err := c.records.RefundTicket(ctx, businessID, id, now, func(t store.Ticket) (store.Owed, error) {
		return c.afterwards(ticketPurchase(t), wanted, now)
	})
	return refunded, noTickets(err)
}

// noTickets says that there are no such tickets, or that they are cancelled, and passes any other error on.
func noTickets(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "This business has no such tickets.")
	case errors.Is(err, store.ErrCancelled):
		return fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	return err
}
