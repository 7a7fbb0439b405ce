package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Cancellations cancels and refunds bookings and orders of tickets (lifecycle.md §4). One statement
// writes both the cancellation and the refund. [Payments] then makes the refund at the provider.
type Cancellations struct {
	records   *store.Store
	providers payment.Providers
	clock     clock.Clock
}

// NewCancellations returns a Cancellations for bookings and orders that were charged by these providers.
func NewCancellations(records *store.Store, providers payment.Providers, c clock.Clock) *Cancellations {
	return &Cancellations{records: records, providers: providers, clock: c}
}

// Preview returns what a cancellation by the owner would refund now. Fault: not_found.
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

// noBooking turns [store.ErrNotFound] into the fault not_found for a booking. It returns any other error unchanged.
func noBooking(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such booking.")
	}
	return err
}

// ofBooking returns the data of a booking that determine its refund.
func (c *Cancellations) ofBooking(b store.Booking) cancellation.Purchase {
	cancel, _ := state.Of(state.Cancel)
	return cancellation.Purchase{
		What: "booking", Status: string(b.Status), Cancellable: cancel.Allows(b.Status),
		Paid: c.paid(b.Payment, b.Currency), Currency: b.Currency,
		MadeAt: b.CreatedAt, StartsAt: b.StartsAt, Unconfirmed: b.Status == state.Pending, Withdrawn: b.Withdrawn,
	}
}

// ofTicket returns the data of an order of tickets that determine its refund.
func (c *Cancellations) ofTicket(t store.Ticket) cancellation.Purchase {
	return cancellation.Purchase{
		What: "order of tickets", Status: t.Status, Cancellable: t.Status != booking.StatusCancelled,
		Paid: c.paid(t.Payment, t.Currency), Currency: t.Currency,
		MadeAt: t.CreatedAt, StartsAt: t.StartsAt, FormerStarts: t.FormerStarts, Withdrawn: t.Withdrawn,
	}
}

func (c *Cancellations) paid(p *store.Payment, currency money.Currency) cancellation.Paid {
	if p == nil {
		return cancellation.Paid{}
	}
	return cancellation.Paid{
		Amount: p.Amount, Left: p.Left(), Refunding: p.RefundStatus == payment.RefundPending, Policy: p.Policy,
		Elsewhere: p.RefundedElsewhere,
		Step:      c.providers.Step(p.Provider, currency),
	}
}

// Cancel cancels a booking for the owner, with immediate effect. It refunds the argument wanted. If
// wanted is "", the cancellation policy that applied when the booking was made determines the amount.
//
// Faults: not_found; conflict if the booking's status does not allow it, or if wanted
// is more than is left to refund; invalid_parameter if wanted is not an amount.
func (c *Cancellations) Cancel(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	return c.cancel(ctx, businessID, id, now, func(b store.Booking) (refund.Owed, error) {
		return c.ofBooking(b).Owed(wanted, now)
	})
}

// CancelForCustomer cancels a booking for its customer, if the offer allows customers to cancel
// now. The cancellation policy that applied when the booking was made determines the refund. The
// argument agreed is the refund that the page showed to the customer, in the currency of the sale.
//
// Faults: not_found; invalid_parameter if agreed is not an amount of that currency;
// conflict if the booking cannot be cancelled now, or if the refund is no longer agreed.
func (c *Cancellations) CancelForCustomer(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID,
	agreed decimal.Decimal) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	return c.cancel(ctx, offer.ID, id, now, func(b store.Booking) (refund.Owed, error) {
		return c.ofBooking(b).Agreed(offer, agreed, now)
	})
}

func (c *Cancellations) cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	owed func(store.Booking) (refund.Owed, error)) (store.Booking, error) {
	transition, _ := state.Of(state.Cancel)
	cancelled, err := c.records.Cancel(ctx, businessID, id, now, owed)
	var refused *store.NotAllowedError
	if errors.As(err, &refused) {
		err = fault.Newf(fault.Conflict, "The booking is %s; cancel takes one that is %s.", refused.Status,
			either(transition.From))
	}
	return cancelled, noBooking(err)
}

// Refund refunds the argument wanted of a booking that is over or cancelled, or all that is left if wanted is "". The
// owner uses it to retry a refund that the provider refused, or to refund more than the cancellation policy requires.
//
// Faults: not_found; conflict if the booking is still to come, a refund is pending,
// or wanted is more than is left; invalid_parameter if wanted is not an amount.
func (c *Cancellations) Refund(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (store.Booking, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	refunded, err := c.records.Refund(ctx, businessID, id, now, func(b store.Booking) (refund.Owed, error) {
		return c.ofBooking(b).Afterwards(wanted, now)
	})
	return refunded, noBooking(err)
}

// PreviewTicket returns what a cancellation of an order of tickets by the owner would refund now. Fault: not_found.
func (c *Cancellations) PreviewTicket(ctx context.Context, businessID, id uuid.UUID) (cancellation.Preview, error) {
	t, err := c.records.Ticket(ctx, businessID, id)
	if err != nil {
		return cancellation.Preview{}, noTickets(err)
	}
	return c.ofTicket(t).Preview(c.clock.Now()), nil
}

// CancelTicket cancels an order of tickets for the owner, as [Cancellations.Cancel] cancels a
// booking. Its tickets are for sale again at once.
func (c *Cancellations) CancelTicket(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, businessID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Owed(wanted, now)
	})
	return cancelled, noTickets(err)
}

// CancelTicketForCustomer cancels an order of tickets for its customer, as
// [Cancellations.CancelForCustomer] cancels a booking.
func (c *Cancellations) CancelTicketForCustomer(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID,
	agreed decimal.Decimal) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	cancelled, err := c.records.CancelTicket(ctx, offer.ID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Agreed(offer, agreed, now)
	})
	return cancelled, noTickets(err)
}

// RefundTicket refunds an order of tickets that is cancelled, as [Cancellations.Refund] refunds a booking.
func (c *Cancellations) RefundTicket(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (store.Ticket, error) {
	ctx = actor.With(ctx, by)
	now := c.clock.Now()
	refunded, err := c.records.RefundTicket(ctx, businessID, id, now, func(t store.Ticket) (refund.Owed, error) {
		return c.ofTicket(t).Afterwards(wanted, now)
	})
	return refunded, noTickets(err)
}

// noTickets turns [store.ErrNotFound] into the fault not_found and [store.ErrCancelled] into the
// fault conflict. It returns any other error unchanged.
func noTickets(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "This business has no such tickets.")
	case errors.Is(err, store.ErrCancelled):
		return fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	return err
}
