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

// newNightOffer returns a business that is open daily from 20:00 to 03:00, except on 5 March, with one active member
// and starts on the half hour.
func newNightOffer(t *testing.T) *catalog.Snapshot {
	t.Helper()
	anna, ben, wednesday := uuid.UUID{1}, uuid.UUID{2}, time.Wednesday
	offer := &catalog.Snapshot{
		Timezone: "Europe/Lisbon", Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 10, MinNoticeMinutes: 120},
		Staff:     []catalog.Staff{{ID: anna, Active: true}, {ID: ben}},
		Overrides: []catalog.DayOverride{{Date: timespan.NewDate(2027, time.March, 5)}},
		Services: []catalog.Service{
			{ID: uuid.UUID{3}, Active: true, DurationMinutes: 60, SlotIntervalMinutes: 30,
				StaffIDs: []uuid.UUID{anna, ben}},
			{ID: uuid.UUID{4}, Active: true, DurationMinutes: 60, Classes: []catalog.ClassSession{
				{ID: uuid.UUID{5}, Weekday: &wednesday, Time: 18 * 60, Capacity: 2, StaffID: &anna},
			}},
			{ID: uuid.UUID{6}, Active: true, DurationMinutes: 60, SlotIntervalMinutes: 30, StaffIDs: []uuid.UUID{ben}},
			{ID: uuid.UUID{7}, Active: true, DurationMinutes: 60, SlotIntervalMinutes: 30, Capacity: 1},
		},
	}
	for d := range offer.Hours {
		offer.Hours[d] = []timespan.Window{{From: 20 * 60, To: 27 * 60}}
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	return offer
}

func TestFindRefusalReportsFirstBrokenRule(t *testing.T) {
	t.Parallel()
	const appointment, class, ofInactive, withoutStaff = 0, 1, 2, 3
	now := time.Date(2027, time.March, 1, 20, 10, 0, 0, time.UTC) // a Monday
	anna, ben, unknown := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{9}
	for _, c := range []struct {
		name    string
		service int
		staff   *uuid.UUID
		day     int
		at      string
		want    string
	}{
		{"past", appointment, nil, 1, "20:00", availability.RulePast},
		{"past and closed", appointment, nil, 1, "10:00", availability.RulePast},
		{"past and an unknown member", appointment, &unknown, 1, "20:00", availability.RulePast},
		{"now would be too soon", appointment, nil, 1, "20:30", availability.RuleNotice},
		{"past and for a class", class, nil, 1, "18:00", availability.RulePast},
		{"beyond", appointment, nil, 12, "20:00", availability.RuleAdvanceLimit},
		{"far beyond and closed", appointment, nil, 20, "12:00", availability.RuleAdvanceLimit},
		{"after midnight of the last date", appointment, nil, 12, "01:00", ""},
		{"off the grid after midnight of the last date", appointment, nil, 12, "01:07", availability.RuleAdvanceLimit},
		{"closed by day", appointment, nil, 3, "12:00", availability.RuleClosed},
		{"half of it after closing", appointment, nil, 3, "02:30", availability.RuleClosed},
		{"closed by an override", appointment, nil, 5, "21:00", availability.RuleClosed},
		{"closed and an unknown member", appointment, &unknown, 3, "12:00", availability.RuleClosed},
		{"off the grid", appointment, nil, 3, "21:10", availability.RuleGrid},
		{"off the grid and an unknown member", appointment, &unknown, 3, "21:10", availability.RuleGrid},
		{"unknown member", appointment, &unknown, 3, "21:00", availability.RuleNotPerformed},
		{"inactive member", appointment, &ben, 3, "21:00", availability.RuleNotPerformed},
		{"member of a service without staff", withoutStaff, &anna, 3, "21:00", availability.RuleNotPerformed},
		{"taken", appointment, &anna, 3, "21:00", ""},
		{"no active performer", ofInactive, nil, 3, "21:00", ""},
		{"no session", class, nil, 3, "19:00", availability.RuleNoSession},
		{"session of another member", class, &ben, 3, "18:00", availability.RuleNotPerformed},
		{"session that is full", class, nil, 3, "18:00", ""},
	} {
		offer := newNightOffer(t)
		at, err := timespan.ParseTimeOfDay(c.at)
		if err != nil {
			t.Fatal(err)
		}
		q := Question{Services: []*catalog.Service{&offer.Services[c.service]}, StaffID: c.staff, Now: now}
		if got := FindRefusal(offer, q, timespan.NewDate(2027, time.March, c.day), at); got != c.want {
			t.Errorf("%s: refused by %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFindRefusalIgnoresOccupiedTime asks about starts of random businesses. A start has a refusal exactly if a rule
// other than occupied time prevents it.
func TestFindRefusalIgnoresOccupiedTime(t *testing.T) {
	t.Parallel()
	named := map[string]int{}
	for seed := uint64(1); seed <= 4_000; seed++ {
		a := newExplainCase(seed)
		rule := FindRefusal(a.offer, a.question.Question, a.date, a.time)
		named[rule]++
		free := a
		free.occupied = booking.Occupied{}
		offer := *a.offer
		offer.Blocks = nil
		free.offer = &offer
		if listed := a.isListed(); listed && rule != "" {
			t.Errorf("seed %d: %s %s is listed and refused by %s", seed, a.date, a.time, rule)
		}
		if listed := a.isListed(); listed && len(FindWarnings(a.offer, a.question.Question, a.date, a.time)) > 0 {
			t.Errorf("seed %d: %s %s is listed and warned of", seed, a.date, a.time)
		}
		if rule != "" && free.isListed() {
			t.Errorf("seed %d: %s %s is listed once nothing is occupied, and refused by %s", seed, a.date, a.time, rule)
		}
		start, now := time.Unix(a.start(), 0), a.question.Now
		if isPast := start.Before(now); isPast != (rule == availability.RulePast) {
			t.Errorf("seed %d: %s %s is past: %t, refused by %q", seed, a.date, a.time, isPast, rule)
		}
		if rule == availability.RuleNotice &&
			start.Sub(now) >= time.Duration(a.offer.Bookings.MinNoticeMinutes)*time.Minute {
			t.Errorf("seed %d: %s %s has the notice, refused by %q", seed, a.date, a.time, rule)
		}
	}
	t.Log(named)
	for _, r := range customerRules {
		if named[r.code] == 0 {
			t.Errorf("no start was refused by %s, so the test does not cover it", r.code)
		}
	}
}
