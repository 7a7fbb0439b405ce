package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// creating is a provider that opens the first charge and keeps its answer back.
type creating struct {
	payment.Provider
	begun  atomic.Bool
	opened chan uuid.UUID // the booking
	answer chan struct{}
}

func (c *creating) Create(ctx context.Context, charge payment.Charge) (payment.Intent, error) {
	intent, err := c.Provider.Create(ctx, charge)
	if c.begun.CompareAndSwap(false, true) {
		c.opened <- charge.ID
		<-c.answer
	}
	return intent, err
}

// meanwhile books with the key k and makes something happen once the booking is written and its charge created, before
// the provider has answered.
func (s *shop) meanwhile(happens func(booking uuid.UUID)) answer {
	s.t.Helper()
	provider := &creating{Provider: s.providers[stripe.Name], opened: make(chan uuid.UUID), answer: make(chan struct{})}
	s.booker.Payments = usecase.PaymentOptions{
		Providers: payment.Providers{stripe.Name: provider}, Within: time.Minute, ExpiresAfter: expiresAfter,
	}
	done := make(chan answer, 1)
	go func() { done <- s.book(s.key, order("09:30", nil), header, "k") }()
	select {
	case id := <-provider.opened:
		func() {
			defer close(provider.answer)
			happens(id)
		}()
		return <-done
	case a := <-done:
		s.t.Fatalf("no charge was created: got %d %s", a.status, a.text)
		return a
	}
}

func (s *shop) expectHeld(want int) {
	s.t.Helper()
	if got := s.count(`SELECT count(*) FROM occupied_time`); got != want {
		s.t.Errorf("%d times are held, want %d", got, want)
	}
}

// TestABookingThatIsOffBeforeItsChargeIsOpenIsNotTold cancels, or releases as unfinished, what waits for its charge.
func TestABookingThatIsOffBeforeItsChargeIsOpenIsNotTold(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*shop, uuid.UUID){
		"cancelled by the owner": func(s *shop, id uuid.UUID) { s.ownerMoves(id, "cancel") },
		"released": func(s *shop, _ uuid.UUID) {
			s.clock.Advance(25 * time.Second)
			s.step()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			a := s.meanwhile(func(id uuid.UUID) { happens(s, id) })
			s.expect("the booking", a, 503, "payment_unavailable")
			s.step()
			s.expectState("cancelled", "cancelled", 0)
			if got := f.statuses(); got != "canceled" {
				t.Errorf("the charge is %q, want it canceled", got)
			}
			s.expect("the same key again", s.book(s.key, order("09:30", nil), header, "k"), 201, "")
		})
	}
}

// TestAPaidBookingWhoseKeyIsTakenOverIsTakenBack has a retry take over the key while the provider creates the first
// request's charge. The first is answered after the retry, or while that is still in flight.
func TestAPaidBookingWhoseKeyIsTakenOverIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, inFlight := range []bool{false, true} {
		t.Run(fmt.Sprintf("retry in flight %t", inFlight), func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			held, retried := make(chan struct{}), make(chan answer, 1)
			var second answer
			first := s.meanwhile(func(uuid.UUID) {
				s.clock.Advance(25 * time.Second)
				s.set(func(w *town) { w.held = held })
				go func() { retried <- s.book(s.key, order("09:30", nil), header, "k") }()
				for asked := 0; asked < 2; {
					s.set(func(w *town) { asked = w.asked })
				}
				if !inFlight {
					close(held)
					second = <-retried
				}
			})
			if inFlight {
				close(held)
				second = <-retried
			}
			s.expect("who lost its key", first, 503, "payment_unavailable")
			s.expect("who took it over", second, 201, "")
			s.expectHeld(1)
			s.step()
			if got := f.statuses(); got != "canceled requires_payment_method" {
				t.Errorf("the charges are %q, want the first canceled and the second open", got)
			}
			again := s.book(s.key, order("09:30", nil), header, "k")
			if again.status != http.StatusCreated || again.text != second.text {
				t.Errorf("the replay is %d %s\nthe answer was %s", again.status, again.text, second.text)
			}
		})
	}
}

// opening is a store that loses the connection once it has noted an open charge.
type opening struct {
	*store.Store
	town *town
}

func (o opening) OpenPayment(ctx context.Context, p store.OpenPayment) error {
	err := o.Store.OpenPayment(ctx, p)
	o.town.mu.Lock()
	defer o.town.mu.Unlock()
	return errors.Join(err, o.town.openErr)
}

// TestAnOpenChargeThatCouldNotBeToldIsTakenBack has the note of an open charge and of its answer committed, and yet fail.
func TestAnOpenChargeThatCouldNotBeToldIsTakenBack(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.set(func(w *town) { w.openErr = errors.New("the connection broke") })
	s.expect("the booking", s.book(s.key, order("09:30", nil), header, "k"), 503, "payment_unavailable")
	s.expectState("cancelled", "cancelling", 0)
	s.step()
	s.expectState("cancelled", "cancelled", 0)
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the charge is %q, want it canceled", got)
	}
	s.set(func(w *town) { w.openErr = nil })
	again := s.book(s.key, order("09:30", nil), header, "k")
	if again.status != http.StatusCreated || again.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the same key again: got %d %s, want a booking of its own", again.status, again.text)
	}
	s.expectHeld(1)
}
