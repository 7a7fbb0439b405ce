package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Book makes a booking for a customer at the business with the given slug. Faults: the faults of the booking service.
func (o *UseCases) Book(ctx context.Context, by peers.Principal, slug string,
	newBooking booking.NewBooking) (*booking.Booking, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	booked, err := o.Bookings.Book(ctx, business.ID, business.Slug, newBooking)
	if err == nil {
		o.LogChange(ctx, by, "book", slug, slog.String("booking_id", booked.ID.String()),
			slog.Bool("override", newBooking.Override))
	}
	return booked, err
}

// Reschedule changes the time of a booking. If the argument `to` names a member, Reschedule also changes the member of
// the booking. Faults: the faults of the booking service.
func (o *UseCases) Reschedule(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	to booking.Reschedule) (*booking.Booking, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	moved, err := o.Bookings.Reschedule(ctx, business.ID, id, business.Slug, to, isRefundBounded(by, business.ID))
	if err == nil {
		o.LogChange(ctx, by, "reschedule booking", slug, slog.String("booking_id", id.String()),
			slog.Bool("override", to.Override))
	}
	return moved, err
}

// Relocate changes the location of a booking. Faults: the faults of the booking service.
func (o *UseCases) Relocate(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	to booking.Relocate) (*booking.Booking, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	relocated, err := o.Bookings.Relocate(ctx, business.ID, id, business.Slug, to)
	if err == nil {
		o.LogChange(ctx, by, "relocate booking", slug, slog.String("booking_id", id.String()),
			slog.String("location_id", to.LocationID))
	}
	return relocated, err
}

// isRefundBounded reports whether a reschedule by the given principal limits the refund of a later cancellation
// (lifecycle.md §3). isRefundBounded returns true for roles that reschedule on behalf of the customer. It returns false
// for an operator, an owner or a manager, because these principals may reschedule for a reason of the business.
func isRefundBounded(by peers.Principal, businessID uuid.UUID) bool {
	member, _ := by.MembershipIn(businessID)
	switch member.Role {
	case access.Operator, access.Owner, access.Manager:
		return false
	default: // the other roles act for the customer
	}
	return true
}
