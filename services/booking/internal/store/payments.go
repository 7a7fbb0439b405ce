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

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// ErrPaymentOver means that a charge can no longer be opened. Either the booking or
// order of the charge is cancelled, or the request has lost its idempotency lock.
var ErrPaymentOver = errors.New("the payment is over")

// NewPayment is a new charge of a booking, order of tickets or reservation. Booking
// stores the charge before the provider creates it. Amount is in minor units of the
// sale's currency. If the charge is not open by DueAt, the booking, order or reservation is cancelled.
type NewPayment struct {
	Provider string
	Account  string
	Amount   int64
	Policy   refund.Policy // the cancellation policy of the sale, for later refunds
	DueAt    time.Time
	// OnCheckout means that the customer pays on the provider's own page.
	OnCheckout bool
	// NeedsConfirmation means that the booking needs a manual confirmation after the payment.
	NeedsConfirmation bool
}

func addPayment(args pgx.NamedArgs, p *NewPayment) error {
	args["provider"], args["account"], args["amount"], args["cancellation_policy"], args["due_at"], args["on_checkout"] = nil, nil, nil, nil, nil, nil
	args["confirms"] = p == nil || !p.NeedsConfirmation
	if p == nil {
		return nil
	}
	policy, err := json.Marshal(p.Policy)
	args["provider"], args["account"], args["amount"], args["cancellation_policy"], args["due_at"] = p.Provider,
		p.Account, p.Amount, policy, p.DueAt
	args["on_checkout"] = p.OnCheckout
	return err
}

// OpenPayment is the argument of [Store.OpenPayment]: a charge that the provider
// has created, and the confirmation for the customer. The charge expires at DueAt.
type OpenPayment struct {
	BusinessID   uuid.UUID
	Confirmation Confirmation // the field Payment of Confirmation is set
	DueAt        time.Time
	Lock         *postgres.Lock // if not nil: Confirmation is stored as the answer for its key
	Write        postgres.Write // the identity of the write, [NewBooking.WriteIdentity]
	Now          time.Time
}

// openPaymentSQL sets the status of the charge to open, and stores the confirmation and the first event of the booking.
// It does all of this in one statement, or nothing. Like transitionSQL, it locks the booking before the charge.
//
// may_write fails the statement if the write was refused while the provider was creating the charge.
var openPaymentSQL = `
WITH ` + lockedRow + `, booking AS MATERIALIZED (
    SELECT 1 FROM bookings WHERE business_id = @business_id AND id = @id FOR UPDATE
), opened AS (
    UPDATE payments
    SET status = 'open', reference = @reference, due_at = @due_at, updated_at = @now
    WHERE business_id = @business_id AND subject_id = @id AND status = 'creating'
      AND (@locked_at::timestamptz IS NULL OR EXISTS (SELECT FROM locked)) AND EXISTS (SELECT FROM booking)
    RETURNING *
), told AS (
    UPDATE bookings SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM opened)
    RETURNING *
), recorded AS (
    ` + recordOpened + `
), answered AS (
    ` + storeConfirmation + ` AND EXISTS (SELECT FROM opened)
)
SELECT EXISTS (SELECT FROM opened), may_write(@business_id, @write_id, @begun)`

// openedSQL returns whether openPaymentSQL has already stored the charge as open. The
// charge was stored as open if it is open or paid, or if the confirmation is stored.
const openedSQL = `
SELECT EXISTS (SELECT FROM payments WHERE business_id = $1 AND subject_id = $2 AND status IN ('open', 'paid'))
    OR EXISTS (SELECT FROM made_writes
               WHERE business_id = $1 AND write_id = $3 AND made_at = $4 AND answer <> ` + postgres.InProgress + `)`

