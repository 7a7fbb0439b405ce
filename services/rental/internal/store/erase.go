package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// chargeEnded is an SQL condition: the reservation has no charge, or its charge is
// final. [Store.Erase] deletes no other reservations, so that no refund is lost.
const chargeEnded = unfinished + ` IS NOT TRUE`

// Erase deletes the data of removed businesses and returns the number of
// deleted rows. It does not delete a reservation before its charge is final.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "reservations", Where: chargeEnded},
		{Table: "rentals", Where: `NOT EXISTS (SELECT FROM reservations AS r WHERE r.business_id = t.business_id)`},
		{Table: "events"},
	}...)
}
