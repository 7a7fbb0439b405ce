package store

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// kept returns an SQL expression for the data of an event. The data are all columns of a reservation except
// the hash of the customer's link. The argument `of` is the name of the query that returns the reservation.
func kept(of string) string { return `to_jsonb(` + of + `) - 'link_hash'` }

// Kept decodes reservations from the stored data of events.
func (s *Store) Kept(ctx context.Context, kept []json.RawMessage) ([]Reservation, error) {
	return eventlog.Rows(ctx, s.pool, "reservations", reservationColumns, kept, scanReservation)
}
