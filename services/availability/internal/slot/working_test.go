package slot

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestComputeWorkingTimeAgreesWithOracle counts the minutes in which a member works by the oracle, without blocked
// minutes.
func TestComputeWorkingTimeAgreesWithOracle(t *testing.T) {
	t.Parallel()
	type row struct {
		member uuid.UUID
		date   timespan.Date
	}
	worked := int64(0)
	for seed := uint64(1); seed <= countBusinesses(t)/100; seed++ {
		b := newBusiness(seed)
		offer := b.drawOffer()
		o := newOracle(b.table, offer, b.drawQuestion(offer), booking.Occupied{})
		want, got := map[row]int64{}, map[row]int64{}
		for i := range offer.Staff {
			m := &offer.Staff[i]
			blocked := slices.Clone(o.blocked)
			for _, block := range offer.Blocks {
				if slices.Contains(block.StaffIDs, m.ID) {
					o.paint(blocked, o.minuteOf(block.From.Date, block.From.Time),
						o.minuteOf(block.To.Date, block.To.Time))
				}
			}
			for at, works := range o.paintWork(m) {
				d := timespan.Date(o.shown[at] / 1440)
				if m.Active && works && !blocked[at] && b.base-1 <= d && d <= b.base+3 {
					want[row{m.ID, d}] += 60
				}
			}
		}
		ComputeWorkingTime(offer, b.base-1, b.base+3, func(m *catalog.Staff, d timespan.Date, seconds int64) {
			if seconds > 0 {
				got[row{m.ID, d}] = seconds
			}
		})
		for at, seconds := range want {
			worked += seconds
			if got[at] != seconds {
				t.Fatalf("seed %d: %s in %s: %d seconds of %d", seed, at.date, offer.Timezone, got[at], seconds)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: work on %d dates, not %d", seed, len(got), len(want))
		}
	}
	if worked == 0 {
		t.Error("no member works, so the comparison proves nothing")
	}
}
