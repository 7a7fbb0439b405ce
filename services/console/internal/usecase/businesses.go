package usecase

import (
	"context"
	"log/slog"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Publish makes a manifest the newest version of a business.
func (o *Owner) Publish(ctx context.Context, by Principal, slug string, manifest []byte, mediaType, ifMatch string) (*catalog.Published, error) {
	published, err := o.Businesses.Publish(ctx, slug, manifest, mediaType, ifMatch)
	if err == nil {
		o.changed(ctx, by, "publish", slug, slog.Int64("version", published.Version))
	}
	return published, err
}

// Rollback publishes an old version again as the newest.
func (o *Owner) Rollback(ctx context.Context, by Principal, slug string, version int64) (*catalog.Published, error) {
	published, err := o.Businesses.Rollback(ctx, slug, version)
	if err == nil {
		o.changed(ctx, by, "rollback", slug, slog.Int64("to", version), slog.Int64("version", published.Version))
	}
	return published, err
}

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
