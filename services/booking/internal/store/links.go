package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/event"
)

// linkedTable is the table of what a link can lead to.
var linkedTable = map[event.SubjectKind]string{event.Booking: "bookings", event.Ticket: "tickets"}

// LinkHash returns what is kept of the link to a booking or an order of tickets, nil where the customer was forgotten. Errors:
// [ErrNotFound].
func (s *Store) LinkHash(ctx context.Context, businessID uuid.UUID, kind event.SubjectKind, id uuid.UUID) ([]byte, error) {
	var kept []byte
	err := s.pool.QueryRow(ctx, `SELECT link_hash FROM `+linkedTable[kind]+` WHERE business_id = $1 AND id = $2`, businessID, id).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read what is kept of a link: %w", err)
	}
	return kept, nil
}
