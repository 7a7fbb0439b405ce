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
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Payment is the charge of a booking, order of tickets or reservation. The JSON names are
// the columns of the table payments. Amounts are in minor units of the sale's currency.
type Payment struct {
	Provider string        `json:"provider"`
	Status   string        `json:"status"`
	Amount   int64         `json:"amount"`
	DueAt    time.Time     `json:"due_at"`
	Policy   refund.Policy `json:"cancellation_policy"`
	Refunded int64         `json:"refunded"`

	// These fields describe the newest refund. RefundStatus is "" if there was no refund.
	RefundAmount  int64                `json:"refund_amount"`
	RefundPercent int                  `json:"refund_percent"`
	RefundStatus  payment.RefundStatus `json:"refund_status"`
	RefundReason  string               `json:"refund_reason"`

	// RefundedElsewhere is the part of Refunded that the business refunded at the provider, not through Slotmesh.
	RefundedElsewhere int64                 `json:"refunded_elsewhere"`
	DisputeStatus     payment.DisputeStatus `json:"dispute_status"` // "": there is no dispute
	DisputeReason     string                `json:"dispute_reason"`
	UpdatedAt         time.Time             `json:"updated_at"`
}

// RefundableRest returns the amount that can still be refunded: the paid amount minus refunds and pending refunds. It
// is 0 while a dispute is open, and after the business has lost the dispute. The receiver `p` may be nil.
func (p *Payment) RefundableRest() int64 {
	if p == nil || p.Status != PaymentPaid || p.DisputeStatus == payment.DisputeOpen ||
		p.DisputeStatus == payment.DisputeLost {
		return 0
	}
	left := p.Amount - p.Refunded
	if p.RefundStatus == payment.RefundPending {
		left -= p.RefundAmount
	}
	return left
}

// Booking returns one booking of the business. Errors: [ErrNotFound], also
// for a booking at a location that the actor may not use ([actor.Locations]).
func (s *Store) Booking(ctx context.Context, businessID, id uuid.UUID) (Booking, error) {
	return findBooking(ctx, s.pool, businessID, id)
}

func findBooking(ctx context.Context, q postgres.Querier, businessID, id uuid.UUID) (Booking, error) {
	stored, err := postgres.Row(ctx, q, scanBooking, "read a booking",
		`SELECT `+bookingColumns+` FROM bookings WHERE business_id = @business_id AND id = @id AND `+permittedSQL,
		pgx.NamedArgs{"business_id": businessID, "id": id, "permitted": actor.Locations(ctx)})
	if errors.Is(err, pgx.ErrNoRows) {
		return Booking{}, ErrNotFound
	}
	return stored, err
}

// finder is a function that reads one booking or order of tickets. Errors: [ErrNotFound].
type finder[S any] func(ctx context.Context, q postgres.Querier, businessID, id uuid.UUID) (S, error)

// lockSale locks a booking or order, and then reads it with a second statement. The second statement
// is necessary, because a statement that waits for a lock may read old values of all other rows.
func lockSale[S any](ctx context.Context, tx pgx.Tx, kind event.SubjectKind, find finder[S], businessID,
	id uuid.UUID) (S, error) {
	_, err := tx.Exec(ctx, `SELECT FROM `+subjectTable[kind]+` WHERE business_id = $1 AND id = $2 FOR UPDATE`,
		businessID, id)
	if err != nil {
		var none S
		return none, fmt.Errorf("lock a %s: %w", kind, err)
	}
	return find(ctx, tx, businessID, id)
}

func lockBooking(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) (Booking, error) {
	return lockSale(ctx, tx, event.Booking, findBooking, businessID, id)
}

// changeSale locks a booking or order and changes it, at most once for each Idempotency-Key.
// The function `part` returns the refund for the locked sale. The function `write` makes the
// change and starts the refund. If changeSale returns an error, nothing has changed.
func changeSale[S any](ctx context.Context, s *Store, kind event.SubjectKind, find finder[S], businessID, id uuid.UUID,
	part func(S) (refund.Part, error), write func(context.Context, pgx.Tx, S, refund.Part) (S, error)) (S, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (S, error) {
		var none S
		locked, err := lockSale(ctx, tx, kind, find, businessID, id)
		if err != nil {
			return none, err
		}
		refundPart, err := part(locked)
		if err != nil {
			return none, err
		}
		return write(ctx, tx, locked, refundPart)
	})
}

