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

// cancelling is a provider that cancels charges in a way of its own.
type cancelling struct {
	payment.Provider
	cancel func(ctx context.Context, account, reference string) (payment.Outcome, error)
}

func (c cancelling) Cancel(ctx context.Context, account, reference string) (payment.Outcome, error) {
	return c.cancel(ctx, account, reference)
}

// reconcilerOf is a replica's, whose provider cancels like this.
func (s *shop) reconcilerOf(within time.Duration,
	cancel func(ctx context.Context, account, reference string) (payment.Outcome, error)) *usecase.Payments {
	providers := payment.Providers{stripe.Name: cancelling{s.providers[stripe.Name], cancel}}
	options := usecase.PaymentOptions{Providers: providers, Within: within}
	return usecase.NewPayments(s.store, options, s.clock, telemetry.Discard())
}

// cancelled leaves charges of bookings that the owner cancelled.
func (s *shop) cancelled(times ...string) {
	s.t.Helper()
	for _, at := range times {
		id, _ := s.buy(at)
		s.ownerMoves(id, "cancel")
	}
}

// TestAHangingChargeHoldsUpNoRelease has a booking left unfinished fall due while the first of two charges hangs: its
// time is free before the second is begun.
func TestAHangingChargeHoldsUpNoRelease(t *testing.T) {
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
	var held []int // times occupied when each call begins
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
		t.Errorf("%v times are held as charges hang one after the other, want 1 and then 0", held)
	}
}

// TestReplicasDoNotEndTheSameCharge has one replica end what is due whenever a call of another one takes as long
// as it may.
func TestReplicasDoNotEndTheSameCharge(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	s.cancelled("09:30", "11:30", "13:30", "15:30")
	asked := map[string]int{}
	quick := s.reconcilerOf(time.Minute, func(_ context.Context, _, reference string) (payment.Outcome, error) {
		asked[reference]++
		return payment.Cancelled, nil
	})
	slow := s.reconcilerOf(time.Minute, func(ctx context.Context, _, reference string) (payment.Outcome, error) {
		asked[reference]++
		s.clock.Advance(30 * time.Second)
		return payment.Cancelled, quick.Reconcile(ctx)
	})
	if err := slow.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	for reference, n := range asked {
		if n != 1 {
			t.Errorf("%s was cancelled %d times", reference, n)
		}
	}
	if len(asked) != 4 {
		t.Errorf("%d charges were cancelled, want 4", len(asked))
	}
}
