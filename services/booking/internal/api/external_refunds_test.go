package api_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// handleEvent signs an event of Stripe, reads it with the shop's provider and processes it.
func (s *paymentFixture) handleEvent(event string, object map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]any{
		"id": "evt_1", "object": "event", "type": event, "account": "acct_harbor", "created": 1803888000,
		"data": map[string]any{"object": object},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: raw, Secret: webhookSecret})
	notice, err := s.providers["stripe"].(payment.Notifier).ReadNotice(raw, func(string) string {
		return signed.Header
	})
	if err == nil {
		err = s.payments.HandleNotice(s.t.Context(), "stripe", notice)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", event, err)
	}
}

// refundsElsewhere simulates a refund that the owner makes in Stripe's dashboard. Stripe sends the events of the refund
// `notices` times.
func (s *paymentFixture) refundsElsewhere(f *fakeStripe, charge string, amount int64, notices int) *fakeRefund {
	s.t.Helper()
	f.mu.Lock()
	refund := &fakeRefund{ID: fmt.Sprintf("re_%d", len(f.refunds[charge])), Object: "refund", Amount: amount,
		Status: "succeeded"}
	f.refunds[charge] = append(f.refunds[charge], refund)
	f.mu.Unlock()
	for range notices {
		s.handleEvent("refund.created", map[string]any{"id": refund.ID, "object": "refund", "payment_intent": charge,
			"status": "succeeded", "amount": amount})
		s.handleEvent("charge.refunded", map[string]any{"id": "ch_1", "object": "charge", "payment_intent": charge,
			"amount_refunded": amount})
	}
	return refund
}

// listRefunded returns the payment of the first booking in the owner's list with the filter `filter`, or nil.
func (s *paymentFixture) listRefunded(filter string) *booking.Payment {
	s.t.Helper()
	list, err := s.client().Bookings(s.t.Context(), s.offer.ID, booking.Filter{Payment: filter}, request.Page{})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(list.Bookings) == 0 {
		return nil
	}
	return list.Bookings[0].Payment
}

// TestExternalRefundReducesPolicyRefund shows that a refund made in Stripe's dashboard reduces the
// refundable amount. It is not made a second time. If it fails later at Stripe, it no longer counts.
func TestExternalRefundReducesPolicyRefund(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, charge := s.buyPaid(f, "09:30")
	refund := s.refundsElsewhere(f, charge, 1500, 3)
	if p := s.listRefunded(""); p.Refunded != "15.00" || p.Refund != nil {
		t.Errorf("the owner is shown %+v", p)
	}
	s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed", "payment.refunded")
	if got, err := s.client().Cancellation(t.Context(), s.offer.ID, id); err != nil || got.Refund.Amount != "25.00" {
		t.Errorf("a later cancellation refunds %+v, %v", got, err)
	}
	f.mu.Lock()
	refund.Status = "failed"
	f.mu.Unlock()
	s.handleEvent("refund.failed", map[string]any{"id": refund.ID, "object": "refund", "payment_intent": charge,
		"status": "failed"})
	if p := s.listRefunded(""); p.Refunded != "0.00" {
		t.Errorf("when it failed, the owner is shown %+v", p)
	}
	s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed", "payment.refunded",
		"payment.refund_failed")
	s.cancel(id, "")
	s.refundsElsewhere(f, charge, 4000, 1) // before booking makes its own refund
	want := &booking.Refund{Amount: "40.00", Percent: 100, Status: booking.RefundRefused,
		Reason: "refunded_at_provider"}
	s.expectRefund("all went back there", id, "40.00", want)
	s.step()
	if n := s.count(`SELECT refunded FROM payments`); n != 4000 {
		t.Errorf("%d are refunded", n)
	}
}

