package integrations

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CreateCalendar creates a calendar feed. Only its result contains the token and the URL of the feed.
func (o *UseCases) CreateCalendar(ctx context.Context, by peers.Principal,
	newCalendar booking.NewCalendar) (*booking.Calendar, error) {
	business, err := o.FindBusiness(ctx, newCalendar.Slug)
	if err != nil {
		return nil, err
	}
	calendar, err := o.Bookings.CreateCalendar(ctx, business.ID, newCalendar)
	if err == nil {
		o.LogChange(ctx, by, "create calendar", newCalendar.Slug, slog.String("calendar_id", calendar.ID.String()),
			slog.String("shows", calendar.Shows))
	}
	return calendar, err
}

// RevokeCalendar revokes a calendar feed. The URL of the feed stops working at once.
func (o *UseCases) RevokeCalendar(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) error {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Bookings.RevokeCalendar(ctx, business.ID, id); err != nil {
		return err
	}
	o.LogChange(ctx, by, "revoke calendar", slug, slog.String("calendar_id", id.String()))
	return nil
}
