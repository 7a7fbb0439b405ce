package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// ErrPaymentOver says that a charge can no longer be opened: its subject is off, or its idempotency key was taken over.
var ErrPaymentOver = errors.New("the payment is over")

// NewPayment is the charge that a booking or an order of tickets waits for. Amount is in minor units of its currency. Where the
// charge is not open by DueAt, what waits for it is released.
type NewPayment struct {
	Provider string
	Account  string
	Amount   int64
	Policy   refund.Policy // by which it is refunded
	DueAt    time.Time
	// OnCheckout says that the customer pays on the provider's own page.
	OnCheckout bool
	// ByHand says that a booking waits for the owner's confirmation once it is paid.
	ByHand bool
}

func addPayment(args pgx.NamedArgs, p *NewPayment) error {
	args["provider"], args["account"], args["amount"], args["cancellation_policy"], args["due_at"], args["on_checkout"] = nil, nil, nil, nil, nil, nil
	args["confirms"] = p == nil || !p.ByHand
	if p == nil {
		return nil
	}
	policy, err := json.Marshal(p.Policy)
	args["provider"], args["account"], args["amount"], args["cancellation_policy"], args["due_at"] = p.Provider, p.Account, p.Amount, policy, p.DueAt
	args["on_checkout"] = p.OnCheckout
	return err
}

// OpenPayment is a charge that the provider has created, as Confirmation tells the customer of it. It expires at DueAt.
type OpenPayment struct {
	BusinessID   uuid.UUID
	Confirmation Confirmation // has a Payment
	DueAt        time.Time
	Claim        *Claim         // where it is set, Confirmation is kept for its idempotency key
	Write        postgres.Write // that of the booking: [NewBooking.Named]
	Now          time.Time
}

// openPaymentSQL is one statement, so that the answer is kept and the booking told of exactly when the charge is noted. It locks the
// booking before the charge, as moves do. may_write fails it where its attempt was refused while the provider was asked.
var openPaymentSQL = `
WITH claim AS MATERIALIZED (
    SELECT 1
    FROM idempotency_records
    WHERE business_id = @business_id AND principal = @principal AND idempotency_key = @idempotency_key
      AND token = @token AND confirmation IS NULL
    FOR UPDATE
), booking AS MATERIALIZED (
    SELECT 1 FROM bookings WHERE business_id = @business_id AND id = @id FOR UPDATE
), opened AS (
    UPDATE payments
    SET status = 'open', reference = @reference, due_at = @due_at, updated_at = @now
    WHERE business_id = @business_id AND subject_id = @id AND status = 'creating'
      AND (@token::uuid IS NULL OR EXISTS (SELECT FROM claim)) AND EXISTS (SELECT FROM booking)
    RETURNING *
), told AS (
    UPDATE bookings SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM opened)
    RETURNING *
), recorded AS (
    ` + recordOpened + `
), answered AS (
    UPDATE idempotency_records
    SET confirmation = @confirmation
    WHERE business_id = @business_id AND principal = @principal AND idempotency_key = @idempotency_key
      AND token = @token AND EXISTS (SELECT FROM opened)
)
SELECT EXISTS (SELECT FROM opened), may_write(@business_id, @write_id, @begun)`

// openedSQL says whether openPaymentSQL has noted a charge: it is open, or was paid since, or its answer is kept.
const openedSQL = `
SELECT EXISTS (SELECT FROM payments WHERE business_id = $1 AND subject_id = $2 AND status IN ('open', 'paid'))
    OR EXISTS (SELECT FROM idempotency_records
               WHERE business_id = $1 AND principal = $3 AND idempotency_key = $4 AND token = $5 AND confirmation IS NOT NULL)`

