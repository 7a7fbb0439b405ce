package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrUnknownKey means that no business has the slug, and that Slotmesh has stored no earlier request to remove the slug
// with this Idempotency-Key.
var ErrUnknownKey = errors.New("no removal has this key")

// FindBusinessToRemove returns the id of the business that a request to remove a business means. This is the business
// that had the slug when the first request with the same Idempotency-Key arrived. FindBusinessToRemove stores the id
// for a day, so that a repeated request does not remove another business that got the slug later.
//
// The argument `business` is the id of the business that has the slug now, or the nil UUID. The request must have an
// Idempotency-Key. Errors: [ErrUnknownKey] if no business has the slug and no id is stored.
func (s *Store) FindBusinessToRemove(ctx context.Context, slug string, business uuid.UUID) (uuid.UUID, error) {
	meant, err := postgres.WriteIdempotently(ctx, s.pool, postgres.WriteID("slug", slug),
		func(context.Context, pgx.Tx) (uuid.UUID, error) {
			if business == uuid.Nil {
				return uuid.Nil, ErrUnknownKey
			}
			return business, nil
		})
	if err != nil {
		return uuid.Nil, fmt.Errorf("store the business that a removal means: %w", err)
	}
	return meant, nil
}
