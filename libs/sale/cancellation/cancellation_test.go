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

// TestWhatIsOverIsNotCancelledByItsCustomer: neither by one who agrees to the refund of nothing that it has.
func TestWhatIsOverIsNotCancelledByItsCustomer(t *testing.T) {
	t.Parallel()
	until, start := 24, time.Date(2027, 6, 11, 9, 0, 0, 0, time.UTC)
	offer := &catalog.Offer{SelfService: catalog.SelfService{CancelUntilHours: &until}}
	over := Purchase{What: "booking", Status: "cancelled", StartsAt: start}
	if _, err := over.Agreed(offer, decimal.Zero, start.AddDate(0, 0, -7)); !fault.Is(err, fault.Conflict) {
		t.Errorf("what is cancelled is cancelled again: %v", err)
	}
	ahead := over
	ahead.Cancellable = true
	if owed, err := ahead.Agreed(offer, decimal.Zero, start.AddDate(0, 0, -7)); err != nil || owed.Amount != 0 {
		t.Errorf("what lies ahead owes %+v, %v", owed, err)
	}
	if _, err := ahead.Agreed(offer, decimal.Zero, start); !fault.Is(err, fault.Conflict) {
		t.Errorf("it is cancelled at its start: %v", err)
	}
}

// A booking may be refunded after it is completed, then reopened and cancelled. A second refund is refused while the
// first is on its way, as only one can be.
func TestOwedRefusesASecondRefundAtATime(t *testing.T) {
	t.Parallel()
	euro, err := money.ParseCurrency("EUR")
	if err != nil {
		t.Fatal(err)
	}
	of := Purchase{
		What: "booking", Status: "confirmed", Cancellable: true, Currency: euro,
		Paid: Paid{Amount: 4000, Left: 3000, Refunding: true},
	}
	for _, wanted := range []booking.RefundAmount{"", booking.RefundPolicy, booking.RefundFull, "12.50"} {
		if _, err := of.Owed(wanted, time.Now()); !fault.Is(err, fault.Conflict) {
			t.Errorf("%q while a refund is on its way: %v", wanted, err)
		}
	}
	if owed, err := of.Owed(booking.RefundNone, time.Now()); err != nil || owed.Amount != 0 {
		t.Errorf("without a refund: %+v, %v", owed, err)
	}
}
