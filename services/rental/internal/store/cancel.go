package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/payment"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Cancel cancels a reservation in one idempotent write ([postgres.WriteIdempotently]) and frees its units. The function
// `part` returns the amount to refund. The refund stays pending until the booking service reports that the refund was
// made or refused. Errors: [ErrNotFound], [*NotAllowedError], and the errors of `part`. After an error, nothing is
// changed.
func (s *Store) Cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Reservation) (refund.Part, error)) (Reservation, error) {
	cancel, _ := state.FindTransition(state.Cancel)
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Reservation,
		error) {
		r, err := lockReservation(ctx, tx, businessID, id)
		switch {
		case err != nil:
			return Reservation{}, err
		case !cancel.Allows(r.Status):
			return Reservation{}, &NotAllowedError{Status: r.Status}
		}
		refundPart, err := part(r)
		if err != nil {
			return Reservation{}, err
		}
		r.Status, r.Payment = cancel.To, payment.Cancel(r.Payment, refundPart)
		return updatePayment(ctx, tx, businessID, r, event.ReservationCancelled, now)
	})
}

// Refund starts a refund of a reservation in one idempotent write. The function `part` returns the
// amount to refund. Errors: [ErrNotFound], and the errors of `part`. After an error, nothing is changed.
func (s *Store) Refund(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Reservation) (refund.Part, error)) (Reservation, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Reservation,
		error) {
		r, err := lockReservation(ctx, tx, businessID, id)
		if err != nil {
			return Reservation{}, err
		}
		refundPart, err := part(r)
		if err != nil {
			return Reservation{}, err
		}
		r.Payment = payment.StartRefund(r.Payment, refundPart)
		return updatePayment(ctx, tx, businessID, r, "", now)
	})
}