// OpenPayment notes that the charge of a booking is open. Errors: [ErrPaymentOver], [postgres.ErrRefused]; a fault of kind
// outcome_unknown, after any other it is not noted and never will be.
func (s *Store) OpenPayment(ctx context.Context, p OpenPayment) error {
	args := pgx.NamedArgs{
		"business_id": p.BusinessID, "id": p.Confirmation.ID, "reference": p.Confirmation.Payment.Reference,
		"due_at": p.DueAt, "now": p.Now, "write_id": p.Write.ID, "begun": p.Write.Begun,
	}
	if err := addClaim(args, p.Claim, &p.Confirmation); err != nil {
		return err
	}
	eventlog.Add(ctx, args, p.Now)
	return p.Write.Make(ctx, s.pool, func(ctx context.Context, conn *pgxpool.Conn) error {
		var opened, may bool
		if err := conn.QueryRow(ctx, openPaymentSQL, args).Scan(&opened, &may); err != nil {
			return fmt.Errorf("note an open charge: %w", err)
		}
		if !opened {
			return ErrPaymentOver
		}
		return nil
	}, exists(openedSQL, p.BusinessID, p.Confirmation.ID, args["principal"], args["idempotency_key"], args["token"]))
}

// AbandonPayment takes a booking back whose charge failed: it is cancelled, its time is free, and the charge, where there
// may be one, waits to be cancelled. reference is "" where it is not known; none says that there is no charge for
// certain.
func (s *Store) AbandonPayment(ctx context.Context, businessID, bookingID uuid.UUID, reference string, none bool, now time.Time) error {
	return s.underLock(ctx, businessID, bookingID, func(tx pgx.Tx, p charged) error {
		_, err := p.abandon(ctx, tx, reference, none, now)
		return err
	})
}

// abandon takes back what waits for a charge, where that is not paid or cancelled, and reports whether it did.
func (p charged) abandon(ctx context.Context, tx pgx.Tx, reference string, none bool, now time.Time) (bool, error) {
	if p.payment != ChargeCreating && p.payment != ChargeOpen {
		return false, nil
	}
	if err := p.cancel(ctx, tx, true, now); err != nil {
		return false, err
	}
	next := ChargeCancelling
	if none {
		next = ChargeCancelled
	}
	return true, p.become(ctx, tx, next, reference, "", now)
}

// ReleaseUnfinished takes back what waits for a charge that was not open in time, as when the process that made them died, and
// returns how many there were.
func (s *Store) ReleaseUnfinished(ctx context.Context, now time.Time) (int, error) {
	due, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[struct{ BusinessID, ID uuid.UUID }], "find charges that were not opened", `SELECT business_id, subject_id FROM payments
		WHERE status = 'creating' AND due_at <= $1 ORDER BY due_at LIMIT 1000`, now)
	if err != nil {
		return 0, err
	}
	for i, d := range due {
		err := s.underLock(ctx, d.BusinessID, d.ID, func(tx pgx.Tx, p charged) error {
			if p.payment != ChargeCreating {
				return nil
			}
			return errors.Join(p.cancel(ctx, tx, true, now), p.become(ctx, tx, ChargeCancelling, "", "", now))
		})
		if err != nil {
			return i, err
		}
	}
	return len(due), nil
}

// leaseSQL puts off what it returns, longer each time, so that no other replica takes it up meanwhile and a provider
// that is away is not asked in vain too often. The shortest time is longer than a call of a provider may take. The next business by id is
// found without reading what else is due of the one before.
const leaseSQL = `
UPDATE payments
SET due_at = @now::timestamptz + least(interval '1 hour', interval '1 minute' * power(2, least(attempts, 10))),
    attempts = attempts + 1, updated_at = @now
WHERE (business_id, subject_id) = (
    SELECT business_id, subject_id
    FROM payments
    WHERE (status IN ('open', 'cancelling') OR refund_status = 'pending') AND due_at <= @now
      AND business_id > @after AND business_id <> ALL (@but::uuid[])
    ORDER BY business_id, due_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING business_id, subject_kind, subject_id, provider, account, amount, currency, coalesce(reference, ''),
          CASE WHEN refund_status = 'pending' THEN refund_number ELSE 0 END, coalesce(refund_amount, 0), on_checkout`

