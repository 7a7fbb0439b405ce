package store

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/eventlog"
)

// kept is what an event keeps of a reservation's row: all of it but the hash of a secret.
func kept(of string) string { return `to_jsonb(` + of + `) - 'link_hash'` }

// Kept reads reservations from what events keep of them.
func (s *Store) Kept(ctx context.Context, kept []json.RawMessage) ([]Reservation, error) {
	return eventlog.Rows(ctx, s.pool, "reservations", reservationColumns, kept, scanReservation)
}
