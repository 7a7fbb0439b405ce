package slot

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestAnOverrideLeavesOutNoticeAdvanceLimitAndGridAlone: what the owner may book is what the same business would list
// with a grid of minutes, no notice and no advance limit at the beginning of today. The comparison with the oracle
// covers that business.
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
			t.Fatalf("seed %d (-want +got):\n%s", seed,
				cmp.Diff(brief(slices.Concat(want...)), brief(slices.Concat(got...))))
		}
		more += len(slices.Concat(got...)) - len(slices.Concat(usual...))
	}
	if more == 0 {
		t.Error("nothing more is listed: the comparison means nothing")
	}
}

func TestOutsideHoursServesWhatNobodyHoldsOutsideWorkingTime(t *testing.T) {
	t.Parallel()
	offer := refusalOffer(t)
	d, noon := timespan.NewDate(2027, time.March, 3), timespan.TimeOfDay(12*60)
	now := time.Date(2027, time.March, 1, 20, 10, 0, 0, time.UTC)
	q := Question{Services: []*catalog.Service{&offer.Services[0]}, Now: now, Override: true}
	if got := Bookable(offer, q, d, noon, booking.Occupied{}); len(got) != 0 {
		t.Errorf("within working time: %+v", got)
	}
	q.OutsideHours = true
	if got := Bookable(offer, q, d, noon, booking.Occupied{}); len(got) != 1 || *got[0].StaffID != offer.Staff[0].ID {
		t.Errorf("outside working time: %+v", got)
	}
	if got := Warnings(offer, q, d, noon); !slices.Equal(got, []string{availability.RuleClosed}) {
		t.Errorf("warned of %v", got)
	}
	busy := booking.Busy{Resource: booking.Resource{ID: offer.Staff[0].ID}}
	at := timespan.Instant(d, noon, offer.Location())
	busy.Add(timespan.Span{Start: at + 1800, End: at + 3600})
	if got := Bookable(offer, q, d, noon, booking.Occupied{Busy: []booking.Busy{busy}}); len(got) != 0 {
		t.Errorf("while its member is booked: %+v", got)
	}
	offer.Blocks = []catalog.Block{{From: timespan.LocalDateTime{Date: d}, To: timespan.LocalDateTime{Date: d + 1}}}
	if got := Bookable(offer, q, d, noon, booking.Occupied{}); len(got) != 0 {
		t.Errorf("while the business is blocked: %+v", got)
	}
}

func TestWarningsNameEveryRuleThatTheOwnerLeavesOut(t *testing.T) {
	t.Parallel()
	offer := refusalOffer(t)
	q := Question{Services: []*catalog.Service{&offer.Services[0]}, Now: time.Date(2027, time.March, 1, 20, 10, 0, 0,
		time.UTC), Override: true}
	for _, c := range []struct {
		day  int
		at   timespan.TimeOfDay
		want []string
	}{
		{3, 21 * 60, nil},
		{1, 21*60 + 7, []string{availability.RuleNotice, availability.RuleGrid}},
		{1, 20 * 60, []string{availability.RulePast}},
		{20, 12 * 60, []string{availability.RuleAdvanceLimit, availability.RuleClosed}},
	} {
		if got := Warnings(offer, q, timespan.NewDate(2027, time.March, c.day), c.at); !slices.Equal(got, c.want) {
			t.Errorf("%d March %s: warned of %v, want %v", c.day, c.at, got, c.want)
		}
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