// refundSale starts a refund of a booking or order, at most once for each Idempotency-Key. The function `part`
// returns the amount and percentage of the refund. If refundSale returns an error, nothing has changed.
func refundSale[S any](ctx context.Context, s *Store, kind event.SubjectKind, find finder[S], businessID, id uuid.UUID,
	now time.Time, part func(S) (refund.Part, error)) (S, error) {
	return changeSale(ctx, s, kind, find, businessID, id, part,
		func(ctx context.Context, tx pgx.Tx, _ S, refundPart refund.Part) (S, error) {
			if err := startRefund(ctx, tx, businessID, id, refundPart, now); err != nil {
				var none S
				return none, err
			}
			return find(ctx, tx, businessID, id)
		})
}

// Cancel cancels a booking and frees its time, at most once for each Idempotency-Key. It also
// starts the refund that the function `part` returns. Errors: [ErrNotFound], [*NotAllowedError],
// and the errors of `part`. If Cancel returns an error, nothing has changed.
func (s *Store) Cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Booking) (refund.Part, error)) (Booking, error) {
	t, _ := state.FindTransition(state.Cancel)
	allowed := func(b Booking) (refund.Part, error) {
		if !t.Allows(b.Status) {
			return refund.Part{}, &NotAllowedError{Status: b.Status}
		}
		return part(b)
	}
	return changeSale(ctx, s, event.Booking, findBooking, businessID, id, allowed,
		func(ctx context.Context, tx pgx.Tx, _ Booking, refundPart refund.Part) (Booking, error) {
			return applyTransition(ctx, tx, businessID, id, t, refundPart, now)
		})
}

// refundSQL starts a refund of a charge. Constraints of the table ensure that the charge is paid and
// that no other refund is pending. They also ensure that the sum of refunds does not exceed the payment.
const refundSQL = `
UPDATE payments
SET refund_number = refund_number + 1, refund_amount = @refund_amount, refund_percent = @refund_percent, refund_status = 'pending',
    refund_reason = NULL, due_at = @now::timestamptz, attempts = 0, updated_at = @now::timestamptz
WHERE business_id = @business_id AND subject_id = @id AND status = 'paid' AND refund_status IS DISTINCT FROM 'pending'
  AND @refund_amount::bigint > 0`

// Refund starts a refund of a booking. The function `part` returns the amount and percentage of the refund.
// Errors: [ErrNotFound], and the errors of `part`. If Refund returns an error, nothing has changed.
func (s *Store) Refund(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Booking) (refund.Part, error)) (Booking, error) {
	return refundSale(ctx, s, event.Booking, findBooking, businessID, id, now, part)
}

func startRefund(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, part refund.Part, now time.Time) error {
	_, err := tx.Exec(ctx, refundSQL, pgx.NamedArgs{
		"business_id": businessID, "id": id, "refund_amount": part.Amount, "refund_percent": part.Percent, "now": now,
	})
	if err != nil {
		return fmt.Errorf("start the refund of a charge: %w", err)
	}
	return nil
}

// StoreRefundResult stores the provider's result of a refund. It reports whether it has
// changed the status of the refund. It ignores a result for any refund other than the newest.
// A provider may first report a refund as refunded and later as refused; a refusal is final.
func (s *Store) StoreRefundResult(ctx context.Context, businessID, subjectID uuid.UUID, number int,
	result payment.RefundState,
	now time.Time) (bool, error) {
	changed := false
	err := s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		if number != p.refundNumber || !canFollow(p.refund, result.Status) {
			return nil
		}
		changed = true
		args := pgx.NamedArgs{
			"business_id": businessID, "id": subjectID, "refund_status": string(result.Status),
			"refund_reason": result.Reason, "now": now,
		}
		args["event_type"] = string(event.PaymentRefunded)
		if result.Status == payment.RefundRefused {
			args["event_type"] = string(event.PaymentRefundFailed)
		}
		_, err := tx.Exec(ctx, endRefundRecorded[p.kind], eventlog.Add(ctx, args, now))
		return err
	})
	return changed && err == nil, err
}

// canFollow reports whether the status of a refund can change from the
// current status in the argument `from` to the new status in `to`.
func canFollow(from, to payment.RefundStatus) bool {
	switch to {
	case payment.RefundRefunded:
		return from == payment.RefundPending
	case payment.RefundRefused:
		return from == payment.RefundPending || from == payment.RefundRefunded
	default: // a refund never becomes pending again
	}
	return false
}

// endRefundSQL stores the result of a refund. A refund that is stored as refunded may be
// refused later; endRefundSQL then subtracts the amount of the refund from the refunded sum.
const endRefundSQL = `
UPDATE payments
SET refunded = CASE WHEN @refund_status = 'refunded' THEN refunded + refund_amount
                    WHEN refund_status = 'refunded' THEN refunded - refund_amount ELSE refunded END,
    refund_status = @refund_status, refund_reason = nullif(@refund_reason, ''), news = news + 1, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id`

var endRefundRecorded = recordPayment(endRefundSQL)
