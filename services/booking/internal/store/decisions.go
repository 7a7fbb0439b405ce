package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Decision is the argument of [Store.Decide]: the confirmation or the cancellation of a pending booking.
type Decision struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Sequence   int // the Sequence of the booking that the recipient has seen
	// OfferVersion is the version of the offer that permits the recipient to decide.
	OfferVersion int64
	Transition   state.Transition
	Now          time.Time
	Part         func(Booking) (refund.Part, error) // returns the refund
}

// Decide confirms or cancels a pending booking that has not begun, and starts the refund. The transaction checks that no
// newer offer was published, because a newer offer may take the permission from the recipient. Errors: [ErrNotFound],
// [ErrChanged], [*NotAllowedError], [ErrOfferChanged], and the errors of Part. In case of an error, nothing has changed.
func (s *Store) Decide(ctx context.Context, d Decision) (Booking, error) {
	part := func(b Booking) (refund.Part, error) {
		switch {
		case b.Status != state.Pending || !d.Now.Before(b.StartsAt):
			return refund.Part{}, &NotAllowedError{Status: b.Status}
		case b.Sequence != d.Sequence:
			return refund.Part{}, ErrChanged
		}
		return d.Part(b)
	}
	return changeSale(ctx, s, event.Booking, findBooking, d.BusinessID, d.ID, part,
		func(ctx context.Context, tx pgx.Tx, _ Booking, refundPart refund.Part) (Booking, error) {
			updated, err := applyTransition(ctx, tx, d.BusinessID, d.ID, d.Transition, refundPart, d.Now)
			if err != nil {
				return Booking{}, err
			}
			_, err = tx.Exec(ctx, maySellSQL, pgx.NamedArgs{"business_id": d.BusinessID, "offer_version": d.OfferVersion})
			if postgres.Code(err) == offerChanged {
				return Booking{}, ErrOfferChanged
			}
			return updated, err
		})
}

// FindDecision returns the time and the actor of the newest event that confirmed or cancelled a booking. Errors:
// [ErrNotFound] if there is no such event, or if it is no longer stored.
func (s *Store) FindDecision(ctx context.Context, businessID, id uuid.UUID) (time.Time, actor.Actor, error) {
	var (
		at time.Time
		by actor.Actor
	)
	err := s.pool.QueryRow(ctx, `
		SELECT at, actor_kind, coalesce(actor_id, '00000000-0000-0000-0000-000000000000') FROM events
		WHERE business_id = $1 AND subject_id = $2 AND type = ANY($3) ORDER BY sequence DESC LIMIT 1`, businessID, id,
		[]string{string(event.BookingConfirmed), string(event.BookingCancelled)}).Scan(&at, &by.Kind, &by.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, actor.Actor{}, ErrNotFound
	}
	if err != nil {
		return time.Time{}, actor.Actor{}, fmt.Errorf("read who decided about a booking: %w", err)
	}
	return at.UTC(), by, nil
}
