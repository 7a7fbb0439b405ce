package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// ErrUnknownKey means that no removal came with this Idempotency-Key.
var ErrUnknownKey = errors.New("no removal has this key")

// Meant returns the business that a removal means: the business that had the slug when a request with this
// Idempotency-Key first came. The request must have such a key. The result is stored for a day. business is the
// business that has the slug now, or the nil id if no business has it. Errors: [ErrUnknownKey] if no business has the
// slug and no result is stored.
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
