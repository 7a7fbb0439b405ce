package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// ReservationPayment is the online payment of a rental reservation. The JSON names
// are the columns of the table payments. The rental service stores the reservation.
type ReservationPayment struct {
	Payment
	BusinessID   uuid.UUID  `json:"business_id"`
	ID           uuid.UUID  `json:"subject_id"` // the id of the reservation
	Currency     string     `json:"currency"`
	FailedAt     *time.Time `json:"failed_at"`
	RefundNumber int        `json:"refund_number"`
	Reports      int64      `json:"news"` // the number of the provider's reports after the payment
}

// NewReservationPayment is the argument of [Store.CreateReservationPayment].
type NewReservationPayment struct {
	BusinessID uuid.UUID
	ID         uuid.UUID // the id of the reservation
	Currency   string
	NewPayment
	Now time.Time
}

// CreateReservationPayment stores a payment with the status creating. The caller must call it before it
// creates the payment at the provider. The result is false if the reservation already has a payment.
func (s *Store) CreateReservationPayment(ctx context.Context, c NewReservationPayment) (bool, error) {
	args := pgx.NamedArgs{"business_id": c.BusinessID, "id": c.ID, "currency": c.Currency, "now": c.Now}
	if err := addPayment(args, &c.NewPayment); err != nil {
		return false, err
	}
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, due_at,
		                      on_checkout, created_at, updated_at)
		VALUES (@business_id, 'reservation', @id, 'creating', @provider, @account, @amount, @currency, @cancellation_policy, @due_at,
		        @on_checkout, @now, @now)
		ON CONFLICT (business_id, subject_id) DO NOTHING`, args)
	if err != nil {
		return false, fmt.Errorf("write a payment: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// OpenReservationPayment stores that the payment of a reservation is open. The argument `reference` is
// the provider's reference of the payment. The payment expires at the time in the argument
// `due`. Errors: [ErrPaymentOver] if the status of the payment is no longer creating.
func (s *Store) OpenReservationPayment(ctx context.Context, businessID, id uuid.UUID, reference string,
	due, now time.Time) (ReservationPayment, error) {
	c, err := postgres.Row(ctx, s.pool, pgx.RowTo[ReservationPayment], "note an open payment", `
		UPDATE payments SET status = 'open', reference = $3, due_at = $4, updated_at = $5
		WHERE business_id = $1 AND subject_id = $2 AND subject_kind = 'reservation' AND status = 'creating'
		RETURNING to_jsonb(payments)`, businessID, id, reference, due, now)
	if errors.Is(err, pgx.ErrNoRows) {
		return ReservationPayment{}, ErrPaymentOver
	}
	return c, err
}

// ReservationPayments returns the payments of the given reservations. The result leaves out reservations that have no
// payment.
func (s *Store) ReservationPayments(ctx context.Context, of []booking.ReservationID) ([]ReservationPayment, error) {
	businesses, ids := make([]uuid.UUID, len(of)), make([]uuid.UUID, len(of))
	for i, r := range of {
		businesses[i], ids[i] = r.BusinessID, r.ID
	}
	return postgres.Rows(ctx, s.pool, pgx.RowTo[ReservationPayment], "read payments", `
		SELECT to_jsonb(p)
		FROM unnest($1::uuid[], $2::uuid[]) AS asked (business_id, id)
		JOIN payments AS p ON p.business_id = asked.business_id AND p.subject_id = asked.id
		WHERE p.subject_kind = 'reservation'`, businesses, ids)
}

// ReservationPaymentsWithReports returns the payments of reservations for which
// the provider has sent reports that rental has not processed yet. The result
// has at most `limit` payments; the payment with the oldest change comes first.
func (s *Store) ReservationPaymentsWithReports(ctx context.Context, limit int) ([]ReservationPayment, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[ReservationPayment], "find payments with changes", `
		SELECT to_jsonb(p) FROM payments AS p
		WHERE subject_kind = 'reservation' AND news_told < news ORDER BY updated_at LIMIT $1`, limit)
}

// AcknowledgeReports stores, for each payment, the number of the provider's
// last report that rental has processed. AcknowledgeReports is idempotent.
func (s *Store) AcknowledgeReports(ctx context.Context, acks []booking.ReportAcknowledgement) error {
	businesses, ids, news := make([]uuid.UUID, len(acks)), make([]uuid.UUID, len(acks)), make([]int64, len(acks))
	for i, n := range acks {
		businesses[i], ids[i], news[i] = n.BusinessID, n.ID, n.Reports
	}
	_, err := s.pool.Exec(ctx, `
		UPDATE payments AS p SET news_told = least(noted.news, p.news)
		FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS noted (business_id, id, news)
		WHERE p.business_id = noted.business_id AND p.subject_id = noted.id AND p.subject_kind = 'reservation' AND p.news_told < noted.news`,
		businesses, ids, news)
	if err != nil {
		return fmt.Errorf("store the acknowledgement of reports: %w", err)
	}
	return nil
}

// ReservationPayment returns the payment of a reservation. Errors: [ErrNotFound].
func (s *Store) ReservationPayment(ctx context.Context, businessID, id uuid.UUID) (ReservationPayment, error) {
	payments, err := s.ReservationPayments(ctx, []booking.ReservationID{{BusinessID: businessID, ID: id}})
	if err == nil && len(payments) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return ReservationPayment{}, err
	}
	return payments[0], nil
}

// CloseReservationPayment closes the payment of a cancelled reservation. If the payment is not paid,
// the reconciliation closes it at the provider. If the payment is paid, CloseReservationPayment starts
// the refund in the argument `requested`, or a refund of the whole amount if `requested` is nil.
//
// CloseReservationPayment is idempotent: it makes no refund if the payment already has
// a refund with the number of `requested` or a higher number. Errors: [ErrNotFound].
func (s *Store) CloseReservationPayment(ctx context.Context, businessID, id uuid.UUID,
	requested *booking.NumberedRefund,
	now time.Time) error {
	return s.withLock(ctx, businessID, id, func(tx pgx.Tx, p lockedPayment) error {
		back := booking.NumberedRefund{Number: 1, Part: refund.Part{Amount: p.amount, Percent: 100}}
		if requested != nil {
			back = *requested
		}
		switch {
		case p.payment == PaymentCreating || p.payment == PaymentOpen:
			return p.setStatus(ctx, tx, PaymentCancelling, "", "", now)
		case p.payment == PaymentPaid && back.Number > p.refundNumber:
			return startRefund(ctx, tx, businessID, id, back.Part, now)
		}
		return nil
	})
}