// LeaseDue returns the charge that has been due for longest of the next business that has one due: the next by id after this one, or else
// the first, but for those. It is due again later, should it not be ended. Errors: [ErrNotFound].
func (s *Store) LeaseDue(ctx context.Context, after uuid.UUID, but []uuid.UUID, now time.Time) (payment.Due, error) {
	rows, err := s.pool.Query(ctx, leaseSQL, pgx.NamedArgs{"now": now, "after": after, "but": but})
	if err != nil {
		return payment.Due{}, fmt.Errorf("lease a due charge: %w", err)
	}
	due, err := pgx.CollectExactlyOneRow(rows, scanDue)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && after != uuid.Nil:
		return s.LeaseDue(ctx, uuid.Nil, but, now)
	case errors.Is(err, pgx.ErrNoRows):
		return payment.Due{}, ErrNotFound
	}
	if err != nil {
		return payment.Due{}, fmt.Errorf("lease a due charge: %w", err)
	}
	return due, nil
}

func scanDue(row pgx.CollectableRow) (payment.Due, error) {
	var (
		d        payment.Due
		currency string
	)
	err := row.Scan(&d.BusinessID, &d.Kind, &d.ID, &d.Provider, &d.Account, &d.Amount, &currency, &d.Reference, &d.RefundNumber, &d.RefundAmount, &d.OnCheckout)
	if err != nil {
		return d, err
	}
	d.Currency, err = money.ParseCurrency(currency)
	return d, err
}

// NoteReference keeps the provider's name of a charge that was not known to exist.
func (s *Store) NoteReference(ctx context.Context, of payment.Subject, reference string) error {
	_, err := s.pool.Exec(ctx, `UPDATE payments SET reference = $3 WHERE business_id = $1 AND subject_id = $2`,
		of.BusinessID, of.ID, reference)
	if err != nil {
		return fmt.Errorf("note a charge's reference: %w", err)
	}
	return nil
}

// Unpaid reports whether something was cancelled because it was not paid in time, as long as its events are kept. p is what is paid of it.
func (s *Store) Unpaid(ctx context.Context, businessID, subjectID uuid.UUID, status string, p *Payment) (bool, error) {
	if status != booking.StatusCancelled || p == nil || p.Status != ChargeCancelled {
		return false, nil
	}
	return eventlog.Unpaid(ctx, s.pool, businessID, subjectID)
}

// FindPayment returns the ids of the business and of what a charge is of. Errors: [ErrNotFound].
func (s *Store) FindPayment(ctx context.Context, provider, account, reference string) (uuid.UUID, uuid.UUID, error) {
	var businessID, subjectID uuid.UUID
	err := s.pool.QueryRow(ctx, `SELECT business_id, subject_id FROM payments
		WHERE provider = $1 AND account = $2 AND reference = $3 LIMIT 1`, provider, account, reference).Scan(&businessID, &subjectID)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, uuid.Nil, ErrNotFound
	}
	if err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("find a charge: %w", err)
	}
	return businessID, subjectID, nil
}

