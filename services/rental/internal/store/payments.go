package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/rental/internal/payment"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// ErrPaymentOver means that the store cannot record the payment of a reservation as open, because the reservation was
// cancelled in the meantime.
var ErrPaymentOver = errors.New("the payment is over")

// paymentSQL changes the payment and the status of a reservation that the transaction has
// locked. It records an event of the type @event_type, unless @event_type is empty. If the
// new status is cancelled, paymentSQL also frees the units of the reservation's extras.
var paymentSQL = `
WITH changed AS (
    UPDATE reservations SET payment = @payment, status = @status, updated_at = @now::timestamptz,
                            sequence = sequence + CASE WHEN @event_type::text = '' THEN 0 ELSE 1 END
    WHERE business_id = @business_id AND id = @id
    RETURNING *
), freed AS (
    DELETE FROM extra_units USING changed
    WHERE extra_units.business_id = @business_id AND extra_units.reservation_id = changed.id AND changed.status = 'cancelled'
), recorded AS (
    ` + eventlog.Record(event.Reservation, "", "changed WHERE @event_type::text <> ''", eventDataSQL("changed")) + `
)
SELECT ` + reservationColumns + ` FROM changed`

// updatePayment stores the status and the payment of the reservation `r`, and returns the stored reservation.
// The argument `eventType` is the type of the event to record; if it is "", no event is recorded.
func updatePayment(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, r Reservation, eventType event.Type,
	now time.Time) (Reservation, error) {
	return postgres.Row(ctx, tx, scanReservation, "change the payment of a reservation", paymentSQL,
		eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": r.ID, "payment": r.Payment, "status": string(r.Status),
			"event_type": string(eventType), "now": now,
		}, now))
}

// withLock locks a reservation and calls the function `decide` in the same transaction.
// Errors: [ErrNotFound], and the errors of `decide`. After an error, nothing is changed.
func (s *Store) withLock(ctx context.Context, businessID, id uuid.UUID, decide func(pgx.Tx, Reservation) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := lockReservation(ctx, tx, businessID, id)
		if err != nil {
			return err
		}
		return decide(tx, r)
	})
}

// lockReservation reads a reservation and locks its row until the transaction ends. Errors: [ErrNotFound].
func lockReservation(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) (Reservation, error) {
	r, err := postgres.Row(ctx, tx, scanReservation, "lock a reservation", `SELECT `+reservationColumns+
		` FROM reservations WHERE business_id = $1 AND id = $2 FOR UPDATE`, businessID, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Reservation{}, ErrNotFound
	}
	return r, err
}

// MarkPaymentOpen stores that the payment of a reservation is open: the customer can pay on the provider's page.
// MarkPaymentOpen also records the first event of the reservation: that the reservation was created. Errors:
// [ErrNotFound]; [ErrPaymentOver].
func (s *Store) MarkPaymentOpen(ctx context.Context, businessID, id uuid.UUID, payment booking.PaymentState,
	now time.Time) (Reservation, error) {
	var stored Reservation
	err := s.withLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Status != state.Pending || r.Payment.Status != booking.PaymentStateCreating {
			return ErrPaymentOver
		}
		r.Payment = &payment
		var err error
		stored, err = updatePayment(ctx, tx, businessID, r, event.ReservationCreated, now)
		return err
	})
	return stored, err
}

// Abandon cancels a pending reservation whose payment could not be opened, or could not be stored
// as open. If no event has been recorded for the reservation yet, Abandon records no event.
//
// Abandon also deletes the idempotency result of the request, so that a retry makes a new reservation.
// The argument `write` is the id of that result, or the nil UUID if the request has no Idempotency-Key.
func (s *Store) Abandon(ctx context.Context, businessID, id, write uuid.UUID, now time.Time) error {
	return s.withLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Status != state.Pending {
			return nil
		}
		if err := abandon(ctx, tx, businessID, r, now); err != nil {
			return err
		}
		return postgres.DeleteIdempotencyResult(ctx, tx, businessID, write, id)
	})
}

func abandon(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, r Reservation, now time.Time) error {
	eventType := event.ReservationCancelled
	if r.Sequence == 0 {
		eventType = ""
	}
	r.Status, r.Payment.Status = state.Cancelled, booking.PaymentStateCancelling
	_, err := updatePayment(ctx, tx, businessID, r, eventType, now)
	return err
}

// DeleteIdempotencyResult deletes the idempotency result of the request that made a reservation.
// The argument `write` is the id of this result, and `id` is the id of the reservation. Callers
// use DeleteIdempotencyResult if the reservation was cancelled before any answer contained it.
func (s *Store) DeleteIdempotencyResult(ctx context.Context, businessID, write, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return postgres.DeleteIdempotencyResult(ctx, tx, businessID, write, id)
	})
}

