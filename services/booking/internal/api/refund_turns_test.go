package api_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// slowRefund is a payment provider that makes refunds with the function `refund`.
type slowRefund struct {
	payment.Provider
	refund func(ctx context.Context, r payment.Refund) (payment.RefundState, error)
}

func (r slowRefund) Refund(ctx context.Context, req payment.Refund) (payment.RefundState, error) {
	return r.refund(ctx, req)
}

// addDueRefunds copies a cancelled booking and its charge `times` times for a new business with this account. The
// refunds are due at the time `due`.
func (s *paymentFixture) addDueRefunds(id uuid.UUID, account string, due time.Time, times int) {
	s.t.Helper()
	business := uuid.New()
	for _, insert := range []string{
		`INSERT INTO bookings SELECT (jsonb_populate_record(b, jsonb_build_object(
			'business_id', $2::uuid, 'id', md5($2 || '/' || n)::uuid, 'link_hash', NULL, 'sequence', 0))).*
		 FROM bookings AS b, generate_series(1, $5::int) AS n WHERE b.id = $1 AND $3::text <> '' AND $4::timestamptz IS NOT NULL`,
		`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object(
			'business_id', $2::uuid, 'subject_id', md5($2 || '/' || n)::uuid, 'account', $3::text, 'due_at', $4::timestamptz))).*
		 FROM payments AS p, generate_series(1, $5::int) AS n WHERE p.subject_id = $1`,
	} {
		if _, err := s.pool.Exec(s.t.Context(), insert, id, business.String(), account, due, times); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestBusinessesShareRefundTurns has one business with a thousand refunds, whose first refund hangs, and
// ten businesses with twenty refunds each. The only refund of the last business is made before any other business has
// had a third.
func TestBusinessesShareRefundTurns(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, _ := s.buyPaid(f, "09:30")
	s.cancel(id, "")
	s.addDueRefunds(id, "large", now.Add(-time.Hour), 1000)
	for range 10 {
		s.addDueRefunds(id, uuid.NewString(), now.Add(-time.Hour), 20)
	}
	s.addDueRefunds(id, "small", now, 1)

	var mu sync.Mutex
	requests, hung, small := map[string]int{}, 0, make(chan struct{})
	refund := func(ctx context.Context, r payment.Refund) (payment.RefundState, error) {
		mu.Lock()
		requests[r.Account]++
		first := requests[r.Account] == 1
		if r.Account == "small" {
			for account, n := range requests {
				if n > 2 {
					t.Errorf("%s has had %d refunds before the last business had its one", account, n)
				}
			}
			close(small)
		}
		mu.Unlock()
		if r.Account == "large" && first {
			select {
			case <-small:
			case <-ctx.Done():
				hung++
				return payment.RefundState{}, ctx.Err()
			}
		}
		return payment.RefundState{Status: payment.RefundRefunded}, nil
	}
	options := usecase.PaymentOptions{Providers: payment.Providers{stripe.Name: slowRefund{s.providers[stripe.Name],
		refund}}, CallTimeout: testkit.MaxWait}
	if err := usecase.NewPayments(s.store, options, s.clock, telemetry.Discard()).Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hung > 0 {
		t.Error("the refund of the last business waited for the hanging refund of another business")
	}
	if left := s.count(`SELECT count(*) FROM payments WHERE refund_status <> 'refunded'`); left != 0 ||
		requests["large"] != 1000 {
		t.Errorf("%d refunds are left, %d of a thousand were asked for", left, requests["large"])
	}
}