// OpenPayment stores that the charge of a booking is open. Errors: [ErrPaymentOver], [postgres.ErrRefused].
// Fault: outcome_unknown if OpenPayment does not know whether the charge is stored as open.
//
// After any other error, the charge is not stored as open, and this call does not store it later.
func (s *Store) OpenPayment(ctx context.Context, p OpenPayment) error {
	args := pgx.NamedArgs{
		"business_id": p.BusinessID, "id": p.Confirmation.ID, "reference": p.Confirmation.Payment.Reference,
		"due_at": p.DueAt, "now": p.Now, "write_id": p.Write.ID, "begun": p.Write.StartTime,
	}
	if err := addLock(args, p.Lock, &p.Confirmation); err != nil {
		return err
	}
	eventlog.Add(ctx, args, p.Now)
	return p.Write.Run(ctx, s.pool, func(ctx context.Context, conn *pgxpool.Conn) error {
		var opened, isAllowed bool
		if err := conn.QueryRow(ctx, openPaymentSQL, args).Scan(&opened, &isAllowed); err != nil {
			return fmt.Errorf("store an open charge: %w", err)
		}
		if !opened {
			return ErrPaymentOver
		}
		return nil
	}, newExistsQuery(openedSQL, p.BusinessID, p.Confirmation.ID, p.Write.ID, args["locked_at"]))
}

// AbandonRequest is a booking, order of tickets or reservation whose payment
// could not be opened. It is the argument of [Store.AbandonPayment].
type AbandonRequest struct {
	BusinessID   uuid.UUID
	ID           uuid.UUID
	Reference    string // the provider's reference; "" if it is unknown
	IsNotCreated bool   // the provider has certainly not created the payment
	// Write is the id of the request's idempotency result. AbandonPayment deletes the result,
	// so that a retry can make a new order. The nil UUID means that no result is stored.
	Write uuid.UUID
}

// AbandonPayment cancels a booking or order whose payment could not be opened, and frees its time or
// tickets. If the provider may have created the payment, the reconciliation later cancels it at the
// provider. AbandonPayment does nothing if the payment is already paid, cancelled or being cancelled.
func (s *Store) AbandonPayment(ctx context.Context, a AbandonRequest, now time.Time) error {
	return s.withLock(ctx, a.BusinessID, a.ID, func(tx pgx.Tx, p lockedPayment) error {
		if p.payment != PaymentCreating && p.payment != PaymentOpen {
			return nil
		}
		if err := p.cancel(ctx, tx, true, now); err != nil {
			return err
		}
		next := PaymentCancelling
		if a.IsNotCreated {
			next = PaymentCancelled
		}
		if err := p.setStatus(ctx, tx, next, a.Reference, "", now); err != nil || a.Write == uuid.Nil {
			return err
		}
		return postgres.DeleteIdempotencyResult(ctx, tx, a.BusinessID, a.Write, a.ID)
	})
}

// CancelUnopened cancels bookings, orders and reservations whose charge was not opened in time, for example
// because the process stopped. It returns the number of cancelled bookings, orders and reservations, at most 1000.
func (s *Store) CancelUnopened(ctx context.Context, now time.Time) (int, error) {
	due, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[struct{ BusinessID, ID uuid.UUID }],
		"find charges that were not opened", `SELECT business_id, subject_id FROM payments
		WHERE status = 'creating' AND due_at <= $1 ORDER BY due_at LIMIT 1000`, now)
	if err != nil {
		return 0, err
	}
	for i, d := range due {
		err := s.withLock(ctx, d.BusinessID, d.ID, func(tx pgx.Tx, p lockedPayment) error {
			if p.payment != PaymentCreating {
				return nil
			}
			return errors.Join(p.cancel(ctx, tx, true, now), p.setStatus(ctx, tx, PaymentCancelling, "", "", now))
		})
		if err != nil {
			return i, err
		}
	}
	return len(due), nil
}

// leaseSQL leases a due charge: it sets the time of the next attempt to 1, 2, 4, … minutes from now, at most
// an hour. Until then, no other replica takes the charge. The intervals grow, so that an unavailable provider
// does not receive too many calls. The shortest lease is longer than the longest call to a provider.
//
// leaseSQL takes the charge from the next business in the order of ids. Therefore
// leaseSQL does not read the other due charges of the previous business.
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