// CancelUnopened cancels the reservations whose payment was not stored as open in time, for example
// because the process stopped. No customer has received the provider's page for such a reservation.
// CancelUnopened returns the number of cancelled reservations, at most 1000 in one call.
func (s *Store) CancelUnopened(ctx context.Context, now time.Time) (int, error) {
	due, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[booking.ReservationID],
		"find reservations whose payment was not opened", `
		SELECT business_id, id FROM reservations
		WHERE `+unfinishedSQL+` AND payment->>'status' = 'creating' AND (payment->>'due_at')::timestamptz <= $1 LIMIT 1000`, now)
	if err != nil {
		return 0, err
	}
	released := 0
	err = bulkhead.Each(ctx, due, func(ctx context.Context, d booking.ReservationID) error {
		err := s.withLock(ctx, d.BusinessID, d.ID, func(tx pgx.Tx, r Reservation) error {
			if r.Status != state.Pending || r.Payment.Status != booking.PaymentStateCreating {
				return nil
			}
			return abandon(ctx, tx, d.BusinessID, r, now)
		})
		if err == nil {
			released++
		}
		return err
	})
	if err != nil {
		return released, fmt.Errorf("cancel reservations whose payment was not created: %w", err)
	}
	return released, nil
}

// unfinishedSQL is an SQL condition for reservations whose payment is not final. The rental service must still ask the
// booking service for the state of such a payment, or ask it to close or refund the payment. An index of the table has
// the same condition.
const unfinishedSQL = `(payment->>'status' IN ('creating', 'open', 'cancelling') OR payment->>'refund_status' = 'pending')`

// ReservationPayment is a reservation with its stored payment.
type ReservationPayment struct {
	booking.ReservationID
	Payment booking.PaymentState
}

// UnfinishedPayments returns the next reservations whose payment is not final, in the order of
// business and id. The result begins after the reservation in the argument `after` and has at
// most `limit` reservations. The result leaves out reservations whose payment is being created.
func (s *Store) UnfinishedPayments(ctx context.Context, after booking.ReservationID,
	limit int) ([]ReservationPayment, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (ReservationPayment, error) {
		var c ReservationPayment
		err := row.Scan(&c.BusinessID, &c.ID, &c.Payment)
		return c, err
	}, "find payments that are not final", `
		SELECT business_id, id, payment FROM reservations
		WHERE `+unfinishedSQL+` AND payment->>'status' <> 'creating' AND (business_id, id) > ($1, $2)
		ORDER BY business_id, id LIMIT $3`, after.BusinessID, after.ID, limit)
}

// StoreReport stores the argument `reported`, a payment as the booking service reported it, if it is newer than the
// stored payment. It also changes the reservation as [payment.PlanSteps] determines. It returns the types of the
// recorded events; "" stands for a change without an event. Errors: [ErrNotFound].
//
// While a payment is open, only a report of the booking service confirms the reservation. Only such a report, a
// cancellation or [Store.Abandon] frees the reservation's units.
func (s *Store) StoreReport(ctx context.Context, businessID, id uuid.UUID, reported booking.PaymentState,
	now time.Time) ([]event.Type, error) {
	var eventTypes []event.Type
	err := s.withLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Payment == nil || r.Payment.Status == booking.PaymentStateCreating || !payment.IsNewer(*r.Payment,
			reported) {
			return nil
		}
		reported := payment.Merge(r.Status, *r.Payment, reported)
		steps := payment.PlanSteps(r.Status, *r.Payment, reported)
		if len(steps) == 0 {
			steps = []payment.Step{{To: r.Status}}
		}
		by := actor.Provider
		if reported.Status == booking.PaymentStateCancelled {
			by = actor.System
		}
		ctx := actor.With(ctx, actor.Actor{Kind: by})
		r.Payment = &reported
		for _, step := range steps {
			r.Status = step.To
			if _, err := updatePayment(ctx, tx, businessID, r, step.Event, now); err != nil {
				return err
			}
			eventTypes = append(eventTypes, step.Event)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return eventTypes, nil
}

// ReservationsToUncount returns reservations that are returned or cancelled, but that the booking service still counts
// as open bookings of their customers. The argument `limit` is the maximum number of reservations.
func (s *Store) ReservationsToUncount(ctx context.Context, limit int) ([]booking.ReservationID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[booking.ReservationID],
		"find reservations that are no longer open", `
		SELECT business_id, id FROM reservations WHERE counted AND status IN ('returned', 'cancelled') LIMIT $1`, limit)
}

// MarkUncounted stores that the booking service no longer counts the given reservation as an open booking of the
// customer.
func (s *Store) MarkUncounted(ctx context.Context, of booking.ReservationID) error {
	if _, err := s.pool.Exec(ctx, `UPDATE reservations SET counted = false WHERE business_id = $1 AND id = $2`,
		of.BusinessID, of.ID); err != nil {
		return fmt.Errorf("store that a reservation is no longer counted: %w", err)
	}
	return nil
}
