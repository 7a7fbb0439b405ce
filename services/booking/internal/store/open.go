package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// mayOpenSQL fails the transaction if the customer has more open bookings, orders and reservations than @most_open.
// The caller must first insert the booking, order or reservation with the id @id, so that it counts, too.
const mayOpenSQL = `SELECT may_open(@business_id, @id, @customer_email, @now::timestamptz, @most_open::integer)`

// OpenReservation is a rental reservation from the booking page that counts
// for the limit of open bookings of a customer. The rental service stores the reservation.
type OpenReservation struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Email      string
	EndsAt     time.Time
	MaxOpen    int
	Now        time.Time
}

// CountReservation adds a rental reservation to the open bookings of its customer. The number of open bookings
// is limited. The reservation counts until it ends. CountReservation is idempotent. Errors: [ErrTooManyOpen].
func (s *Store) CountReservation(ctx context.Context, r OpenReservation) error {
	args := pgx.NamedArgs{
		"business_id": r.BusinessID, "id": r.ID, "customer_email": r.Email, "ends_at": r.EndsAt, "most_open": r.MaxOpen,
		"now": r.Now,
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var batch pgx.Batch
		batch.Queue(`DELETE FROM open_reservations
			WHERE business_id = @business_id AND ends_at <= @now::timestamptz`, args)
		batch.Queue(`INSERT INTO open_reservations (business_id, reservation_id, customer_email, ends_at)
			VALUES (@business_id, @id, @customer_email, @ends_at)
			ON CONFLICT (business_id, reservation_id) DO NOTHING`, args)
		batch.Queue(mayOpenSQL, args)
		return tx.SendBatch(ctx, &batch).Close()
	})
	switch {
	case postgres.Code(err) == tooManyOpen:
		return ErrTooManyOpen
	case err != nil:
		return fmt.Errorf("count an open reservation: %w", err)
	}
	return nil
}

// UncountReservation removes a rental reservation from the open
// bookings of its customer. UncountReservation is idempotent.
func (s *Store) UncountReservation(ctx context.Context, businessID, id uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM open_reservations WHERE business_id = $1 AND reservation_id = $2`,
		businessID, id)
	if err != nil {
		return fmt.Errorf("no longer count a reservation: %w", err)
	}
	return nil
}
