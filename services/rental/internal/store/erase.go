package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// chargeEnded says of a reservation that its charge, if it has one, is final: until then it stays, so that no refund is forgotten.
const chargeEnded = unfinished + ` IS NOT TRUE`

// Erase deletes all that is kept of these businesses and returns how many rows that were.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "reservations", Where: chargeEnded},
		{Table: "rentals", Where: `NOT EXISTS (SELECT FROM reservations AS r WHERE r.business_id = t.business_id)`}, {Table: "events"},
	}...)
}
