package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/bulkhead"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/rental/internal/charge"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// ErrPaymentOver says that a charge can no longer be noted as open: its reservation is off.
var ErrPaymentOver = errors.New("the payment is over")

// chargeSQL changes the charge of a reservation that the transaction has locked, and its status; where @event_type is not ”, it tells of that.
// Its units are free again once it is cancelled.
var chargeSQL = `
WITH changed AS (
    UPDATE reservations SET payment = @payment, status = @status, updated_at = @now::timestamptz,
                            sequence = sequence + CASE WHEN @event_type::text = '' THEN 0 ELSE 1 END
    WHERE business_id = @business_id AND id = @id
    RETURNING *
), freed AS (
    DELETE FROM extra_units USING changed
    WHERE extra_units.business_id = @business_id AND extra_units.reservation_id = changed.id AND changed.status = 'cancelled'
), recorded AS (
    ` + eventlog.Record(event.Reservation, "", "changed WHERE @event_type::text <> ''", kept("changed")) + `
)
SELECT ` + reservationColumns + ` FROM changed`

// changeCharge makes r what it is from now on.
func changeCharge(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, r Reservation, told event.Type, now time.Time) (Reservation, error) {
	return postgres.Row(ctx, tx, scanReservation, "change the charge of a reservation", chargeSQL, eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": r.ID, "payment": r.Payment, "status": string(r.Status), "event_type": string(told), "now": now,
	}, now))
}

// underLock decides on a reservation that it locks first. Errors: [ErrNotFound], and decide's own, after which nothing is changed.
func (s *Store) underLock(ctx context.Context, businessID, id uuid.UUID, decide func(pgx.Tx, Reservation) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := lock(ctx, tx, businessID, id)
		if err != nil {
			return err
		}
		return decide(tx, r)
	})
}

func lock(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) (Reservation, error) {
	r, err := postgres.Row(ctx, tx, scanReservation, "lock a reservation", `SELECT `+reservationColumns+` FROM reservations WHERE business_id = $1 AND id = $2 FOR UPDATE`, businessID, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Reservation{}, ErrNotFound
	}
	return r, err
}

// Opened notes that the charge of a reservation is open, and tells of the reservation: nobody has heard of it before. Errors:
// [ErrPaymentOver].
func (s *Store) Opened(ctx context.Context, businessID, id uuid.UUID, opened booking.Charge, now time.Time) (Reservation, error) {
	var noted Reservation
	err := s.underLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Status != state.Pending || r.Payment.Status != booking.ChargeCreating {
			return ErrPaymentOver
		}
		r.Payment = &opened
		var err error
		noted, err = changeCharge(ctx, tx, businessID, r, event.ReservationCreated, now)
		return err
	})
	return noted, err
}

// Abandon takes a reservation back that waits for its payment, as its charge could not be opened or noted; write is that of its request,
// which may be made anew then, the nil UUID where it has no name. Where nobody has heard of it, nobody does.
func (s *Store) Abandon(ctx context.Context, businessID, id, write uuid.UUID, now time.Time) error {
	return s.underLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Status != state.Pending {
			return nil
		}
		if err := abandon(ctx, tx, businessID, r, now); err != nil {
			return err
		}
		return postgres.Unmake(ctx, tx, businessID, write, id)
	})
}

func abandon(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, r Reservation, now time.Time) error {
	told := event.ReservationCancelled
	if r.Sequence == 0 {
		told = ""
	}
	r.Status, r.Payment.Status = state.Cancelled, booking.ChargeCancelling
	_, err := changeCharge(ctx, tx, businessID, r, told, now)
	return err
}

// UnmakeWrite forgets that a write made this reservation, which was taken back before anybody was told of it.
func (s *Store) UnmakeWrite(ctx context.Context, businessID, write, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return postgres.Unmake(ctx, tx, businessID, write, id) })
}

