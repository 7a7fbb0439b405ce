package store

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/eventlog"
)

// kept returns the SQL of the data that an event keeps of a reservation's row: all columns except the hash of the link.
func kept(of string) string { return `to_jsonb(` + of + `) - 'link_hash'` }

// Kept decodes reservations from the data that events keep.
func (s *Store) Kept(ctx context.Context, kept []json.RawMessage) ([]Reservation, error) {
	return eventlog.Rows(ctx, s.pool, "reservations", reservationColumns, kept, scanReservation)
}
