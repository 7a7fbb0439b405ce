package usecase

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

func window(t *testing.T, text string) timespan.Window {
	t.Helper()
	w, err := timespan.ParseWindow(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// club is open on Mondays by day and on Fridays until two at night; Anna works less, and Ben as it is open.
func club(t *testing.T) *catalog.Offer {
	t.Helper()
	o := &catalog.Offer{Timezone: "Europe/Lisbon", Currency: "EUR", Staff: []catalog.Staff{{ID: uuid.New(), Name: "Anna", Active: true}, {ID: uuid.New(), Name: "Ben", Active: true}}}
	o.Hours[time.Monday] = []timespan.Window{window(t, "09:00-13:00"), window(t, "14:00-18:00")}
	o.Hours[time.Friday] = []timespan.Window{window(t, "20:00-02:00")}
	var hours catalog.WeekHours
	hours[time.Monday] = []timespan.Window{window(t, "10:00-20:00")}
	o.Staff[0].Hours = &hours
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestACalendarShowsWhenWorkIsDone(t *testing.T) {
	t.Parallel()
	o := club(t)
	anna, ben := &o.Staff[0], &o.Staff[1]
	monday, friday := timespan.NewDate(2027, 3, 1), timespan.NewDate(2027, 3, 5)
	o.Overrides = []catalog.DayOverride{{Date: monday + 7}, {Date: monday + 14, Hours: []timespan.Window{window(t, "12:00-22:00")}}}
	ben.Overrides = []catalog.DayOverride{{Date: monday, Hours: []timespan.Window{window(t, "08:00-10:00")}}}
	o.Blocks = []catalog.Block{
		{From: timespan.LocalDateTime{Date: monday + 14, Time: 13 * 60}, To: timespan.LocalDateTime{Date: monday + 14, Time: 14 * 60}, StaffIDs: []uuid.UUID{anna.ID}},
		{From: timespan.LocalDateTime{Date: friday, Time: 23 * 60}, To: timespan.LocalDateTime{Date: friday + 1, Time: 60}},
	}
	for name, c := range map[string]struct {
		of   *catalog.Staff
		on   timespan.Date
		want []Minutes
	}{
		"the business":                      {nil, monday, []Minutes{{540, 780}, {840, 1080}}},
		"own hours, cut to the business's":  {anna, monday, []Minutes{{600, 780}, {840, 1080}}},
		"an own override, cut as well":      {ben, monday, []Minutes{{540, 600}}},
		"closed by an override":             {ben, monday + 7, []Minutes{}},
		"an override, less what is blocked": {anna, monday + 14, []Minutes{{720, 780}, {840, 1200}}},
		"another's block":                   {ben, monday + 14, []Minutes{{720, 1320}}},
		"an evening, less what is blocked":  {ben, friday, []Minutes{{1200, 1380}}},
		"the night after it":                {ben, friday + 1, []Minutes{{60, 120}}},
		"of who does not work then":         {anna, friday, []Minutes{}},
		"a day on which nobody does":        {nil, friday + 2, []Minutes{}},
	} {
		if diff := cmp.Diff(c.want, open(o, c.of, c.on)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBookingsStandInTheirColumns(t *testing.T) {
	t.Parallel()
	o := club(t)
	friday := timespan.NewDate(2027, 3, 5)
	at := time.Date(2027, 3, 5, 23, 30, 0, 0, time.UTC)
	of := func(staff *uuid.UUID, status string) booking.Booking {
		return booking.Booking{ID: uuid.New(), StaffID: staff, Status: status, StartsAt: at, EndsAt: at.Add(time.Hour)}
	}
	gone := uuid.New()
	bens, nobodys, former, cancelled := of(&o.Staff[1].ID, "confirmed"), of(nil, "pending"), of(&gone, "confirmed"), of(&o.Staff[1].ID, "cancelled")
	all := []booking.Booking{bens, nobodys, former, cancelled}
	operator := Principal{Operator: true}
	for _, c := range []struct {
		on   timespan.Date
		want Minutes
	}{{friday, Minutes{23*60 + 30, 1440}}, {friday + 1, Minutes{0, 30}}} {
		cal := Calendar{Days: 1, Columns: columns(operator, o, c.on, 1, nil)}
		cal.place(o, all)
		if len(cal.Columns) != 3 || len(cal.Columns[0].Bookings) != 0 || len(cal.Columns[1].Bookings) != 1 || len(cal.Columns[2].Bookings) != 2 {
			t.Fatalf("%+v", cal.Columns)
		}
		if got := cal.Columns[1].Bookings[0]; got.ID != bens.ID || got.At != c.want {
			t.Errorf("on %s: %s at %+v, want %+v", c.on, got.ID, got.At, c.want)
		}
	}
	cal := Calendar{Days: 1, Columns: columns(operator, o, friday+3, 1, nil)}
	cal.place(o, all)
	if len(cal.Columns) != 2 {
		t.Errorf("there are %d columns on a day on which nobody's are empty", len(cal.Columns))
	}
}