// ReleaseUnfinished takes back what waits for a charge that was not noted as open in time, as when the process that opened it died, and
// returns how many there were. Nobody was given the page on which it is paid.
func (s *Store) ReleaseUnfinished(ctx context.Context, now time.Time) (int, error) {
	due, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[booking.ReservationID], "find reservations whose charge was not opened", `
		SELECT business_id, id FROM reservations
		WHERE `+unfinished+` AND payment->>'status' = 'creating' AND (payment->>'due_at')::timestamptz <= $1 LIMIT 1000`, now)
	if err != nil {
		return 0, err
	}
	released := 0
	err = bulkhead.Each(ctx, due, func(ctx context.Context, d booking.ReservationID) error {
		err := s.underLock(ctx, d.BusinessID, d.ID, func(tx pgx.Tx, r Reservation) error {
			if r.Status != state.Pending || r.Payment.Status != booking.ChargeCreating {
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
		return released, fmt.Errorf("take back reservations: %w", err)
	}
	return released, nil
}

// unfinished is the condition of an index: booking is to be asked, or told, of the charge.
const unfinished = `(payment->>'status' IN ('creating', 'open', 'cancelling') OR payment->>'refund_status' = 'pending')`

// Charged is a reservation with the charge that is known of it.
type Charged struct {
	booking.ReservationID
	Charge booking.Charge
}

// Unfinished returns up to limit reservations after one, in the order of business and id, of whose charge booking is to be asked or told.
func (s *Store) Unfinished(ctx context.Context, after booking.ReservationID, limit int) ([]Charged, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (Charged, error) {
		var c Charged
		err := row.Scan(&c.BusinessID, &c.ID, &c.Charge)
		return c, err
	}, "find charges that are not final", `
		SELECT business_id, id, payment FROM reservations
		WHERE `+unfinished+` AND payment->>'status' <> 'creating' AND (business_id, id) > ($1, $2)
		ORDER BY business_id, id LIMIT $3`, after.BusinessID, after.ID, limit)
}

// Told notes what booking says of a charge, where that is more than is known, with what follows for its reservation: it is confirmed or freed
// exactly when booking says so. It returns the events that it told of. Errors: [ErrNotFound].
func (s *Store) Told(ctx context.Context, businessID, id uuid.UUID, said booking.Charge, now time.Time) ([]event.Type, error) {
	var told []event.Type
	err := s.underLock(ctx, businessID, id, func(tx pgx.Tx, r Reservation) error {
		if r.Payment == nil || r.Payment.Status == booking.ChargeCreating || !charge.Later(*r.Payment, said) {
			return nil
		}
		said := charge.Noted(r.Status, *r.Payment, said)
		steps := charge.Steps(r.Status, *r.Payment, said)
		if len(steps) == 0 {
			steps = []charge.Step{{To: r.Status}}
		}
		by := actor.Provider
		if said.Status == booking.ChargeCancelled {
			by = actor.System
		}
		ctx := actor.With(ctx, actor.Actor{Kind: by})
		r.Payment = &said
		for _, step := range steps {
			r.Status = step.To
			if _, err := changeCharge(ctx, tx, businessID, r, step.Event, now); err != nil {
				return err
			}
			told = append(told, step.Event)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return told, nil
}

// Counted returns up to limit reservations that are over and that booking still counts as open for their customers.
func (s *Store) Counted(ctx context.Context, limit int) ([]booking.ReservationID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[booking.ReservationID], "find reservations that are no longer open", `
		SELECT business_id, id FROM reservations WHERE counted AND status IN ('returned', 'cancelled') LIMIT $1`, limit)
}

// Uncounted notes that booking no longer counts a reservation.
func (s *Store) Uncounted(ctx context.Context, of booking.ReservationID) error {
	if _, err := s.pool.Exec(ctx, `UPDATE reservations SET counted = false WHERE business_id = $1 AND id = $2`, of.BusinessID, of.ID); err != nil {
		return fmt.Errorf("note that a reservation is no longer counted: %w", err)
	}
	return nil
}
