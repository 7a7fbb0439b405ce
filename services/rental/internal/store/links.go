package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/sale/link"
)

// LinkHash returns the hash of the token in the customer's link to a reservation.
// It returns nil if the customer was anonymized. Errors: [ErrNotFound].
func (s *Store) LinkHash(ctx context.Context, businessID, id uuid.UUID) ([]byte, error) {
	var kept []byte
	err := s.pool.QueryRow(ctx, `SELECT link_hash FROM reservations WHERE business_id = $1 AND id = $2`, businessID,
		id).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read what is kept of a link: %w", err)
	}
	return kept, nil
}

// Unpaid reports whether a reservation was cancelled because it was not paid in time. The
// events of the reservation contain this reason; after their deletion the result is false.
func (s *Store) Unpaid(ctx context.Context, businessID, id uuid.UUID) (bool, error) {
	return eventlog.Unpaid(ctx, s.pool, businessID, id)
}

// Linked is the reservation to which a customer's link leads, together with the id of its business.
type Linked struct {
	BusinessID uuid.UUID
	Reservation
}

// ByLink returns the reservation whose link contains the token with the given hash. Errors: [ErrNotFound].
func (s *Store) ByLink(ctx context.Context, hash []byte) (Linked, error) {
	var found Linked
	err := s.pool.QueryRow(ctx, `SELECT business_id, id FROM reservations WHERE link_hash = $1`,
		hash).Scan(&found.BusinessID, &found.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Linked{}, ErrNotFound
	}
	if err != nil {
		return Linked{}, fmt.Errorf("follow a link: %w", err)
	}
	rows, err := s.pool.Query(ctx, `SELECT `+reservationColumns+` FROM reservations WHERE business_id = $1 AND id = $2`,
		found.BusinessID, found.ID)
	if err != nil {
		return Linked{}, fmt.Errorf("read a reservation: %w", err)
	}
	found.Reservation, err = pgx.CollectExactlyOneRow(rows, scanReservation)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && !link.Same(found.LinkHash, hash):
		return Linked{}, ErrNotFound
	case err != nil:
		return Linked{}, fmt.Errorf("read a reservation: %w", err)
	}
	return found, nil
}
