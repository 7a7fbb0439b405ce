package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// ExternalRefusal is the stored reason of a refund that booking refuses. Booking refuses such a
// refund because the business has already refunded the amount in the provider's own interface.
const ExternalRefusal = "refunded_at_provider"

// externalRefundsSQL stores the sum of the refunds that the business made in the provider's own
// interface, not through Slotmesh. If the rest of the payment is then smaller than the amount of
// a pending refund, the pending refund becomes refused. Therefore no amount is refunded twice.
const externalRefundsSQL = `
UPDATE payments
SET refunded = refunded - refunded_elsewhere + least(@elsewhere::bigint, amount - refunded + refunded_elsewhere),
    refunded_elsewhere = least(@elsewhere::bigint, amount - refunded + refunded_elsewhere),
    refund_reason = CASE WHEN refund_status = 'pending'
                              AND refunded - refunded_elsewhere + @elsewhere::bigint + refund_amount > amount
                         THEN @refused_elsewhere ELSE refund_reason END,
    refund_status = CASE WHEN refund_status = 'pending'
                              AND refunded - refunded_elsewhere + @elsewhere::bigint + refund_amount > amount
                         THEN 'refused' ELSE refund_status END,
    news = news + 1, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id`

var externalRefundsRecorded = recordPayment(externalRefundsSQL)

// StoreExternalRefunds stores the sum of the refunds that the business made in the provider's own interface,
// in minor units. It does nothing if the customer has not paid the charge. StoreExternalRefunds is idempotent.
func (s *Store) StoreExternalRefunds(ctx context.Context, businessID, subjectID uuid.UUID, sum int64,
	now time.Time) error {
	return s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		if p.payment != PaymentPaid || sum == p.refundedExternally {
			return nil
		}
		eventType := event.PaymentRefunded
		if sum < p.refundedExternally {
			eventType = event.PaymentRefundFailed
		}
		_, err := tx.Exec(ctx, externalRefundsRecorded[p.kind], eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": subjectID, "elsewhere": sum, "refused_elsewhere": ExternalRefusal,
			"event_type": string(eventType), "now": now,
		}, now))
		return err
	})
}

var disputeRecorded = recordPayment(`
UPDATE payments SET dispute_status = @dispute_status, dispute_reason = nullif(@dispute_reason, ''), news = news + 1, updated_at = @now
WHERE business_id = @business_id AND subject_id = @id`)

// StoreDispute stores the status of the customer's dispute of a payment. It
// does not change an ended dispute back to open. StoreDispute is idempotent.
func (s *Store) StoreDispute(ctx context.Context, businessID, subjectID uuid.UUID, d payment.Dispute,
	now time.Time) error {
	return s.withLock(ctx, businessID, subjectID, func(tx pgx.Tx, p lockedPayment) error {
		if p.payment != PaymentPaid || d.Status == p.dispute || p.dispute != "" && d.Status == payment.DisputeOpen {
			return nil
		}
		_, err := tx.Exec(ctx, disputeRecorded[p.kind], eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": subjectID, "dispute_status": string(d.Status), "dispute_reason": d.Reason,
			"event_type": string(event.PaymentDisputed), "now": now,
		}, now))
		return err
	})
}
