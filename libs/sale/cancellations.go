// Package sale implements what bookings, orders of tickets and reservations have in common: how they are cancelled
// and refunded. The services that store them call it with a store of their own. The rules are in the packages below.
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

// Change changes one sale of a business in a transaction that has locked it, once for each Idempotency-Key. It calls
// part with the locked sale and starts the refund that part returns. After an error nothing has changed.
type Change[S any] func(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(S) (refund.Part, error)) (S, error)

// Store reads and changes the sales of one kind.
type Store[S any] struct {
	Find   func(ctx context.Context, businessID, id uuid.UUID) (S, error)
	Cancel Change[S] // frees what the sale occupies, and refunds
	Refund Change[S]
}

// Cancellations cancels and refunds the sales of one kind (lifecycle.md §4). One
// transaction writes both the cancellation and the refund. The provider is called later.
type Cancellations[S any] struct {
	Store Store[S]
	// Terms returns the data of a sale that determine its refund.
	Terms func(S) cancellation.Sale
	// Fault turns an error of the store into a fault: not_found for an unknown sale, conflict if
	// its status does not allow the change. It returns any other error, and nil, unchanged.
	Fault func(error) error
	Clock clock.Clock
}

// Preview returns what a cancellation by the owner would refund now. Fault: not_found.
func (c Cancellations[S]) Preview(ctx context.Context, businessID, id uuid.UUID) (cancellation.Preview, error) {
	found, err := c.Store.Find(ctx, businessID, id)
	if err != nil {
		return cancellation.Preview{}, c.Fault(err)
	}
	return c.Terms(found).Preview(c.Clock.Now()), nil
}

// PreviewForCustomer returns what a cancellation of the sale by its customer would do now, under the business's offer.
func (c Cancellations[S]) PreviewForCustomer(offer *catalog.Offer, s S) cancellation.Preview {
	return c.Terms(s).PreviewForCustomer(offer, c.Clock.Now())
}

// Cancel cancels a sale for the owner, with immediate effect. It refunds the argument wanted. If wanted
// is "", the cancellation policy that applied when the sale was made determines the amount.
//
// Faults: not_found; conflict if the status does not allow it, or if wanted is
// more than is left to refund; invalid_parameter if wanted is not an amount.
func (c Cancellations[S]) Cancel(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (S, error) {
	return c.change(ctx, by, c.Store.Cancel, businessID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) { return s.Refund(wanted, now) })
}

// CancelForCustomer cancels a sale for its customer, if the offer allows customers to cancel now. The
// cancellation policy that applied when the sale was made determines the refund. The argument
// shown is the refund that the page showed to the customer, in the currency of the sale.
//
// Faults: not_found; invalid_parameter if shown is not an amount of that currency;
// conflict if the sale cannot be cancelled now, or if the refund is no longer the one shown.
func (c Cancellations[S]) CancelForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID,
	shown decimal.Decimal) (S, error) {
	return c.change(ctx, actor.Actor{Kind: actor.Customer}, c.Store.Cancel, offer.ID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) {
			return s.RefundForCustomer(offer, shown, now)
		})
}

// Refund refunds the argument wanted of a sale that is over or cancelled, or all that is left if wanted is "". The
// owner uses it to retry a refund that the provider refused, or to refund more than the cancellation policy requires.
//
// Faults: not_found; conflict if the sale is not over, a refund is pending,
// or wanted is more than is left; invalid_parameter if wanted is not an amount.
func (c Cancellations[S]) Refund(ctx context.Context, by actor.Actor, businessID, id uuid.UUID,
	wanted booking.RefundAmount) (S, error) {
	return c.change(ctx, by, c.Store.Refund, businessID, id,
		func(s cancellation.Sale, now time.Time) (refund.Part, error) { return s.RefundAfterEnd(wanted, now) })
}

func (c Cancellations[S]) change(ctx context.Context, by actor.Actor, change Change[S], businessID, id uuid.UUID,
	part func(cancellation.Sale, time.Time) (refund.Part, error)) (S, error) {
	now := c.Clock.Now()
	changed, err := change(actor.With(ctx, by), businessID, id, now, func(s S) (refund.Part, error) {
		return part(c.Terms(s), now)
	})
	return changed, c.Fault(err)
}
