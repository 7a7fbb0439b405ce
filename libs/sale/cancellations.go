// Package sale cancels and refunds bookings, orders of tickets and reservations by the
// same rules. It also creates their online payments. The services that store these
// sales pass functions that read and write them. The rules are in the subpackages.
package sale

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// Change changes one sale of a business, once for each Idempotency-Key. It locks the
// sale in a transaction, calls the function `part` with the locked sale, and starts
// the refund that `part` returns. If Change returns an error, nothing has changed.
type Change[S any] func(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(S) (refund.Part, error)) (S, error)

// Store holds the functions that read and change the sales of one kind: bookings, orders of tickets or reservations.
type Store[S any] struct {
	Find   func(ctx context.Context, businessID, id uuid.UUID) (S, error)
	Cancel Change[S] // cancels the sale, frees the time or places that it occupies, and refunds
	Refund Change[S]
}

// Cancellations cancels and refunds the sales of one kind (lifecycle.md §4). One transaction stores the
// cancellation together with its refund. After that transaction, the service calls the payment provider.
type Cancellations[S any] struct {
	Store Store[S]
	// NewSale returns the data of a sale from which its refund is computed.
	NewSale func(S) cancellation.Sale
	// ToFault turns an error of Store into a fault: not_found if the sale is unknown, conflict if the
	// status of the sale does not allow the change. ToFault returns all other errors, and nil, unchanged.
	ToFault func(error) error
	Clock   clock.Clock
}

// Preview returns the effect that a cancellation by the owner would have now. Fault: not_found.
func (c Cancellations[S]) Preview(ctx context.Context, businessID, id uuid.UUID) (cancellation.Preview, error) {
	subject, err := c.Store.Find(ctx, businessID, id)
	if err != nil {
		return cancellation.Preview{}, c.ToFault(err)
	}
	return c.NewSale(subject).Preview(c.Clock.Now()), nil
}

// PreviewForCustomer returns the effect that a cancellation by the
// customer would have now, according to the rules of the offer.
func (c Cancellations[S]) PreviewForCustomer(offer *catalog.Snapshot, s S) cancellation.Preview {
	return c.NewSale(s).PreviewForCustomer(offer, c.Clock.Now())
}

// Cancel cancels a sale for the owner, with immediate effect. The argument `requested` is the requested
// refund. If it is "", the cancellation policy at the time of the sale determines the refund.
//
// Faults: not_found; conflict if the status does not allow the cancellation, or if `requested`
// exceeds the amount that is left to refund; invalid_parameter if `requested` is not an amount.
func (c Cancellations[S]) Cancel(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	requested booking.RefundAmount) (S, error) {
	return c.change(ctx, by, c.Store.Cancel, businessID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) { return s.Refund(requested, now) })
}

// CancelForCustomer cancels a sale for its customer, if the offer allows customers to cancel the
// sale now. The cancellation policy at the time of the sale determines the refund. The argument
// `shownRefund` is the refund that the page showed to the customer, in the currency of the sale.
//
// Faults: not_found; invalid_parameter if `shownRefund` is not an amount of that currency; conflict
// if the sale cannot be cancelled now, or if the refund is no longer the amount `shownRefund`.
func (c Cancellations[S]) CancelForCustomer(ctx context.Context, offer *catalog.Snapshot, id uuid.UUID,
	shownRefund decimal.Decimal) (S, error) {
	return c.change(ctx, actor.Actor{Kind: actor.Customer}, c.Store.Cancel, offer.ID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) {
			return s.RefundForCustomer(offer, shownRefund, now)
		})
}

// Refund refunds a sale that has ended or was cancelled. The argument `requested` is the
// requested amount; "" refunds all that is left. The owner uses Refund to retry a refund
// that the provider refused, or to refund more than the cancellation policy requires.
//
// Faults: not_found; conflict if the sale has neither ended nor been cancelled, if a refund is
// pending, or if `requested` exceeds the amount that is left; invalid_parameter if `requested` is not an amount.
func (c Cancellations[S]) Refund(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	requested booking.RefundAmount) (S, error) {
	return c.change(ctx, by, c.Store.Refund, businessID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) { return s.RefundAfterEnd(requested, now) })
}

func (c Cancellations[S]) change(ctx context.Context, by actor.Actor, change Change[S], businessID, id uuid.UUID,
	part func(cancellation.Sale, time.Time) (refund.Part, error)) (S, error) {
	now := c.Clock.Now()
	changed, err := change(actor.With(ctx, by), businessID, id, now, func(s S) (refund.Part, error) {
		return part(c.NewSale(s), now)
	})
	return changed, c.ToFault(err)
}
