package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// slowCancel is a payment provider that cancels charges with the function `cancel`.
type slowCancel struct {
	payment.Provider
	cancel func(ctx context.Context, account, reference string) (payment.Outcome, error)
}

func (c slowCancel) Cancel(ctx context.Context, account, reference string) (payment.Outcome, error) {
	return c.cancel(ctx, account, reference)
}

// reconcilerOf returns the payment use cases of a replica whose provider cancels charges with `cancel`. A call of the
// provider times out after `within`.
func (s *paymentFixture) reconcilerOf(within time.Duration,
	cancel func(ctx context.Context, account, reference string) (payment.Outcome, error)) *usecase.Payments {
	providers := payment.Providers{stripe.Name: slowCancel{s.providers[stripe.Name], cancel}}
	options := usecase.PaymentOptions{Providers: providers, CallTimeout: within}
	return usecase.NewPayments(s.store, options, s.clock, telemetry.Discard())
}

// cancelled books at these times and cancels the bookings as the owner, so that their open charges are still to be
// cancelled.
func (s *paymentFixture) cancelled(times ...string) {
	s.t.Helper()
	for _, at := range times {
		id, _ := s.buy(at)
		s.applyTransition(id, "cancel")
	}
}

// TestSlowCancelDoesNotDelayRelease cancels two charges, of which the first hangs. An unfinished booking becomes due
// in that time. Its time is free before the cancellation of the second charge begins.
func TestSlowCancelDoesNotDelayRelease(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	s.cancelled("09:30", "11:30")
	id, _ := s.buy("13:30")
	_, err := s.pool.Exec(t.Context(),
		`UPDATE payments SET status = 'creating', reference = NULL, due_at = $2 WHERE subject_id = $1`,
		id, now.Add(25*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var held []int // number of occupied times when each call begins
	hanging := s.reconcilerOf(50*time.Millisecond, func(ctx context.Context, _, _ string) (payment.Outcome, error) {
		held = append(held, s.count(`SELECT count(*) FROM occupied_time`))
		if len(held) == 1 {
			s.clock.Advance(25 * time.Second)
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err := hanging.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(held) < 2 || held[0] != 1 || held[1] != 0 {
		t.Errorf("the numbers of occupied times while one charge after the other hangs are %v, want 1 and then 0", held)
	}
}

// TestReplicasEndEachChargeOnce has a second replica cancel all due charges while each call of the first replica
// takes the maximum time. No charge is cancelled twice.
func TestReplicasEndEachChargeOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	s.cancelled("09:30", "11:30", "13:30", "15:30")
	requests := map[string]int{}
	quick := s.reconcilerOf(time.Minute, func(_ context.Context, _, reference string) (payment.Outcome, error) {
		requests[reference]++
		return payment.Cancelled, nil
	})
	slow := s.reconcilerOf(time.Minute, func(ctx context.Context, _, reference string) (payment.Outcome, error) {
		requests[reference]++
		s.clock.Advance(30 * time.Second)
		return payment.Cancelled, quick.Reconcile(ctx)
	})
	if err := slow.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	for reference, n := range requests {
		if n != 1 {
			t.Errorf("%s was cancelled %d times", reference, n)
		}
	}
	if len(requests) != 4 {
		t.Errorf("%d charges were cancelled, want 4", len(requests))
	}
}
