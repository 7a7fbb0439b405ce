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
	var hash []byte
	err := s.pool.QueryRow(ctx, `SELECT link_hash FROM reservations WHERE business_id = $1 AND id = $2`, businessID,
		id).Scan(&hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read the hash of a link: %w", err)
	}
	return hash, nil
}

// IsCancelledUnpaid reports whether a reservation was cancelled because it was not paid in time. The events of
// the reservation contain the reason of the cancellation. After these events are deleted, the result is false.
func (s *Store) IsCancelledUnpaid(ctx context.Context, businessID, id uuid.UUID) (bool, error) {
	return eventlog.IsUnpaid(ctx, s.pool, businessID, id)
}

// LinkedReservation is the reservation to which a customer's link leads, together with the id of its business.
type LinkedReservation struct {
	BusinessID uuid.UUID
	Reservation
}

// FindByLink returns the reservation whose link contains the token with the given hash. Errors: [ErrNotFound].
func (s *Store) FindByLink(ctx context.Context, hash []byte) (LinkedReservation, error) {
	var linked LinkedReservation
	err := s.pool.QueryRow(ctx, `SELECT business_id, id FROM reservations WHERE link_hash = $1`,
		hash).Scan(&linked.BusinessID, &linked.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return LinkedReservation{}, ErrNotFound
	}
	if err != nil {
		return LinkedReservation{}, fmt.Errorf("follow a link: %w", err)
	}
	rows, err := s.pool.Query(ctx, `SELECT `+reservationColumns+` FROM reservations WHERE business_id = $1 AND id = $2`,
		linked.BusinessID, linked.ID)
	if err != nil {
		return LinkedReservation{}, fmt.Errorf("read a reservation: %w", err)
	}
	linked.Reservation, err = pgx.CollectExactlyOneRow(rows, scanReservation)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && !link.IsSame(linked.LinkHash, hash):
		return LinkedReservation{}, ErrNotFound
	case err != nil:
		return LinkedReservation{}, fmt.Errorf("read a reservation: %w", err)
	}
	return linked, nil
}
