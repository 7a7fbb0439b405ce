package slot

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestExplainNoStartsReportsRule(t *testing.T) {
	t.Parallel()
	const appointment, class, ofInactive = 0, 1, 2
	offer := newNightOffer(t)
	unknown := uuid.UUID{9}
	morning := time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC) // a Monday
	for _, c := range []struct {
		name    string
		service int
		staff   *uuid.UUID
		now     time.Time
		day     int
		want    string
	}{
		{"over", appointment, nil, morning, -1, availability.RulePast},
		{"taken", appointment, nil, morning, 1, availability.RuleBooking},
		{"closed", appointment, nil, morning, 5, availability.RuleClosed},
		{"the last date", appointment, nil, morning, 11, availability.RuleBooking},
		{"beyond", appointment, nil, morning, 12, availability.RuleAdvanceLimit},
		{"a class on another day", class, nil, morning, 1, availability.RuleNoSession},
		{"a class that is full", class, nil, morning, 3, availability.RuleBooking},
		{"a class on a closed day", class, nil, morning.AddDate(0, 0, 2).Add(11 * time.Hour), 3, availability.RulePast},
		{"a class that begins soon", class, nil, morning.AddDate(0, 0, 2).Add(9 * time.Hour), 3,
			availability.RuleNotice},
		{"an inactive member", ofInactive, nil, morning, 1, availability.RuleClosed},
		{"an unknown member", appointment, &unknown, morning, 1, availability.RuleNotPerformed},
	} {
		date := timespan.NewDate(2027, time.March, c.day)
		q := Question{Services: []*catalog.Service{&offer.Services[c.service]}, StaffID: c.staff, From: date, To: date,
			Now: c.now}
		ExplainNoStarts(offer, q, func(d timespan.Date, got string) {
			if d != date || got != c.want {
				t.Errorf("%s: %s has %s, want %s", c.name, d, got, c.want)
			}
		})
	}
}

// TestExplainNoStartsReportsRuleOnlyWithoutStarts asks about dates of random businesses without bookings.
func TestExplainNoStartsReportsRuleOnlyWithoutStarts(t *testing.T) {
	t.Parallel()
	named := map[string]int{}
	for seed := uint64(1); seed <= 2_000; seed++ {
		a := newExplainCase(seed)
		q := a.question.Question
		q.From, q.To, q.IsOverride = a.date-1, a.date+3, false
		starts := map[timespan.Date]int{}
		Find(a.offer, q, booking.Occupied{}).EachDay(q.From, q.To, func(d timespan.Date, n int) { starts[d] = n })
		ExplainNoStarts(a.offer, q, func(d timespan.Date, reason string) {
			named[reason]++
			if reason != availability.RuleBooking && starts[d] > 0 {
				t.Errorf("seed %d: %s has %d starts and is left without any by %s", seed, d, starts[d], reason)
			}
		})
	}
	for _, rule := range []string{availability.RuleBooking, availability.RulePast, availability.RuleAdvanceLimit,
		availability.RuleClosed, availability.RuleNoSession} {
		if named[rule] == 0 {
			t.Errorf("no date has the reason %s: %v", rule, named)
		}
	}
}
