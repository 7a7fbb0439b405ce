package usecase

import (
	"context"
	"log/slog"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Remove removes a business; one whose customers are expected only by force. It takes the keys away first: whoever books by key is
// stopped before the offer goes, and a removal that breaks off can be repeated while the slug still leads to the business. Faults:
// conflict where customers are expected.
func (o *Owner) Remove(ctx context.Context, by Principal, slug string, force bool) error {
	business, err := o.Business(ctx, slug)
	if fault.Is(err, fault.BusinessNotFound) && idempotency.Of(ctx).Key != "" {
		return o.Businesses.Delete(ctx, slug) // catalog knows the key of a removal that is repeated, and else removes nothing
	}
	if err != nil {
		return err
	}
	if !force {
		if err := o.refuseWhileExpected(ctx, business); err != nil {
			return err
		}
	}
	if err := o.Bookings.RevokeAllKeys(ctx, business.ID); err != nil {
		return err
	}
	if err := o.Businesses.Delete(ctx, business.Slug); err != nil {
		return err
	}
	o.changed(ctx, by, "delete", business.Slug, slog.Bool("force", force))
	return nil
}

// refuseWhileExpected counts whatever customers were promised: appointments and seats, tickets, reservations.
func (o *Owner) refuseWhileExpected(ctx context.Context, business *catalog.Offer) error {
	bookings, err := o.Bookings.Ahead(ctx, business.ID)
	if err != nil {
		return err
	}
	tickets, err := o.Bookings.TicketsAhead(ctx, business.ID, business.Slug)
	if err != nil {
		return err
	}
	reservations, err := o.Rentals.Ahead(ctx, business.Slug)
	if err != nil || bookings+tickets+reservations == 0 {
		return err
	}
	return fault.Newf(fault.Conflict,
		"Customers are expected: bookings (%d), tickets (%d) and reservations (%d) lie ahead; cancel them first, or remove it with force=true.",
		bookings, tickets, reservations)
}
