package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// slowProvider is a provider that delays its first response until `answer` is closed; the charge is created before
// that.
type slowProvider struct {
	payment.Provider
	hasBegun atomic.Bool
	created  chan uuid.UUID // the id of the booking
	answer   chan struct{}
}

func (c *slowProvider) Create(ctx context.Context, charge payment.Charge) (payment.Intent, error) {
	intent, err := c.Provider.Create(ctx, charge)
	if c.hasBegun.CompareAndSwap(false, true) {
		c.created <- charge.ID
		<-c.answer
	}
	return intent, err
}

// bookDuring books with the idempotency key `k` and calls `act` while the provider delays its response. The booking
// is written and its charge is created at that time.
func (s *paymentFixture) bookDuring(act func(booking uuid.UUID)) answer {
	s.t.Helper()
	provider := &slowProvider{Provider: s.providers[stripe.Name], created: make(chan uuid.UUID),
		answer: make(chan struct{})}
	s.booker.Payments = usecase.PaymentOptions{
		Providers: payment.Providers{stripe.Name: provider}, CallTimeout: time.Minute, ExpiresAfter: expiresAfter,
	}
	done := make(chan answer, 1)
	go func() { done <- s.book(s.key, newOrder("09:30", nil), header, "k") }()
	select {
	case id := <-provider.created:
		func() {
			defer close(provider.answer)
			act(id)
		}()
		return <-done
	case a := <-done:
		s.t.Fatalf("no charge was created: got %d %s", a.status, a.text)
		return a
	}
}

func (s *paymentFixture) expectOccupied(want int) {
	s.t.Helper()
	if got := s.count(`SELECT count(*) FROM occupied_time`); got != want {
		s.t.Errorf("%d times are occupied, want %d", got, want)
	}
}

// TestBookingCancelledDuringPaymentGetsError cancels or releases a booking while the provider creates its
// charge. The request gets an error, and the charge is cancelled.
func TestBookingCancelledDuringPaymentGetsError(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*paymentFixture, uuid.UUID){
		"cancelled by the owner": func(s *paymentFixture, id uuid.UUID) { s.applyTransition(id, "cancel") },
		"released": func(s *paymentFixture, _ uuid.UUID) {
			s.clock.Advance(25 * time.Second)
			s.step()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			a := s.bookDuring(func(id uuid.UUID) { happens(s, id) })
			s.expect("the booking", a, 503, "payment_unavailable")
			s.step()
			s.expectState("cancelled", "cancelled", 0)
			if got := f.statuses(); got != "canceled" {
				t.Errorf("the charge is %q, want it canceled", got)
			}
			s.expect("the same key again", s.book(s.key, newOrder("09:30", nil), header, "k"), 201, "")
		})
	}
}

// TestBookingIsCancelledAfterLockIsLost has a retry take the idempotency lock while the provider creates the
// charge of the first request. The first request is answered after the retry, or while the retry is still in flight.
// Only the booking of the retry stays.
func TestBookingIsCancelledAfterLockIsLost(t *testing.T) {
	t.Parallel()
	for _, inFlight := range []bool{false, true} {
		t.Run(fmt.Sprintf("retry in flight %t", inFlight), func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			release, retried := make(chan struct{}), make(chan answer, 1)
			var second answer
			first := s.bookDuring(func(uuid.UUID) {
				s.clock.Advance(25 * time.Second)
				s.set(func(w *fixture) { w.release = release })
				go func() { retried <- s.book(s.key, newOrder("09:30", nil), header, "k") }()
				for calls := 0; calls < 2; {
					s.set(func(w *fixture) { calls = w.bookableCalls })
				}
				if !inFlight {
					close(release)
					second = <-retried
				}
			})
			if inFlight {
				close(release)
				second = <-retried
			}
			s.expect("who lost its key", first, 503, "payment_unavailable")
			s.expect("who took it over", second, 201, "")
			s.expectOccupied(1)
			s.step()
			if got := f.statuses(); got != "canceled requires_payment_method" {
				t.Errorf("the charges are %q, want the first canceled and the second open", got)
			}
			third := s.book(s.key, newOrder("09:30", nil), header, "k")
			if third.status != http.StatusCreated || third.text != second.text {
				t.Errorf("the replay is %d %s\nthe answer was %s", third.status, third.text, second.text)
			}
		})
	}
}

// TestLostAnswerOfOpenPaymentIsRecovered breaks the database connections while booking stores that a charge is open.
// In the meantime the customer may pay, or the owner may cancel. The request and its retry return the same booking.
func TestLostAnswerOfOpenPaymentIsRecovered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act              func(s *paymentFixture)
		booking, payment string
		occupied         int
	}{
		"and nothing else happens": {func(*paymentFixture) {}, "pending", "open", 1},
		"and the customer pays": {func(s *paymentFixture) {
			s.sendEvent("payment_intent.succeeded", map[string]any{"id": "pi_1"})
		}, "confirmed", "paid", 1},
		"and the owner cancels": {func(s *paymentFixture) {
			var id uuid.UUID
			if err := s.pool.QueryRow(s.t.Context(), `SELECT id FROM bookings`).Scan(&id); err != nil {
				s.t.Error(err)
			}
			s.applyTransition(id, "cancel")
		}, "cancelled", "cancelling", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			pool, conns := testkit.OpenFaultyPool(t, s.pool)
			s.booker.Bookings = store.New(pool)
			conns.Break("pi_1", testkit.DropAnswer, true) // the statement that stores the charge as open
			done := make(chan answer, 1)
			go func() { done <- s.book(s.key, newOrder("09:30", nil), header, "k") }()
			for noted := 0; noted == 0; {
				noted = s.count(`SELECT count(*) FROM payments WHERE status = 'open'`)
			}
			c.act(s)
			conns.Restore()
			first := <-done
			s.expect("the booking", first, 201, "")
			s.expectState(c.booking, c.payment, c.occupied)
			second := s.book(s.key, newOrder("09:30", nil), header, "k")
			if second.status != http.StatusCreated || second.text != first.text ||
				second.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the replay is %d %s\nthe answer was %s", second.status, second.text, first.text)
			}
		})
	}
}

// TestRefusedKeyStopsBookingDuringPayment pauses the business while the provider creates the
// charge. A later attempt with the same key is refused, so the earlier attempt must be refused, too (semantics.md §3).
func TestRefusedKeyStopsBookingDuringPayment(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	paused := timespan.NewDate(2027, time.March, 2)
	first := s.bookDuring(func(uuid.UUID) {
		s.clock.Advance(time.Second)
		s.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &paused })
		s.expect("a later attempt", s.book(s.key, newOrder("09:30", nil), header, "k"), 403, "not_accepting_bookings")
	})
	s.expect("the earlier one", first, 409, "idempotency_in_progress")
	s.expectState("cancelled", "cancelling", 0)
	s.step()
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the charge is %q, want it canceled", got)
	}
	s.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil })
	s.expect("once it goes on", s.book(s.key, newOrder("09:30", nil), header, "k"), 201, "")
	s.expectOccupied(1)
}
