package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// LinkHash returns what is kept of the link to a reservation, nil where the customer was forgotten. Errors: [ErrNotFound].
func (s *Store) LinkHash(ctx context.Context, businessID, id uuid.UUID) ([]byte, error) {
	var kept []byte
	err := s.pool.QueryRow(ctx, `SELECT link_hash FROM reservations WHERE business_id = $1 AND id = $2`, businessID, id).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read what is kept of a link: %w", err)
	}
	return kept, nil
}
