package slot

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// TestAnOverrideLeavesOutNoticeAdvanceLimitAndGridAlone: what the owner may book is what the same business would list with a grid
// of minutes, no notice and no advance limit at the beginning of today. The comparison with the oracle covers that business.
func TestAnOverrideLeavesOutNoticeAdvanceLimitAndGridAlone(t *testing.T) {
	t.Parallel()
	more := 0
	for seed := uint64(1); seed <= businesses(t)/50; seed++ {
		b := newBusiness(seed)
		offer := b.offer()
		q := b.question(offer).Question
		occupied := b.occupied(offer)
		usual := listsOf(t, offer, q, occupied)

		plain := q
		plain.Now = time.Unix(timespan.Instant(offer.Today(q.Now), 0, offer.Location()), 0)
		plain.Services = onMinutes(q.Services)
		lax := *offer
		lax.Bookings.MinNoticeMinutes, lax.Bookings.AdvanceDays = 0, 100_000
		q.Override = true
		want, got := listsOf(t, &lax, plain, occupied), listsOf(t, offer, q, occupied)
		if !slices.EqualFunc(want, got, slices.Equal[[]Slot]) {
			t.Fatalf("seed %d (-want +got):\n%s", seed, cmp.Diff(brief(slices.Concat(want...)), brief(slices.Concat(got...))))
		}
		more += len(slices.Concat(got...)) - len(slices.Concat(usual...))
	}
	if more == 0 {
		t.Error("nothing more is listed: the comparison means nothing")
	}
}

// onMinutes are the services on a grid of minutes.
func onMinutes(services []*catalog.Service) []*catalog.Service {
	changed := make([]*catalog.Service, len(services))
	for i, s := range services {
		c := *s
		c.SlotIntervalMinutes = 1
		changed[i] = &c
	}
	return changed
}
