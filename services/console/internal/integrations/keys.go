package integrations

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CreateKey creates an API key. Only its result contains the key's secret.
func (o *UseCases) CreateKey(ctx context.Context, by peers.Principal, slug string,
	newKey booking.NewKey) (*booking.Key, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	key, err := o.Bookings.CreateKey(ctx, business.ID, newKey)
	if err == nil {
		o.LogChange(ctx, by, "create key", slug, slog.String("key_id", key.ID.String()),
			slog.String("scope", key.Scope))
	}
	return key, err
}

// RevokeKey revokes an API key. The key stops working at once.
func (o *UseCases) RevokeKey(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) error {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Bookings.RevokeKey(ctx, business.ID, id); err != nil {
		return err
	}
	o.LogChange(ctx, by, "revoke key", slug, slog.String("key_id", id.String()))
	return nil
}
