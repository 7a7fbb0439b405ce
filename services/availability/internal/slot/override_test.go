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

// TestOverrideIgnoresNoticeAdvanceLimitAndGrid compares an override with the same business without notice and advance
// limit, with a grid of one minute, at the beginning of today. Another test compares that business with the oracle.
func TestOverrideIgnoresNoticeAdvanceLimitAndGrid(t *testing.T) {
	t.Parallel()
	more := 0
	for seed := uint64(1); seed <= countBusinesses(t)/50; seed++ {
		b := newBusiness(seed)
		offer := b.drawOffer()
		q := b.drawQuestion(offer).Question
		occupied := b.drawOccupied(offer)
		usual := listEachDate(t, offer, q, occupied)

		plain := q
		plain.Now = time.Unix(timespan.Instant(offer.Today(q.Now), 0, offer.Location()), 0)
		plain.Services = withMinuteGrid(q.Services)
		lax := *offer
		lax.Bookings.MinNoticeMinutes, lax.Bookings.AdvanceDays = 0, 100_000
		q.IsOverride = true
		want, got := listEachDate(t, &lax, plain, occupied), listEachDate(t, offer, q, occupied)
		if !slices.EqualFunc(want, got, slices.Equal[[]Slot]) {
			t.Fatalf("seed %d (-want +got):\n%s", seed,
				cmp.Diff(summarizeSlots(slices.Concat(want...)), summarizeSlots(slices.Concat(got...))))
		}
		more += len(slices.Concat(got...)) - len(slices.Concat(usual...))
	}
	if more == 0 {
		t.Error("nothing more is listed, so the comparison proves nothing")
	}
}

func TestFindAssignmentsAllowsFreeTimeOutsideHours(t *testing.T) {
	t.Parallel()
	offer := newNightOffer(t)
	d, noon := timespan.NewDate(2027, time.March, 3), timespan.TimeOfDay(12*60)
	now := time.Date(2027, time.March, 1, 20, 10, 0, 0, time.UTC)
	q := Question{Services: []*catalog.Service{&offer.Services[0]}, Now: now, IsOverride: true}
	if got := FindAssignments(offer, q, d, noon, booking.Occupied{}); len(got) != 0 {
		t.Errorf("within working time: %+v", got)
	}
	q.AllowsOutsideHours = true
	if got := FindAssignments(offer, q, d, noon, booking.Occupied{}); len(got) != 1 ||
		*got[0].StaffID != offer.Staff[0].ID {
		t.Errorf("outside working time: %+v", got)
	}
	if got := FindWarnings(offer, q, d, noon); !slices.Equal(got, []string{availability.RuleClosed}) {
		t.Errorf("warned of %v", got)
	}
	busy := booking.Busy{Resource: booking.Resource{ID: offer.Staff[0].ID}}
	at := timespan.Instant(d, noon, offer.Location())
	busy.Add(timespan.Span{Start: at + 1800, End: at + 3600})
	if got := FindAssignments(offer, q, d, noon, booking.Occupied{Busy: []booking.Busy{busy}}); len(got) != 0 {
		t.Errorf("while its member is booked: %+v", got)
	}
	offer.Blocks = []catalog.Block{{From: timespan.LocalDateTime{Date: d}, To: timespan.LocalDateTime{Date: d + 1}}}
	if got := FindAssignments(offer, q, d, noon, booking.Occupied{}); len(got) != 0 {
		t.Errorf("while the business is blocked: %+v", got)
	}
}

func TestFindWarningsReportsIgnoredRules(t *testing.T) {
	t.Parallel()
	offer := newNightOffer(t)
	q := Question{Services: []*catalog.Service{&offer.Services[0]}, Now: time.Date(2027, time.March, 1, 20, 10, 0, 0,
		time.UTC), IsOverride: true}
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
		if got := FindWarnings(offer, q, timespan.NewDate(2027, time.March, c.day), c.at); !slices.Equal(got, c.want) {
			t.Errorf("%d March %s: warned of %v, want %v", c.day, c.at, got, c.want)
		}
	}
}

// withMinuteGrid returns copies of the services with a grid of one minute.
func withMinuteGrid(services []*catalog.Service) []*catalog.Service {
	changed := make([]*catalog.Service, len(services))
	for i, s := range services {
		c := *s
		c.SlotIntervalMinutes = 1
		changed[i] = &c
	}
	return changed
}
