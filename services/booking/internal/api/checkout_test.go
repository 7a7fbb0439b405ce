package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// openPageShop returns a shop whose booking page accepts bookings.
func openPageShop(t *testing.T, f *fakeStripe) *paymentFixture {
	t.Helper()
	s := openShop(t, f.URL)
	s.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 20 })
	return s
}

// buyOnPage books on the page and returns the booking and the id of its Checkout Session.
func (s *paymentFixture) buyOnPage(at string) (*booking.Booking, string) {
	s.t.Helper()
	b, err := s.bookOnPage(at, newPageRequest(at))
	if err != nil {
		s.t.Fatal(err)
	}
	return b, b.CheckoutURL[strings.LastIndexByte(b.CheckoutURL, '/')+1:]
}

// sendEvent sends an event of Stripe about `object` to the webhook.
func (s *paymentFixture) sendEvent(event string, object map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]any{
		"id": "evt_1", "object": "event", "type": event, "account": "acct_harbor", "created": 1803888000,
		"data": map[string]any{"object": object},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: raw, Secret: webhookSecret})
	s.expect(event, s.sendNotice(string(raw), signed.Header), 200, "")
}

// payAgain requests the payment page of an open charge, as the page of the customer's link does.
func (s *paymentFixture) payAgain(manageURL string) (payment.Intent, error) {
	links := usecase.NewCustomerLinks(s.store, s, s.booker, usecase.NewCancellations(s.store, s.providers, s.clock),
		s.clock)
	_, _, intent, err := links.OpenPayment(context.Background(), tokenOf(manageURL))
	return intent, err
}

func TestPageBookingPaysOnCheckout(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openPageShop(t, f)
	b, id := s.buyOnPage("09:30")
	page := f.page(id)
	if page.URL != b.CheckoutURL || page.Account != "acct_harbor" || b.Payment == nil ||
		b.Payment.Status != booking.PaymentOpen {
		t.Errorf("booked %+v, to be paid on %+v", b, page)
	}
	of := map[string]string{"metadata[slotmesh_business]": s.offer.ID.String(),
		"metadata[slotmesh_booking]": b.ID.String()}
	want := map[string]string{
		"mode": "payment", "line_items[0][quantity]": "1", "line_items[0][price_data][currency]": "eur",
		"line_items[0][price_data][unit_amount]":        "4000",
		"line_items[0][price_data][product_data][name]": "Haircut",
		"success_url": b.ManageURL + "?payment=done", "cancel_url": b.ManageURL + "?payment=open",
		"expires_at": strconv.FormatInt(now.Add(expiresAfter+31*time.Minute).Unix(), 10),
	}
	for name, value := range of {
		want[name], want["payment_intent_data["+strings.Replace(name, "[", "][", 1)] = value, value
	}
	if diff := cmp.Diff(want, page.params); diff != "" {
		t.Errorf("Stripe was asked for (-want +got):\n%s", diff)
	}
	if second, err := s.bookOnPage("09:30", newPageRequest("09:30")); err != nil ||
		second.CheckoutURL != b.CheckoutURL {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "unpaid"})
	s.expectState("pending", "open", 1)
	f.checkOut(t, id)
	for range 2 { // Stripe sends an event at least once
		s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "paid"})
	}
	s.expectState("confirmed", "paid", 1)
	s.expectEvents(b.ID, "booking.created", "payment.succeeded", "booking.confirmed")
	if _, err := s.payAgain(b.ManageURL); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second payment of a paid booking: %v", err)
	}
}

func TestCheckoutPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openPageShop(t, f)
	b, id := s.buyOnPage("09:30")
	f.checkOut(t, id)
	s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "paid"})
	s.cancel(b.ID, booking.RefundFull)
	s.step()
	if got := f.sumRefunds("pi_of_" + id); !slices.Equal(got, []int64{4000}) {
		t.Errorf("refunds are %v, want 40.00 once", got)
	}
	eventData := map[string]any{
		"id": "re_1", "object": "refund", "status": "failed", "failure_reason": "lost_or_stolen_card",
		"payment_intent": "pi_of_" + id,
		"metadata": map[string]string{"slotmesh_refund": "1", "slotmesh_business": s.offer.ID.String(),
			"slotmesh_booking": b.ID.String()},
	}
	s.sendEvent("refund.failed", eventData)
	if n := s.count(`SELECT count(*) FROM payments WHERE refund_status = 'refused' AND refunded = 0`); n != 1 {
		t.Error("a refund that the bank sent back is not stored")
	}
}

