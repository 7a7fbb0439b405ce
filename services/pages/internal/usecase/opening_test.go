package usecase

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// newOpeningBusiness returns a business in Lisbon at the given local time. It is open from 9:00 to 13:00 and from 14:00
// to 18:00 from Monday to Thursday, and on Friday also from 20:00 to 2:00 of the next date.
func newOpeningBusiness(t *testing.T, at string) *Business {
	t.Helper()
	day := []timespan.Window{{From: 9 * 60, To: 13 * 60}, {From: 14 * 60, To: 18 * 60}}
	snapshot := &catalog.Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR"}
	for d := time.Monday; d <= time.Friday; d++ {
		snapshot.Hours[d] = day
	}
	snapshot.Hours[time.Friday] = append(slices.Clone(day), timespan.Window{From: 20 * 60, To: 26 * 60})
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	now, err := time.ParseInLocation("2006-01-02 15:04", at, snapshot.Location())
	if err != nil {
		t.Fatal(err)
	}
	return &Business{Snapshot: snapshot, Now: now}
}

func TestOpeningFollowsHoursOverridesAndBlocks(t *testing.T) {
	t.Parallel()
	closeMonday := func(b *Business) {
		b.Snapshot.Overrides = []catalog.DayOverride{{Date: timespan.NewDate(2026, time.November, 30)}}
	}
	block := func(staff ...uuid.UUID) func(*Business) {
		day := timespan.NewDate(2026, time.November, 27)
		return func(b *Business) {
			b.Snapshot.Blocks = []catalog.Block{{StaffIDs: staff, From: timespan.LocalDateTime{Date: day, Time: 15 * 60},
				To: timespan.LocalDateTime{Date: day, Time: 16 * 60}}}
		}
	}
	for name, c := range map[string]struct {
		now    string
		change func(*Business)
		open   bool
		at     string // the time at which this changes
	}{
		"open":                       {"2026-11-27 10:00", nil, true, "2026-11-27 13:00"},
		"at the first minute":        {"2026-11-27 09:00", nil, true, "2026-11-27 13:00"},
		"at noon":                    {"2026-11-27 13:00", nil, false, "2026-11-27 14:00"},
		"after midnight":             {"2026-11-28 01:30", nil, true, "2026-11-28 02:00"},
		"on the weekend":             {"2026-11-28 12:00", nil, false, "2026-11-30 09:00"},
		"before a closed Monday":     {"2026-11-28 12:00", closeMonday, false, "2026-12-01 09:00"},
		"before a block":             {"2026-11-27 14:30", block(), true, "2026-11-27 15:00"},
		"in a block":                 {"2026-11-27 15:30", block(), false, "2026-11-27 16:00"},
		"in the block of one member": {"2026-11-27 15:30", block(uuid.New()), true, "2026-11-27 18:00"},
	} {
		b := newOpeningBusiness(t, c.now)
		if c.change != nil {
			c.change(b)
		}
		got := b.Opening(nil)
		if got == nil {
			t.Errorf("%s: unknown", name)
			continue
		}
		changes := got.Next
		if c.open {
			changes = got.Until
		}
		if text := changes.Format("2006-01-02 15:04"); text != c.at || got.Until.IsZero() == got.Next.IsZero() {
			t.Errorf("%s: %+v, want a change at %s", name, got, c.at)
		}
	}
}

