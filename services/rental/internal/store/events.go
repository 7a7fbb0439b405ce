package store

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// eventDataSQL returns an SQL expression for the data of an event. The data are all columns of a reservation except
// the hash of the customer's link. The argument `row` is the name of the query that returns the reservation.
func eventDataSQL(row string) string { return `to_jsonb(` + row + `) - 'link_hash'` }

// DecodeReservations decodes reservations from the stored data of events.
func (s *Store) DecodeReservations(ctx context.Context, records []json.RawMessage) ([]Reservation, error) {
	return eventlog.QueryRows(ctx, s.pool, "reservations", reservationColumns, records, scanReservation)
}
