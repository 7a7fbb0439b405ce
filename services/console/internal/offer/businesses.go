package offer

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// RemovalRecords stores, for each Idempotency-Key of a request to remove a business, the id of this business.
// [store.Store] implements it.
type RemovalRecords interface {
	// FindBusinessToRemove returns the id of the business that had the slug when the first request with the
	// Idempotency-Key in ctx arrived. The argument `business` is the id of the business that has the slug now, or the
	// nil id if no business has the slug. Error: store.ErrUnknownKey.
	FindBusinessToRemove(ctx context.Context, slug string, business uuid.UUID) (uuid.UUID, error)
}

var _ RemovalRecords = (*store.Store)(nil)

// Remove removes a business. If customers have future bookings, tickets or reservations, Remove removes the business
// only if `force` is true. Remove revokes the API keys first, so that programs stop booking before the offer
// disappears. Faults: conflict if customers have future bookings, tickets or reservations and `force` is false;
// outcome_unknown if catalog fails after the keys were revoked.
//
// The caller can repeat an interrupted removal as long as the business still has the slug. If another business has
// taken the slug in the meantime, a repeated request with the same Idempotency-Key does not remove that other business.
func (o *UseCases) Remove(ctx context.Context, by peers.Principal, slug string, force bool) error {
	business, err := o.FindBusiness(ctx, slug)
	if idempotency.Of(ctx).Key != "" && (err == nil || fault.Is(err, fault.BusinessNotFound)) {
		var has uuid.UUID
		if business != nil {
			has = business.ID
		}
		meant, unknown := o.Removals.FindBusinessToRemove(ctx, slug, has)
		switch {
		case unknown == nil && meant != has:
			// If the first request completed the removal, catalog returns its stored result for the Idempotency-Key. If
			// the first request did not complete the removal, catalog finds no business that has both this slug and
			// this id, and removes nothing.
			return o.Businesses.Delete(ctx, slug, meant)
		case unknown != nil && !errors.Is(unknown, store.ErrUnknownKey):
			return unknown
		}
	}
	if err != nil {
		return err
	}
	if !force {
		if err := o.refuseIfSalesAhead(ctx, business); err != nil {
			return err
		}
	}
	if err := o.Bookings.RevokeAllKeys(ctx, business.ID); err != nil {
		return err
	}
	if err := o.Businesses.Delete(ctx, business.Slug, business.ID); err != nil {
		return peers.ToUnfinishedFault(err)
	}
	o.LogChange(ctx, by, "delete", business.Slug, slog.Bool("force", force))
	return nil
}

// refuseIfSalesAhead returns a fault with code conflict if customers have future bookings, tickets or reservations.
func (o *UseCases) refuseIfSalesAhead(ctx context.Context, business *catalog.Snapshot) error {
	ahead, err := o.countFutureSales(ctx, business)
	if err != nil || ahead.Count() == 0 {
		return err
	}
	return fault.Newf(fault.Conflict,
		"Customers are expected: bookings (%d), tickets (%d) and reservations (%d) lie ahead; cancel them first, or "+
			"remove it with force=true.",
		ahead.Bookings, ahead.Tickets, ahead.Reservations)
}

// countFutureSales counts the future bookings, tickets and reservations that customers have at a business.
func (o *UseCases) countFutureSales(ctx context.Context, business *catalog.Snapshot) (plan.KeptSales, error) {
	var (
		ahead plan.KeptSales
		err   error
	)
	if ahead.Bookings, err = o.Bookings.CountAhead(ctx, business.ID); err != nil {
		return ahead, err
	}
	if ahead.Tickets, err = o.Bookings.TicketsAhead(ctx, business.ID, business.Slug); err != nil {
		return ahead, err
	}
	ahead.Reservations, err = o.Rentals.CountAhead(ctx, business.Slug)
	return ahead, err
}