// TestNoticeOfOtherAccountIsIgnored shows that booking accepts a notice about a payment only from the account
// that receives the payment. The reason is that any account can name any booking in its notices.
func TestNoticeOfOtherAccountIsIgnored(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openPageShop(t, f)
	b, _ := s.buyOnPage("09:30")
	body := map[string]any{"id": "pi_any", "metadata": map[string]string{"slotmesh_business": s.offer.ID.String(),
		"slotmesh_booking": b.ID.String()}}
	s.sendEvent("payment_intent.succeeded", body)
	s.sendEvent("payment_intent.canceled", body)
	s.expectState("pending", "open", 1)
	failed := func() int { return s.count(`SELECT count(*) FROM events WHERE type = 'payment.failed'`) }
	raw, _ := json.Marshal(map[string]any{"id": "evt_2", "object": "event", "type": "payment_intent.payment_failed",
		"account": "acct_other",
		"created": 1803888000, "data": map[string]any{"object": body}})
	s.expect("another account",
		s.sendNotice(string(raw), webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: raw,
			Secret: webhookSecret}).Header), 200, "")
	if n := failed(); n != 0 {
		t.Errorf("%d attempts failed after a notice of another account", n)
	}
	s.sendEvent("payment_intent.payment_failed", body)
	if n := failed(); n != 1 {
		t.Errorf("%d attempts failed, want that of the booking's own account", n)
	}
}

func TestCheckoutEndsWithBooking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act              func(s *paymentFixture, f *fakeStripe, id string)
		booking, payment string
		page             string
		occupied         int
	}{
		"nobody pays": {func(*paymentFixture, *fakeStripe, string) {}, "cancelled", "cancelled", "expired", 0},
		"paid at the end": {func(s *paymentFixture, f *fakeStripe, id string) {
			f.checkOut(s.t.(*testing.T), id)
		}, "confirmed", "paid", "complete", 1},
		"Stripe ends it": {func(s *paymentFixture, _ *fakeStripe, id string) {
			s.sendEvent("checkout.session.expired", map[string]any{"id": id})
		}, "cancelled", "cancelled", "open", 0},
		"its process dies": {func(s *paymentFixture, _ *fakeStripe, _ string) {
			_, err := s.pool.Exec(context.Background(), `UPDATE payments SET status = 'creating', reference = NULL`)
			if err != nil {
				s.t.Error(err)
			}
		}, "cancelled", "cancelled", "open", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openPageShop(t, f)
			_, id := s.buyOnPage("09:30")
			c.act(s, f, id)
			s.clock.Advance(expiresAfter)
			s.step()
			s.expectState(c.booking, c.payment, c.occupied)
			if got := f.page(id).Status; got != c.page {
				t.Errorf("Stripe's page is %s, want %s", got, c.page)
			}
		})
	}
}

// TestCustomerLinkShowsUnpaidBooking shows that the customer's page marks a booking as unpaid if it was
// cancelled because the payment is missing. A booking that the owner cancelled is not marked.
func TestCustomerLinkShowsUnpaidBooking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act    func(s *paymentFixture, f *fakeStripe, b *booking.Booking, page string)
		unpaid bool
	}{
		"nobody pays": {func(*paymentFixture, *fakeStripe, *booking.Booking, string) {}, true},
		"the owner cancels": {func(s *paymentFixture, _ *fakeStripe, b *booking.Booking, _ string) {
			s.cancel(b.ID, booking.RefundPolicy)
		}, false},
		"it is paid": {func(s *paymentFixture, f *fakeStripe, _ *booking.Booking, page string) {
			f.checkOut(s.t.(*testing.T), page)
		}, false},
		"confirmed without the money, and cancelled later": {func(s *paymentFixture, _ *fakeStripe, b *booking.Booking,
			_ string) {
			s.applyTransition(b.ID, "confirm")
			s.clock.Advance(expiresAfter)
			s.step()
			s.clock.Advance(time.Minute)
			s.cancel(b.ID, booking.RefundPolicy)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openPageShop(t, f)
			b, page := s.buyOnPage("09:30")
			c.act(s, f, b, page)
			s.clock.Advance(expiresAfter)
			s.step()
			seen, err := s.pages().CustomerView(t.Context(), tokenOf(b.ManageURL))
			if err != nil || seen.Booking.Unpaid != c.unpaid ||
				(seen.Booking.Status == booking.StatusCancelled) != (name != "it is paid") {
				t.Errorf("%+v, %v", seen, err)
			}
		})
	}
}