// LeaseDue leases a due charge and returns it. The caller must then close or refund the charge
// at the provider. If the caller does not, the charge becomes due again when the lease ends.
//
// The argument `except` contains the businesses that LeaseDue skips. Of the other businesses
// with due charges, LeaseDue takes the one with the next id after the argument `after`. If
// no business follows, LeaseDue takes the business with the smallest id. It returns the
// charge of this business that is due longest. Errors: [ErrNotFound] if no charge is due.
func (s *Store) LeaseDue(ctx context.Context, after uuid.UUID, except []uuid.UUID, now time.Time) (payment.Due, error) {
	rows, err := s.pool.Query(ctx, leaseSQL, pgx.NamedArgs{"now": now, "after": after, "but": except})
	if err != nil {
		return payment.Due{}, fmt.Errorf("lease a due charge: %w", err)
	}
	due, err := pgx.CollectExactlyOneRow(rows, scanDue)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && after != uuid.Nil:
		return s.LeaseDue(ctx, uuid.Nil, except, now)
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
	err := row.Scan(&d.BusinessID, &d.Kind, &d.ID, &d.Provider, &d.Account, &d.Amount, &currency, &d.Reference,
		&d.RefundNumber, &d.RefundAmount, &d.OnCheckout)
	if err != nil {
		return d, err
	}
	d.Currency, err = money.ParseCurrency(currency)
	return d, err
}

// StoreReference stores the provider's reference of the charge of the given subject.
func (s *Store) StoreReference(ctx context.Context, of payment.Subject, reference string) error {
	_, err := s.pool.Exec(ctx, `UPDATE payments SET reference = $3 WHERE business_id = $1 AND subject_id = $2`,
		of.BusinessID, of.ID, reference)
	if err != nil {
		return fmt.Errorf("store a charge's reference: %w", err)
	}
	return nil
}

// IsCancelledUnpaid reports whether a booking or order was cancelled because the
// customer did not pay in time. The argument `p` is the charge of the booking or order.
// The result is false if the events of the booking or order are already deleted.
func (s *Store) IsCancelledUnpaid(ctx context.Context, businessID, subjectID uuid.UUID, status string,
	p *Payment) (bool, error) {
	if status != booking.StatusCancelled || p == nil || p.Status != PaymentCancelled {
		return false, nil
	}
	return eventlog.IsUnpaid(ctx, s.pool, businessID, subjectID)
}

// FindPayment returns the id of the business and the id of the subject
// of the charge with the given reference. Errors: [ErrNotFound].
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

