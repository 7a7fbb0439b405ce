package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// ErrUnknownKey says that no removal came with this Idempotency-Key.
var ErrUnknownKey = errors.New("no removal has this key")

// Meant returns the business that a removal means: the one that had the slug when the request's Idempotency-Key, which it must have, came first. That
// is noted for a day; business has the slug now, the nil id is none. Errors: [ErrUnknownKey] where nothing has the slug and nothing is noted.
func (s *Store) Meant(ctx context.Context, slug string, business uuid.UUID) (uuid.UUID, error) {
	meant, err := postgres.Once(ctx, s.pool, postgres.WriteID("slug", slug), func(context.Context, pgx.Tx) (uuid.UUID, error) {
		if business == uuid.Nil {
			return uuid.Nil, ErrUnknownKey
		}
		return business, nil
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("note which business is meant: %w", err)
	}
	return meant, nil
}
