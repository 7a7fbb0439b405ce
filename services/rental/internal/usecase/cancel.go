package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// purchase returns the data of a reservation that determine its
// refund, in the form of libs/sale/cancellation (lifecycle.md §4).
func purchase(r store.Reservation, offer *catalog.Offer) cancellation.Purchase {
	cancel, _ := state.Of(state.Cancel)
	of := cancellation.Purchase{
		What: "reservation", Status: string(r.Status), Cancellable: cancel.Allows(r.Status), Currency: offer.Money(),
		MadeAt: r.CreatedAt, StartsAt: starts(r, zoneOf(r, offer)), Withdrawn: r.Withdrawn,
	}
	if r.Price != nil {
		of.Currency = r.Price.Currency
	}
	if p := r.Payment; p != nil {
		of.Paid = cancellation.Paid{Amount: p.Amount, Left: p.Left(),
			Refunding: p.RefundStatus == booking.RefundPending, Policy: p.Policy, Step: p.Step,
			Elsewhere: p.RefundedElsewhere}
	}
	return of
}

// Cancellation returns what a cancellation by the owner would refund now. Fault: not_found.
func (o *Owner) Cancellation(ctx context.Context, offer *catalog.Offer, id uuid.UUID) (cancellation.Preview, error) {
	r, err := o.reservations.Reservation(ctx, offer.ID, id)
	if err != nil {
		return cancellation.Preview{}, refusal(err, "")
	}
	return purchase(r, offer).Preview(o.clock.Now()), nil
}

// Cancel cancels a reservation for the owner, with immediate effect. It refunds the argument wanted. If
// wanted is "", the cancellation policy that applied when the reservation was made determines the amount.
//
// Faults: not_found; conflict if the status does not allow it, or if wanted is
// more than is left to refund; invalid_parameter if wanted is not an amount.
func (o *Owner) Cancel(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID,
	wanted booking.RefundAmount) (store.Reservation, error) {
	return o.change(actor.With(ctx, by), offer, id, o.reservations.Cancel,
		func(p cancellation.Purchase, now time.Time) (refund.Owed, error) {
			return p.Owed(wanted, now)
		})
}

// Refund refunds the argument wanted of a reservation that is over, or all that is left if wanted is "". The
// owner uses it to retry a refund that the provider refused, or to refund more than the policy requires.
//
// Faults: not_found; conflict if the reservation is not over, a refund is pending,
// or wanted is more than is left; invalid_parameter if wanted is not an amount.
func (o *Owner) Refund(ctx context.Context, by actor.Actor, offer *catalog.Offer, id uuid.UUID,
	wanted booking.RefundAmount) (store.Reservation, error) {
	return o.change(actor.With(ctx, by), offer, id, o.reservations.Refund,
		func(p cancellation.Purchase, now time.Time) (refund.Owed, error) {
			p.Cancellable = p.Cancellable || p.Status == string(state.PickedUp)
			return p.Afterwards(wanted, now)
		})
}

// changeOwed is the type of [store.Store.Cancel] and [store.Store.Refund].
type changeOwed func(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	owed func(store.Reservation) (refund.Owed, error)) (store.Reservation, error)

func (o *Owner) change(ctx context.Context, offer *catalog.Offer, id uuid.UUID, change changeOwed,
	owed func(cancellation.Purchase, time.Time) (refund.Owed, error)) (store.Reservation, error) {
	now := o.clock.Now()
	changed, err := change(ctx, offer.ID, id, now, func(r store.Reservation) (refund.Owed, error) {
		return owed(purchase(r, offer), now)
	})
	return changed, refusal(err, "cancel takes one that is pending or reserved")
}

// refusal converts an error of the store into a fault: not_found for an unknown reservation,
// conflict if its status does not allow the transition. The argument takes is the part of the
// fault's text that names the required status. refusal returns any other error unchanged.
func refusal(err error, takes string) error {
	var refused *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "Reservation not found")
	case errors.As(err, &refused):
		return fault.Newf(fault.Conflict, "The reservation is %s; %s.", refused.Status, takes)
	}
	return err
}
