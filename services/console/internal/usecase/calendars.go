package usecase

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// CreateCalendar makes a calendar feed. Only this answer contains the feed's token and address.
func (o *Owner) CreateCalendar(ctx context.Context, by Principal,
	wanted booking.NewCalendar) (*booking.Calendar, error) {
	business, err := o.Business(ctx, wanted.Slug)
	if err != nil {
		return nil, err
	}
	made, err := o.Bookings.CreateCalendar(ctx, business.ID, wanted)
	if err == nil {
		o.changed(ctx, by, "create calendar", wanted.Slug, slog.String("calendar_id", made.ID.String()),
			slog.String("shows", made.Shows))
	}
	return made, err
}

// RevokeCalendar ends a calendar feed at once.
func (o *Owner) RevokeCalendar(ctx context.Context, by Principal, slug string, id uuid.UUID) error {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Bookings.RevokeCalendar(ctx, business.ID, id); err != nil {
		return err
	}
	o.changed(ctx, by, "revoke calendar", slug, slog.String("calendar_id", id.String()))
	return nil
}