// CheckPayment checks that the subject has a charge with the given
// provider and account. Errors: [ErrNotFound] if it has no such charge.
func (s *Store) CheckPayment(ctx context.Context, of payment.Subject, provider, account string) error {
	var ok bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payments
		WHERE business_id = $1 AND subject_id = $2 AND subject_kind = $3 AND provider = $4 AND account = $5)`,
		of.BusinessID, of.ID, string(of.Kind), provider, account).Scan(&ok)
	if err != nil {
		return fmt.Errorf("look for a charge: %w", err)
	}
	if !ok {
		return ErrNotFound
	}
	return nil
}

// SupersedePayment stores that a charge on the provider's page has replaced an open charge. The argument `from` is
// the reference of the replaced charge, and `to` is the reference of the page. SupersedePayment is idempotent.
// Errors: [ErrPaymentOver] if the booking, order or reservation has no open charge with one of these two references.
func (s *Store) SupersedePayment(ctx context.Context, businessID, subjectID uuid.UUID, from, to string,
	now time.Time) error {
	tag, err := s.pool.Exec(ctx, `UPDATE payments SET reference = $4, on_checkout = true, updated_at = $5
		WHERE business_id = $1 AND subject_id = $2 AND status = 'open' AND reference IN ($3, $4)`, businessID, subjectID, from, to, now)
	if err != nil {
		return fmt.Errorf("store a checkout: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrPaymentOver
	}
	return nil
}

// MarkPaid stores that a charge is paid, and confirms its booking or order. If a booking
// needs a manual confirmation, it stays pending. If the booking or order is already
// cancelled, MarkPaid starts a refund of the whole amount. MarkPaid is idempotent.
func (s *Store) MarkPaid(ctx context.Context, businessID, subjectID uuid.UUID, now time.Time) error {
	return s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		switch {
		case p.payment == PaymentPaid:
			return nil
		case p.status == booking.StatusCancelled:
			return errors.Join(p.setStatus(ctx, tx, PaymentPaid, "", event.PaymentSucceeded, now),
				startRefund(ctx, tx, businessID, subjectID, refund.Part{Amount: p.amount, Percent: 100}, now))
		}
		return errors.Join(p.setStatus(ctx, tx, PaymentPaid, "", event.PaymentSucceeded, now), p.confirm(ctx, tx, now))
	})
}

// MarkCancelled stores that a charge can no longer be paid, and cancels the pending booking or order of the charge.
// If the owner has confirmed the booking without the payment, the booking stays. MarkCancelled is idempotent.
func (s *Store) MarkCancelled(ctx context.Context, businessID, subjectID uuid.UUID, now time.Time) error {
	return s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		switch p.payment {
		case PaymentCreating, PaymentOpen:
			err := p.setStatus(ctx, tx, PaymentCancelled, "", event.PaymentExpired, now)
			if p.status != booking.StatusPending {
				return err
			}
			return errors.Join(err, p.cancel(ctx, tx, false, now))
		case PaymentCancelling: // the subject is already cancelled, and the event of the cancellation is recorded
			return p.setStatus(ctx, tx, PaymentCancelled, "", "", now)
		}
		return nil
	})
}

// failPaymentSQL stores the time of a failed attempt to pay, unless a later attempt is already stored.
var failPaymentSQL = recordPayment(`
UPDATE payments SET failed_at = @failed_at::timestamptz, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id AND status = 'open' AND (failed_at IS NULL OR failed_at < @failed_at::timestamptz)`)

// MarkAttemptFailed stores that an attempt to pay failed. The argument `at` is the time of the failure according
// to the provider's clock. The charge stays open for another attempt. MarkAttemptFailed is idempotent.
func (s *Store) MarkAttemptFailed(ctx context.Context, businessID, subjectID uuid.UUID, at, now time.Time) error {
	return s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		_, err := tx.Exec(ctx, failPaymentSQL[p.kind], eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": subjectID, "failed_at": at, "now": now,
			"event_type": string(event.PaymentFailed),
		}, now))
		return err
	})
}

// The statuses of a charge. The first migration of the schema documents their transitions.
const (
	PaymentCreating   = "creating"
	PaymentOpen       = "open"
	PaymentPaid       = "paid"
	PaymentCancelling = "cancelling"
	PaymentCancelled  = "cancelled"
)

// lockedPayment is a charge with its newest refund and its subject. The transaction has locked the
// subject's row and then the charge. A reservation has no row, because rental stores it.
type lockedPayment struct {
	businessID, id     uuid.UUID // the ids of the business and of the subject
	kind               event.SubjectKind
	status             string // the status of the subject
	payment            string // the status of the charge
	confirmsOnPayment  bool   // true: after the payment, the subject needs no manual confirmation
	amount             int64
	refundNumber       int
	refund             payment.RefundStatus
	refundedExternally int64                 // the sum of the refunds that the business made at the provider
	dispute            payment.DisputeStatus // "": no dispute
}

// withLock calls the function `decide` in a transaction that has locked the subject
// and then the charge. Transitions of bookings and cancellations of orders lock in the
// same order. Errors: [ErrNotFound] if there is no charge; the errors of `decide`.
func (s *Store) withLock(ctx context.Context, businessID, subjectID uuid.UUID,
	decide func(pgx.Tx, lockedPayment) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		p := lockedPayment{businessID: businessID, id: subjectID}
		err := tx.QueryRow(ctx, `SELECT subject_kind FROM payments WHERE business_id = $1 AND subject_id = $2`,
			businessID, subjectID).Scan(&p.kind)
		if err != nil {
			return err
		}
		if table, ours := subjectTable[p.kind]; ours {
			err := tx.QueryRow(ctx, `SELECT status FROM `+table+` WHERE business_id = $1 AND id = $2 FOR UPDATE`,
				businessID, subjectID).Scan(&p.status)
			if err != nil {
				return err
			}
		}
		err = tx.QueryRow(ctx, `SELECT status, confirms, amount, refund_number, coalesce(refund_status, ''),
			refunded_elsewhere, coalesce(dispute_status, '') FROM payments
			WHERE business_id = $1 AND subject_id = $2 FOR UPDATE`, businessID, subjectID,
		).Scan(&p.payment, &p.confirmsOnPayment, &p.amount, &p.refundNumber, &p.refund, &p.refundedExternally,
			&p.dispute)
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

// reservationStatus maps the status of a charge to the status of its reservation. Booking derives the status of a
// reservation in this way, because rental stores reservations. While a charge is being cancelled, its reservation is
// already cancelled.
var reservationStatus = map[string]string{
	PaymentCreating: booking.StatusPending, PaymentOpen: booking.StatusPending, PaymentPaid: booking.StatusConfirmed,
	PaymentCancelling: booking.StatusCancelled, PaymentCancelled: booking.StatusCancelled,
}

// confirm confirms the charge's booking or order, if it is pending and needs no manual confirmation. It
// does nothing for a reservation, because rental reads the charge and then confirms the reservation.
func (p lockedPayment) confirm(ctx context.Context, tx pgx.Tx, now time.Time) error {
	if p.status != booking.StatusPending || p.kind == event.Reservation || !p.confirmsOnPayment {
		return nil
	}
	if p.kind == event.Ticket {
		_, err := tx.Exec(ctx, paidTicketSQL, eventlog.Add(ctx, pgx.NamedArgs{"business_id": p.businessID, "id": p.id},
			now))
		return err
	}
	t, _ := state.FindTransition(state.Confirm)
	_, err := tx.Exec(ctx, transitionSQL, transitionArgs(ctx, p.businessID, p.id, t, refund.Part{}, now))
	return err
}

// cancel cancels the charge's booking or order. If the argument `isSilent` is true and
// the booking or order has no event yet, cancel records no event. It does nothing for
// a reservation, because rental reads the charge and then cancels the reservation.
func (p lockedPayment) cancel(ctx context.Context, tx pgx.Tx, isSilent bool, now time.Time) error {
	switch p.kind {
	case event.Reservation:
		return nil
	case event.Ticket:
		_, err := tx.Exec(ctx, cancelTicketSQL, cancelTicketArgs(ctx, p.businessID, p.id, refund.Part{}, isSilent, now))
		return err
	default: // event.Booking
	}
	t, _ := state.FindTransition(state.Cancel)
	args := transitionArgs(ctx, p.businessID, p.id, t, refund.Part{}, now)
	args["untold"] = isSilent
	_, err := tx.Exec(ctx, transitionSQL, args)
	return err
}

// changePaymentSQL changes the status of a charge and schedules the charge for immediate processing.
const changePaymentSQL = `
UPDATE payments
SET status = @status, reference = coalesce(nullif(@reference, ''), reference), due_at = @now, attempts = 0, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id`

var changePaymentRecorded = recordPayment(changePaymentSQL)

// setStatus changes the status of the charge. If the new status is not final, the reconciliation
// processes the charge immediately. If the argument `reference` is "", the
// stored reference stays unchanged. If the argument `typ` is "", setStatus records no event.
func (p lockedPayment) setStatus(ctx context.Context, tx pgx.Tx, status, reference string, typ event.Type,
	now time.Time) error {
	args := pgx.NamedArgs{"business_id": p.businessID, "id": p.id, "status": status, "reference": reference, "now": now}
	sql := changePaymentSQL
	if typ != "" {
		args["event_type"] = string(typ)
		sql, args = changePaymentRecorded[p.kind], eventlog.Add(ctx, args, now)
	}
	_, err := tx.Exec(ctx, sql, args)
	return err
}