// TestRefundOfUnknownChargeIsIgnored shows that booking ignores a refund of a charge that another program made
// with the same account.
func TestRefundOfUnknownChargeIsIgnored(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, _ := s.buyPaid(f, "09:30")
	f.mu.Lock()
	f.intents["pi_other"] = &fakeIntent{ID: "pi_other", Status: "succeeded", Account: "acct_harbor", Amount: "500",
		Currency: "eur"}
	f.mu.Unlock()
	s.refundsElsewhere(f, "pi_other", 500, 1)
	s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed")
}

// TestLateRefundFailureIsReported shows that the filter for failed refunds finds the booking, and that an event
// reports the failure.
func TestLateRefundFailureIsReported(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, charge := s.buyPaid(f, "09:30")
	if s.listRefunded(booking.PaymentRefundFailed) != nil {
		t.Error("a refund has failed before there was one")
	}
	s.cancel(id, "")
	s.step()
	s.handleEvent("refund.failed", map[string]any{
		"id": "re_1", "object": "refund", "payment_intent": charge, "status": "failed",
		"failure_reason": "lost_or_stolen_card", "metadata": map[string]string{"slotmesh_refund": "1"},
	})
	want := &booking.Refund{Amount: "40.00", Percent: 100, Status: booking.RefundRefused, Reason: "lost_or_stolen_card"}
	s.expectRefund("failed", id, "0.00", want)
	s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed", "booking.cancelled",
		"payment.refunded", "payment.refund_failed")
	if p := s.listRefunded(booking.PaymentRefundFailed); p == nil || p.Refund.Status != booking.RefundRefused {
		t.Errorf("the filter finds %+v", p)
	}
}

// TestDisputeStopsRefunds shows that a disputed payment cannot be refunded until the business wins the
// dispute. The owner sees the dispute; the customer does not.
func TestDisputeStopsRefunds(t *testing.T) {
	t.Parallel()
	for ended, refund := range map[string]json.Number{"won": "40.00", "lost": "0.00"} {
		t.Run(ended, func(t *testing.T) {
			t.Parallel()
			s, f := openPolicyShop(t)
			s.change(allowCustomers(new(int), nil))
			a := s.book(s.key, newOrder("09:30", nil))
			charge := a.payment(t).Reference
			f.pay(charge)
			s.notify("payment_intent.succeeded", "acct_harbor", charge)
			disputed := func(event, status string) {
				s.handleEvent("charge.dispute."+event, map[string]any{"id": "dp_1", "object": "dispute",
					"payment_intent": charge, "status": status, "reason": "fraudulent"})
			}
			gives := func(when string, want json.Number) {
				t.Helper()
				for _, preview := range []func() (booking.CancellationRefund, error){
					func() (booking.CancellationRefund, error) {
						c, err := s.client().Cancellation(t.Context(), s.offer.ID, a.body.Booking.ID)
						return c.Refund, err
					},
					func() (booking.CancellationRefund, error) {
						m, err := s.pages().CustomerView(t.Context(), tokenOf(a.body.ManageURL))
						if err == nil && m.Booking.Payment.Dispute != nil {
							t.Errorf("%s, the customer is shown the dispute", when)
						}
						return m.Booking.Cancellation.Refund, err
					},
				} {
					if got, err := preview(); err != nil || got.Amount != want {
						t.Errorf("%s, a cancellation refunds %+v, %v; want %s", when, got, err, want)
					}
				}
			}
			gives("before", "40.00")
			disputed("created", "needs_response")
			disputed("updated", "under_review")
			gives("while it is open", "0.00")
			if p := s.listRefunded(booking.PaymentDisputed); p == nil || p.Dispute == nil ||
				*p.Dispute != (booking.Dispute{Status: "open", Reason: "fraudulent"}) {
				t.Errorf("the owner is shown %+v", p)
			}
			disputed("closed", ended)
			disputed("updated", "under_review") // a late event
			gives("when it has ended", refund)
			s.expectEvents(a.body.Booking.ID, "booking.created", "payment.succeeded", "booking.confirmed",
				"payment.disputed", "payment.disputed")
		})
	}
}