func TestUnopenedCheckoutLeavesNoBooking(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]behavior{"fails": fails, "breaks": breaks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openPageShop(t, f)
			f.set(m)
			if _, err := s.bookOnPage("k", newPageRequest("09:30")); !fault.Is(err, fault.PaymentUnavailable) {
				t.Errorf("got %v", err)
			}
			s.step()
			s.expectState("cancelled", "cancelled", 0)
			f.set(answers)
			if b, err := s.bookOnPage("k", newPageRequest("09:30")); err != nil || b.CheckoutURL == "" {
				t.Errorf("the same key again: %+v, %v", b, err)
			}
		})
	}
}

// TestCustomerLinkOpensPayment shows that a customer can pay on the provider's page through the link. This holds
// even if an API client started the payment in its own form.
func TestCustomerLinkOpensPayment(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openPageShop(t, f)
	a := s.book(s.key, newOrder("09:30", nil))
	p := a.payment(t)
	f.decline(t, p.Reference)
	s.notify("payment_intent.payment_failed", "acct_harbor", p.Reference)
	var (
		wg    sync.WaitGroup
		pages [4]payment.Intent
		errs  [4]error
	)
	for i := range pages { // two clicks in each of two tabs
		wg.Go(func() { pages[i], errs[i] = s.payAgain(a.body.ManageURL) })
	}
	wg.Wait()
	for i := range pages {
		if errs[i] != nil || pages[i] != (payment.Intent{Reference: "cs_1", URL: f.page("cs_1").URL}) {
			t.Errorf("click %d: %+v, %v", i, pages[i], errs[i])
		}
	}
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the client's charge is %s: both could be paid", got)
	}
	s.sendEvent("payment_intent.canceled", map[string]any{"id": p.Reference, "cancellation_reason": "duplicate"})
	s.expectState("pending", "open", 1)
	f.checkOut(t, "cs_1")
	s.sendEvent("checkout.session.completed", map[string]any{"id": "cs_1", "payment_status": "paid"})
	s.expectState("confirmed", "paid", 1)
}

func TestPaidChargeIsNotReplaced(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openPageShop(t, f)
	a := s.book(s.key, newOrder("09:30", nil))
	f.pay(a.payment(t).Reference)
	if intent, err := s.payAgain(a.body.ManageURL); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %+v, %v", intent, err)
	}
	s.notify("payment_intent.succeeded", "acct_harbor", a.payment(t).Reference)
	s.expectState("confirmed", "paid", 1)
}

// TestOpenPaymentContinuesAfterCrash stops OpenPayment at two points. The next call continues from there. If there is
// no next call, the charge ends with its booking.
func TestOpenPaymentContinuesAfterCrash(t *testing.T) {
	t.Parallel()
	for _, died := range []string{"after the page was made", "after the charge was cancelled"} {
		for _, returns := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, returns %v", died, returns), func(t *testing.T) {
				t.Parallel()
				f := newFakeStripe(t)
				s := openPageShop(t, f)
				a := s.book(s.key, newOrder("09:30", nil))
				reference := a.payment(t).Reference
				if _, err := s.payAgain(a.body.ManageURL); err != nil {
					t.Fatal(err)
				}
				if died == "after the page was made" {
					f.mu.Lock()
					f.intents[reference].Status = "requires_payment_method"
					f.mu.Unlock()
				}
				if _, err := s.pool.Exec(t.Context(), `UPDATE payments SET reference = $1, on_checkout = false`,
					reference); err != nil {
					t.Fatal(err)
				}
				s.sendEvent("payment_intent.canceled",
					map[string]any{"id": reference, "cancellation_reason": "duplicate"})
				s.expectState("pending", "open", 1)
				if !returns {
					s.clock.Advance(expiresAfter)
					s.step()
					s.expectState("cancelled", "cancelled", 0)
					return
				}
				if intent, err := s.payAgain(a.body.ManageURL); err != nil || intent.Reference != "cs_1" {
					t.Errorf("the next call: %+v, %v", intent, err)
				}
				if got := f.statuses(); got != "canceled" {
					t.Errorf("the client's charge is %s", got)
				}
			})
		}
	}
}
