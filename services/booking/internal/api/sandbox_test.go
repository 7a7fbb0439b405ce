package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/sandbox"
)

// nowhere is an address of Stripe on which no server listens, so that each request fails.
const nowhere = "http://127.0.0.1:1"

// setSandbox makes the shop a sandbox, which needs no connection to Stripe.
func setSandbox(s *paymentFixture) *paymentFixture {
	s.providers[payment.Sandbox] = sandbox.New(s.clock)
	s.booker.HandleNotice = s.payments.HandleNotice
	s.change(func(o *catalog.Snapshot) {
		o.Account.Sandbox, o.Payments.Accounts = true, nil
		o.Bookings.MaxOpenPerCustomer = 20
	})
	return s
}

// setHaircutPrice returns a sandbox in which a haircut costs this number of cents.
func setHaircutPrice(t *testing.T, cents int64) *paymentFixture {
	t.Helper()
	s := setSandbox(openShop(t, nowhere))
	s.change(func(o *catalog.Snapshot) { o.Services[0].Price = cents })
	return s
}

// expectRefundState fails the test unless the only payment has a refund with this status, reason and amount in cents.
func (s *paymentFixture) expectRefundState(status payment.RefundStatus, reason string, amount int64) {
	s.t.Helper()
	if n := s.count(fmt.Sprintf(`SELECT count(*) FROM payments WHERE refund_status = '%s' AND coalesce(refund_reason, '') = '%s' AND refunded = %d`, status, reason, amount)); n != 1 {
		s.t.Errorf("the refund is not %s %s of %d", status, reason, amount)
	}
}

func TestSandboxPaysAndRefunds(t *testing.T) {
	t.Parallel()
	s := setHaircutPrice(t, 4000)
	id, due := s.buy("09:30")
	if due.Provider != payment.Sandbox || due.Amount != "40.00" || due.ClientSecret != "" {
		t.Errorf("the open payment: %+v", due)
	}
	s.expectState("confirmed", "paid", 1)
	s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed")
	s.cancel(id, booking.RefundFull)
	s.step()
	s.expectRefundState(payment.RefundRefunded, "", 4000)
}

func TestSandboxAmountSelectsFailure(t *testing.T) {
	t.Parallel()
	t.Run("01: the customer is declined, and the booking expires", func(t *testing.T) {
		t.Parallel()
		s := setHaircutPrice(t, 4001)
		b, err := s.bookOnPage("09:30", newPageRequest("09:30"))
		if err != nil {
			t.Fatal(err)
		}
		s.expectState("pending", "open", 1)
		if second, err := s.payAgain(b.ManageURL); err != nil || second.URL != "" {
			t.Errorf("a second request to pay: %+v, %v", second, err)
		}
		s.expectEvents(b.ID, "booking.created", "payment.failed")
		s.clock.Advance(expiresAfter)
		s.step()
		s.expectState("cancelled", "cancelled", 0)
	})
	t.Run("02: the charge is refused", func(t *testing.T) {
		t.Parallel()
		s := setHaircutPrice(t, 4002)
		s.expect("refused", s.book(s.key, newOrder("09:30", nil)), 503, "payment_unavailable")
		s.expectState("cancelled", "cancelled", 0)
	})
	t.Run("03: the refund is refused", func(t *testing.T) {
		t.Parallel()
		s := setHaircutPrice(t, 4003)
		id, _ := s.buy("09:30")
		s.cancel(id, booking.RefundFull)
		s.step()
		s.expectRefundState(payment.RefundRefused, sandbox.RefundReason, 0)
	})
}

func TestSandboxPaysImmediately(t *testing.T) {
	t.Parallel()
	s := setSandbox(openTicketPayments(t, nowhere))
	booked, err := s.bookOnPage("09:30", newPageRequest("09:30"))
	if err != nil || booked.CheckoutURL != "" || booked.ManageURL == "" {
		t.Errorf("a booking: %+v, %v", booked, err)
	}
	order, err := s.buyTickets("k", newTierOrder(2, 0))
	if err != nil || order.Status != booking.StatusSold || order.CheckoutURL != "" {
		t.Errorf("tickets: %+v, %v", order, err)
	}
	reservation := uuid.New()
	if checkout, err := s.newPaymentsClient().Open(t.Context(), s.offer.ID, reservation, s.kayaks()); err != nil ||
		checkout.CheckoutURL != "" {
		t.Errorf("a reservation: %+v, %v", checkout, err)
	}
	if got := s.findPayment(reservation); got.Status != booking.PaymentStatePaid || got.Provider != payment.Sandbox {
		t.Errorf("its charge: %+v", got)
	}
	if n := s.count(`SELECT count(*) FROM payments WHERE status = 'paid' AND provider = 'sandbox'`); n != 3 {
		t.Errorf("%d of 3 charges are paid", n)
	}
}
