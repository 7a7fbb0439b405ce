package cancellation

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
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
