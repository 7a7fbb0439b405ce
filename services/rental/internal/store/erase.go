package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// paymentEndedSQL is an SQL condition: the reservation has no payment, or its payment is final.
// [Store.Erase] deletes only reservations that meet this condition, so that no refund is lost.
const paymentEndedSQL = unfinishedSQL + ` IS NOT TRUE`

// Erase deletes the data of removed businesses and returns the number of
// deleted rows. It does not delete a reservation before its payment is final.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "reservations", Where: paymentEndedSQL},
		{Table: "rentals", Where: `NOT EXISTS (SELECT FROM reservations AS r WHERE r.business_id = t.business_id)`},
		{Table: "events"},
	}...)
}
