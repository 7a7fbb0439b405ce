package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/cancellation"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
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

// Preview says what a cancellation by the owner would do now. Faults: not_found.
func (c *Cancellations) Preview(ctx context.Context, businessID, id uuid.UUID) (cancellation.Preview, error) {
	b, err := c.find(ctx, businessID, id)
	if err != nil {
		return cancellation.Preview{}, err
	}
	return c.ofBooking(b).Preview(c.clock.Now()), nil
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

// ofBooking is a booking as far as refunds ask.
func (c *Cancellations) ofBooking(b store.Booking) cancellation.Purchase {
	cancel, _ := state.Of(state.Cancel)
	return cancellation.Purchase{
		What: "booking", Status: string(b.Status), Cancellable: cancel.Allows(b.Status), Paid: c.paid(b.Payment, b.Currency), Currency: b.Currency,
		MadeAt: b.CreatedAt, StartsAt: b.StartsAt, Unconfirmed: b.Status == state.Pending, Withdrawn: b.Withdrawn,
	}
}

// ofTicket is an order of tickets as far as refunds ask.
func (c *Cancellations) ofTicket(t store.Ticket) cancellation.Purchase {
	return cancellation.Purchase{
		What: "order of tickets", Status: t.Status, Cancellable: t.Status != booking.StatusCancelled, Paid: c.paid(t.Payment, t.Currency), Currency: t.Currency,
		MadeAt: t.CreatedAt, StartsAt: t.StartsAt, FormerStarts: t.FormerStarts, Withdrawn: t.Withdrawn,
	}
}

func (c *Cancellations) paid(p *store.Payment, currency money.Currency) cancellation.Paid {
	if p == nil {
		return cancellation.Paid{}
	}
	return cancellation.Paid{
		Amount: p.Amount, Left: p.Left(), Refunding: p.RefundStatus == payment.RefundPending, Policy: p.Policy, Elsewhere: p.RefundedElsewhere,
		Step: c.providers.Step(p.Provider, currency),
	}
}

// Cancel cancels a booking for the owner, at once, and refunds as much as is wanted: by the policy the booking was made under where
// wanted is "". Faults: not_found; conflict where the booking's status does not allow it or more is wanted than is left to refund;
// invalid_parameter for what is no amount.
func (c *Cancellations) Cancel(ctx context.Context, by actor.Actor, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	return c.cancel(ctx, businessID, id, now, func(b store.Booking) (refund.Owed, error) { return c.ofBooking(b).Owed(wanted, now) })
}

// CancelForCustomer cancels a booking for its customer, by the policy it was made under, where the offer of the business lets
// customers cancel now. agreed is the refund that the customer has agreed to, in the currency of the sale. Faults: not_found;
// invalid_parameter for what is no amount of it; conflict where it cannot be cancelled now, or the refund has become another one.
func (c *Cancellations) CancelForCustomer(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID, agreed decimal.Decimal) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	return c.cancel(ctx, offer.ID, id, now, func(b store.Booking) (refund.Owed, error) { return c.ofBooking(b).Agreed(offer, agreed, now) })
}

func (c *Cancellations) cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time, owed func(store.Booking) (refund.Owed, error)) (store.Booking, error) {
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
func (c *Cancellations) Refund(ctx context.Context, by actor.Actor, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	refunded, err := c.records.Refund(ctx, businessID, id, now, func(b store.Booking) (refund.Owed, error) {
		return c.ofBooking(b).Afterwards(wanted, now)
	})
	return refunded, noBooking(err)
}

// PreviewTicket says what a cancellation of an order of tickets by the owner would do now. Faults: not_found.
func (c *Cancellations) PreviewTicket(ctx context.Context, businessID, id uuid.UUID) (cancellation.Preview, error) {
	t, err := c.records.Ticket(ctx, businessID, id)
	if err != nil {
		return cancellation.Preview{}, noTickets(err)
	}
	return c.ofTicket(t).Preview(c.clock.Now()), nil
}

// CancelTicket cancels an order of tickets for the owner, as [Cancellations.Cancel] does a booking; its tickets are free again at once.
func (c *Cancellations) CancelTicket(ctx context.Context, by actor.Actor, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, businessID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Owed(wanted, now)
	})
	return cancelled, noTickets(err)
}

// CancelTicketForCustomer cancels an order of tickets for its customer, as [Cancellations.CancelForCustomer] does a booking.
func (c *Cancellations) CancelTicketForCustomer(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID, agreed decimal.Decimal) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, offer.ID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Agreed(offer, agreed, now)
	})
	return cancelled, noTickets(err)
}

// RefundTicket refunds an order of tickets that is cancelled, as [Cancellations.Refund] does a booking.
func (c *Cancellations) RefundTicket(ctx context.Context, by actor.Actor, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	refunded, err := c.records.RefundTicket(ctx, businessID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Afterwards(wanted, now)
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
