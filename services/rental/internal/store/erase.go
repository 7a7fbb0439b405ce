package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// Erase deletes all that is kept of these businesses and returns how many rows that were.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "reservations"}, {Table: "rentals"}, {Table: "events"},
	}...)
}