// HasPayment reports whether something has a charge of this account. Errors: [ErrNotFound] where it has none.
func (s *Store) HasPayment(ctx context.Context, of payment.Subject, provider, account string) error {
	var there bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payments
		WHERE business_id = $1 AND subject_id = $2 AND subject_kind = $3 AND provider = $4 AND account = $5)`,
		of.BusinessID, of.ID, string(of.Kind), provider, account).Scan(&there)
	if err != nil {
		return fmt.Errorf("look for a charge: %w", err)
	}
	if !there {
		return ErrNotFound
	}
	return nil
}

// SupersedePayment notes that an open charge is paid on the provider's page of this reference, and not by the charge of the other one any
// more, which can no longer be paid. Errors: [ErrPaymentOver] where that is not the open charge.
func (s *Store) SupersedePayment(ctx context.Context, businessID, subjectID uuid.UUID, from, to string, now time.Time) error {
	tag, err := s.pool.Exec(ctx, `UPDATE payments SET reference = $4, on_checkout = true, updated_at = $5
		WHERE business_id = $1 AND subject_id = $2 AND status = 'open' AND reference IN ($3, $4)`, businessID, subjectID, from, to, now)
	if err != nil {
		return fmt.Errorf("note a checkout: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrPaymentOver
	}
	return nil
}

// PaymentPaid sells tickets, or confirms a booking, whose charge was paid. A booking that the owner confirms by hand stays pending. What is
// off already is refunded whole. To say it twice changes nothing.
func (s *Store) PaymentPaid(ctx context.Context, businessID, subjectID uuid.UUID, now time.Time) error {
	return s.underLock(ctx, businessID, subjectID, func(tx pgx.Tx, p charged) error {
		switch {
		case p.payment == ChargePaid:
			return nil
		case p.status == booking.StatusCancelled:
			return errors.Join(p.become(ctx, tx, ChargePaid, "", event.PaymentSucceeded, now),
				refundCharge(ctx, tx, businessID, subjectID, refund.Owed{Amount: p.amount, Percent: 100}, now))
		}
		return errors.Join(p.become(ctx, tx, ChargePaid, "", event.PaymentSucceeded, now), p.confirm(ctx, tx, now))
	})
}

// PaymentCancelled notes that a charge can no longer be paid, and cancels what waits for it, but not a booking that the owner has confirmed
// without the money. To say it twice changes nothing.
func (s *Store) PaymentCancelled(ctx context.Context, businessID, subjectID uuid.UUID, now time.Time) error {
	return s.underLock(ctx, businessID, subjectID, func(tx pgx.Tx, p charged) error {
		switch p.payment {
		case ChargeCreating, ChargeOpen:
			err := p.become(ctx, tx, ChargeCancelled, "", event.PaymentExpired, now)
			if p.status != booking.StatusPending {
				return err
			}
			return errors.Join(err, p.cancel(ctx, tx, false, now))
		case ChargeCancelling: // what it is of was cancelled before, which was told
			return p.become(ctx, tx, ChargeCancelled, "", "", now)
		}
		return nil
	})
}

// failCharge notes an attempt to pay, where it is a newer one than the last that is known of.
var failCharge = recordCharge(`
UPDATE payments SET failed_at = @failed_at::timestamptz, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id AND status = 'open' AND (failed_at IS NULL OR failed_at < @failed_at::timestamptz)`)

// PaymentFailed notes that an attempt to pay failed, at an instant by the provider's clock. The charge stays open for another one. To
// say it twice changes nothing.
func (s *Store) PaymentFailed(ctx context.Context, businessID, subjectID uuid.UUID, at, now time.Time) error {
	return s.underLock(ctx, businessID, subjectID, func(tx pgx.Tx, p charged) error {
		_, err := tx.Exec(ctx, failCharge[p.kind], eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": subjectID, "failed_at": at, "now": now, "event_type": string(event.PaymentFailed),
		}, now))
		return err
	})
}

// The statuses of a charge; the migration says how they follow each other.
const (
	ChargeCreating   = "creating"
	ChargeOpen       = "open"
	ChargePaid       = "paid"
	ChargeCancelling = "cancelling"
	ChargeCancelled  = "cancelled"
)

// charged is a charge with its newest refund, and what it is of, all locked.
type charged struct {
	businessID, id uuid.UUID // of the subject
	kind           event.SubjectKind
	status         string // of the subject
	payment        string
	confirms       bool // the payment confirms what waits for it
	amount         int64
	refundNumber   int
	refund         payment.RefundStatus
	elsewhere      int64                 // what was given back at the provider
	dispute        payment.DisputeStatus // "": none
}

// underLock decides on a charge while it and what it is of are locked, the subject first, as moves of bookings and cancellations of tickets
// lock them.
func (s *Store) underLock(ctx context.Context, businessID, subjectID uuid.UUID, decide func(pgx.Tx, charged) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		p := charged{businessID: businessID, id: subjectID}
		err := tx.QueryRow(ctx, `SELECT subject_kind FROM payments WHERE business_id = $1 AND subject_id = $2`,
			businessID, subjectID).Scan(&p.kind)
		if err != nil {
			return err
		}
		if table, ours := subjectTable[p.kind]; ours {
			err := tx.QueryRow(ctx, `SELECT status FROM `+table+` WHERE business_id = $1 AND id = $2 FOR UPDATE`, businessID, subjectID).Scan(&p.status)
			if err != nil {
				return err
			}
		}
		err = tx.QueryRow(ctx, `SELECT status, confirms, amount, refund_number, coalesce(refund_status, ''),
			refunded_elsewhere, coalesce(dispute_status, '') FROM payments
			WHERE business_id = $1 AND subject_id = $2 FOR UPDATE`, businessID, subjectID,
		).Scan(&p.payment, &p.confirms, &p.amount, &p.refundNumber, &p.refund, &p.elsewhere, &p.dispute)
		if err != nil {
			return err
		}
		if p.kind == event.Reservation {
			p.status = reservationStatus[p.payment]
		}
		return decide(tx, p)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("change a charge: %w", err)
	}
	return nil
}

// reservationStatus is the status of a reservation as far as its charge says: one whose charge is closed, or about to be, is off.
var reservationStatus = map[string]string{
	ChargeCreating: booking.StatusPending, ChargeOpen: booking.StatusPending, ChargePaid: booking.StatusConfirmed,
	ChargeCancelling: booking.StatusCancelled, ChargeCancelled: booking.StatusCancelled,
}

// confirm confirms what waits for its payment; what has moved on stays where it is. A reservation is confirmed by rental, which asks.
func (p charged) confirm(ctx context.Context, tx pgx.Tx, now time.Time) error {
	if p.status != booking.StatusPending || p.kind == event.Reservation || !p.confirms {
		return nil
	}
	if p.kind == event.Ticket {
		_, err := tx.Exec(ctx, paidTicketSQL, eventlog.Add(ctx, pgx.NamedArgs{"business_id": p.businessID, "id": p.id}, now))
		return err
	}
	t, _ := state.Of(state.Confirm)
	_, err := tx.Exec(ctx, moveSQL, moveArgs(ctx, p.businessID, p.id, t, refund.Owed{}, now))
	return err
}

// cancel cancels the subject, whatever has become of it. Where it is untold, and no event has told of it, none does now. A reservation is
// cancelled by rental, which asks.
func (p charged) cancel(ctx context.Context, tx pgx.Tx, untold bool, now time.Time) error {
	switch p.kind {
	case event.Reservation:
		return nil
	case event.Ticket:
		_, err := tx.Exec(ctx, cancelTicketSQL, cancelTicketArgs(ctx, p.businessID, p.id, refund.Owed{}, untold, now))
		return err
	default: // the rest is about bookings
	}
	t, _ := state.Of(state.Cancel)
	args := moveArgs(ctx, p.businessID, p.id, t, refund.Owed{}, now)
	args["untold"] = untold
	_, err := tx.Exec(ctx, moveSQL, args)
	return err
}

// changeCharge changes the state of a charge.
const changeCharge = `
UPDATE payments
SET status = @status, reference = coalesce(nullif(@reference, ''), reference), due_at = @now, attempts = 0, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id`

var changeChargeRecorded = recordCharge(changeCharge)

// become changes the charge's state; what is not final is due at once. A reference of "" keeps the one there is, a type of "" records
// no event.
func (p charged) become(ctx context.Context, tx pgx.Tx, status, reference string, typ event.Type, now time.Time) error {
	args := pgx.NamedArgs{"business_id": p.businessID, "id": p.id, "status": status, "reference": reference, "now": now}
	sql := changeCharge
	if typ != "" {
		args["event_type"] = string(typ)
		sql, args = changeChargeRecorded[p.kind], eventlog.Add(ctx, args, now)
	}
	_, err := tx.Exec(ctx, sql, args)
	return err
}
