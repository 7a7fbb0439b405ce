package usecase

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Weekly sessions happen on their weekday between two dates, others once; none on a day that is closed, in blocked time, or by a member who
// is inactive (semantics.md §2).
func TestSessionsTakePlace(t *testing.T) {
	t.Parallel()
	o := club(t)
	monday := timespan.NewDate(2027, 3, 1)
	weekday, once, from, to := time.Monday, monday+1, monday+7, monday+28
	o.Overrides = []catalog.DayOverride{{Date: monday + 14}}
	o.Blocks = []catalog.Block{
		{From: timespan.LocalDateTime{Date: monday + 21, Time: 18*60 + 59}, To: timespan.LocalDateTime{Date: monday + 21, Time: 20 * 60}, StaffIDs: []uuid.UUID{o.Staff[0].ID}},
	}
	service := &catalog.Service{DurationMinutes: 60}
	weekly := &catalog.ClassSession{Weekday: &weekday, Time: 18 * 60, StaffID: &o.Staff[0].ID, From: &from, To: &to}
	single := &catalog.ClassSession{Date: &once, Time: 18 * 60}
	for name, c := range map[string]struct {
		class *catalog.ClassSession
		on    timespan.Date
		want  string
	}{
		"before its first date": {weekly, monday, "no"}, "its first date": {weekly, from, "yes"}, "another weekday": {weekly, from + 1, "no"},
		"a closed day": {weekly, monday + 14, "off"}, "its member is blocked for a minute of it": {weekly, monday + 21, "off"},
		"its last date": {weekly, to, "yes"}, "after it": {weekly, to + 7, "no"}, "once": {single, once, "yes"}, "not again": {single, once + 7, "no"},
	} {
		got := "no"
		if happens(c.class, c.on) {
			got = "yes"
			if session(o, service, c.class, c.on).Off {
				got = "off"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	o.Staff[0].Active = false
	if !session(o, service, weekly, from).Off {
		t.Error("an inactive member gives a class")
	}
}

// Free is what is open, less what is booked with its buffers and the classes that the member gives, booked or not.
func TestFreeTimeIsWhatIsOpenAndNotTaken(t *testing.T) {
	t.Parallel()
	o := club(t)
	monday, weekday := timespan.NewDate(2027, 3, 1), time.Monday
	anna := &o.Staff[0]
	o.Services = []catalog.Service{{
		ID: uuid.New(), Active: true, DurationMinutes: 60, BufferAfterMinutes: 15,
		Classes: []catalog.ClassSession{{Weekday: &weekday, Time: 15 * 60, StaffID: &anna.ID}},
	}}
	o.Blocks = []catalog.Block{{From: timespan.LocalDateTime{Date: monday - 1}, To: timespan.LocalDateTime{Date: monday, Time: 10*60 + 30}, Reason: "Dentist", StaffIDs: []uuid.UUID{anna.ID}}}
	col := Column{Date: monday, Member: anna, Open: open(o, anna, monday), Bookings: []Placed{{Before: Minutes{645, 660}, At: Minutes{660, 700}, After: Minutes{700, 705}}}}
	col.describe(o)
	if diff := cmp.Diff([]Minutes{{630, 645}, {705, 780}, {840, 900}, {975, 1080}}, col.Free()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Blocked{{Minutes{0, 630}, "Dentist"}}, col.Blocked); diff != "" {
		t.Error(diff)
	}
	everybody := Column{Date: monday, Open: open(o, nil, monday)}
	if everybody.describe(o); everybody.Free() != nil || everybody.Blocked != nil {
		t.Errorf("everybody is free %v and blocked %v", everybody.Free(), everybody.Blocked)
	}
}
