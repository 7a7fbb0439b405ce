package cancellation

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// TestRefundForCustomerRejectsEndedSale shows that a customer cannot cancel a sale that is cancelled or has begun, also
// if the page showed a refund of 0.
func TestRefundForCustomerRejectsEndedSale(t *testing.T) {
	t.Parallel()
	until, start := 24, time.Date(2027, 6, 11, 9, 0, 0, 0, time.UTC)
	offer := &catalog.Snapshot{SelfService: catalog.SelfService{CancelUntilHours: &until}}
	ended := Sale{Noun: "booking", Status: "cancelled", StartsAt: start}
	if _, err := ended.RefundForCustomer(offer, decimal.Zero, start.AddDate(0, 0, -7)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a cancelled sale is cancelled again: %v", err)
	}
	upcoming := ended
	upcoming.IsCancellable = true
	if part, err := upcoming.RefundForCustomer(offer, decimal.Zero, start.AddDate(0, 0, -7)); err != nil ||
		part.Amount != 0 {
		t.Errorf("a future sale without a payment refunds %+v, %v", part, err)
	}
	if _, err := upcoming.RefundForCustomer(offer, decimal.Zero, start); !fault.Is(err, fault.Conflict) {
		t.Errorf("a cancellation at the start: %v", err)
	}
}

// TestRefundRejectsSecondPendingRefund shows that a second refund is refused while the first is pending. This can
// happen to a booking that was refunded after completion, then reopened and cancelled.
func TestRefundRejectsSecondPendingRefund(t *testing.T) {
	t.Parallel()
	euro, err := money.ParseCurrency("EUR")
	if err != nil {
		t.Fatal(err)
	}
	of := Sale{
		Noun: "booking", Status: "confirmed", IsCancellable: true, Currency: euro,
		Payment: Payment{Amount: 4000, Left: 3000, HasPendingRefund: true},
	}
	for _, requested := range []booking.RefundAmount{"", booking.RefundPolicy, booking.RefundFull, "12.50"} {
		if _, err := of.Refund(requested, time.Now()); !fault.Is(err, fault.Conflict) {
			t.Errorf("%q while a refund is on its way: %v", requested, err)
		}
	}
	if part, err := of.Refund(booking.RefundNone, time.Now()); err != nil || part.Amount != 0 {
		t.Errorf("without a refund: %+v, %v", part, err)
	}
}
