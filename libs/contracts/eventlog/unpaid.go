package eventlog

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

// IsUnpaid reports whether a booking, an order of tickets or a reservation was cancelled because the customer did
// not pay in time. It returns false if the events of the booking, order or reservation are no longer stored.
//
// The event of such a cancellation directly follows the event of the expired payment and has the
// same time. If the owner had already confirmed the booking, the expired payment does not cancel the
// booking. A later cancellation of this booking then has a later time, so that Unpaid returns false.
func IsUnpaid(ctx context.Context, pool *pgxpool.Pool, businessID, subjectID uuid.UUID) (bool, error) {
	var is bool
	err := pool.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM events expired JOIN events cancelled USING (business_id, subject_id)
		WHERE business_id = $1 AND subject_id = $2 AND expired.type = $3
		  AND cancelled.sequence = expired.sequence + 1 AND cancelled.at = expired.at AND cancelled.type = ANY ($4))`,
		businessID, subjectID, string(event.PaymentExpired),
		[]string{string(event.BookingCancelled), string(event.TicketCancelled),
			string(event.ReservationCancelled)}).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("read why it was cancelled: %w", err)
	}
	return is, nil
}