func TestOpeningIsUnknownWithoutHours(t *testing.T) {
	t.Parallel()
	always := [7][]timespan.Window{}
	for i := range always {
		always[i] = []timespan.Window{{From: 0, To: timespan.MinutesPerDay}}
	}
	for name, change := range map[string]func(*Business){
		"no hours":       func(b *Business) { b.Snapshot.Hours = catalog.WeekHours{} },
		"always open":    func(b *Business) { b.Snapshot.Hours = always },
		"not open yet":   func(b *Business) { b.Snapshot.NotYetOpen = true },
		"closed for now": func(b *Business) { b.Snapshot.Hours = catalog.WeekHours{}; b.Snapshot.Overrides = nil },
	} {
		b := newOpeningBusiness(t, "2026-11-27 10:00")
		change(b)
		if got := b.Opening(nil); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWeekStartsOnItsFirstDay(t *testing.T) {
	t.Parallel()
	b := newOpeningBusiness(t, "2026-11-27 10:00") // a Friday
	b.Snapshot.Overrides = []catalog.DayOverride{{Date: timespan.NewDate(2026, time.November, 30)}}
	week := b.Week(nil, time.Monday)
	if len(week) != 7 || week[0].Date != timespan.NewDate(2026, time.November, 30) || len(week[0].Windows) != 0 ||
		week[4].Date != b.Today() || len(week[4].Windows) != 3 {
		t.Errorf("%+v", week)
	}
}

func TestClassStartsLeaveOutPastAndClosedSessions(t *testing.T) {
	t.Parallel()
	b := newOpeningBusiness(t, "2026-11-27 10:00")
	friday, monday := time.Friday, time.Monday
	id := uuid.New()
	b.Snapshot.Modules.Services = true
	b.Snapshot.Services = []catalog.Service{{ID: id, Active: true, DurationMinutes: 60, Classes: []catalog.ClassSession{
		{ID: uuid.New(), Weekday: &friday, Time: 9 * 60}, {ID: uuid.New(), Weekday: &friday, Time: 18 * 60},
		{ID: uuid.New(), Weekday: &monday, Time: 18 * 60},
	}}}
	b.Snapshot.Overrides = []catalog.DayOverride{{Date: timespan.NewDate(2026, time.November, 30)}}
	if err := b.Snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	got := b.ClassStarts([]*Service{{ID: id}})
	if len(got) != 1 || got[0].Date != b.Today() || got[0].Time != 18*60 {
		t.Errorf("%+v", got)
	}
}

// newTwoPlaces returns the business of newOpeningBusiness with a second place, which is open from 10:00 to
// 20:00 on Fridays alone. The rental with the returned id is at the second place.
func newTwoPlaces(t *testing.T, at string) (*Business, uuid.UUID) {
	t.Helper()
	b, hours := newOpeningBusiness(t, at), &catalog.WeekHours{}
	hours[time.Friday] = []timespan.Window{{From: 10 * 60, To: 20 * 60}}
	b.Snapshot.Locations = []catalog.Location{{ID: uuid.New(), Kind: catalog.KindPlace},
		{ID: uuid.New(), Kind: catalog.KindPlace, Hours: hours}}
	rental := uuid.New()
	b.Snapshot.Rentals = []catalog.Rental{{ID: rental, LocationID: &b.Snapshot.Locations[1].ID}}
	if err := b.Snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	return b, rental
}

func TestOpeningFollowsHoursOfLocation(t *testing.T) {
	t.Parallel()
	b, rental := newTwoPlaces(t, "2026-11-27 12:00") // a Friday
	first, second := &b.Snapshot.Locations[0], &b.Snapshot.Locations[1]
	if got := b.Opening(first); got == nil || got.Until.Hour() != 13 {
		t.Errorf("the first place: %+v", got)
	}
	if got := b.Opening(second); got == nil || got.Until.Hour() != 20 {
		t.Errorf("the second place: %+v", got)
	}
	if week := b.Week(second, time.Monday); len(week) != 7 || len(week[0].Windows) != 0 || len(week[4].Windows) != 1 {
		t.Errorf("the week of the second place: %+v", week)
	}
	if got := b.OpeningTime(rental, b.Today()); got != 10*60 {
		t.Errorf("the rental can be picked up from %s", got)
	}
	if got := b.OpeningTime(uuid.New(), b.Today()); got != 9*60 {
		t.Errorf("a rental at the first place can be picked up from %s", got)
	}
	if !b.HasOwnHours() {
		t.Error("the places have no hours of their own")
	}
	if second.Kind = catalog.KindLink; b.HasOwnHours() {
		t.Error("the hours of a meeting are hours of a place")
	}
}

func TestClassStartsHaveLocationOfSession(t *testing.T) {
	t.Parallel()
	b, _ := newTwoPlaces(t, "2026-11-27 10:00")
	friday, class, second := time.Friday, uuid.New(), b.Snapshot.Locations[1].ID
	b.Snapshot.Modules.Services = true
	b.Snapshot.Services = []catalog.Service{{ID: class, Active: true, DurationMinutes: 60, Classes: []catalog.ClassSession{
		{ID: uuid.New(), Weekday: &friday, Time: 17 * 60},
		{ID: uuid.New(), Weekday: &friday, Time: 18 * 60, LocationID: &second},
	}}}
	if err := b.Snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	starts := b.ClassStarts([]*Service{{ID: class}})
	if len(starts) != 2 || starts[0].Location.ID == second || starts[1].Location.ID != second {
		t.Fatalf("%+v", starts)
	}
	for i, s := range starts {
		a, err := b.Appointment(Selection{Services: []uuid.UUID{class}, Date: &s.Date, Time: &s.Time, Session: &s.Session})
		if err != nil || a.Location == nil || *a.Location != s.Location.ID {
			t.Errorf("session %d is chosen at %v, not at its location: %v", i, a.Location, err)
		}
	}
}
