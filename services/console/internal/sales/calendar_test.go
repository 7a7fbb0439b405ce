package sales

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

func parseWindow(t *testing.T, text string) timespan.Window {
	t.Helper()
	w, err := timespan.ParseWindow(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// newClub is a business that opens on Monday during the day and on Friday until 2:00 the next morning. Anna has hours
// of her own; Ben has the hours of the business.
func newClub(t *testing.T) *catalog.Snapshot {
	t.Helper()
	o := &catalog.Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR", Staff: []catalog.Staff{{ID: uuid.New(),
		Name: "Anna", Active: true}, {ID: uuid.New(), Name: "Ben", Active: true}}}
	o.Hours[time.Monday] = []timespan.Window{parseWindow(t, "09:00-13:00"), parseWindow(t, "14:00-18:00")}
	o.Hours[time.Friday] = []timespan.Window{parseWindow(t, "20:00-02:00")}
	var hours catalog.WeekHours
	hours[time.Monday] = []timespan.Window{parseWindow(t, "10:00-20:00")}
	o.Staff[0].Hours = &hours
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestListMinutesOnUsesWallClock checks spans over midnight and over the end of Lisbon's summer time on 31 October,
// when the clock goes from 2:00 to 1:00.
func TestListMinutesOnUsesWallClock(t *testing.T) {
	t.Parallel()
	zone := newClub(t).Location()
	day := timespan.NewDate(2027, 10, 31)
	midnight := timespan.Instant(day, 0, zone)
	const hour = 3600
	for name, c := range map[string]struct {
		span timespan.Span
		want []Minutes
	}{
		"over midnight into it": {timespan.Span{Start: midnight - 2*hour, End: midnight + hour/2},
			[]Minutes{{0, 30}}},
		"over midnight out of it": {timespan.Span{Start: midnight + 24*hour, End: midnight + 27*hour},
			[]Minutes{{23 * 60, 1440}}},
		"over the repeated hour": {timespan.Span{Start: midnight, End: midnight + 4*hour}, []Minutes{{0, 180}}},
		"on another day":         {timespan.Span{Start: midnight - 2*hour, End: midnight}, []Minutes{}},
		"from the first 1:30 to 2": {timespan.Span{Start: midnight + 3*hour/2, End: midnight + 3*hour},
			[]Minutes{{90, 120}}},
	} {
		if diff := cmp.Diff(c.want, listMinutesOn([]timespan.Span{c.span}, day, zone)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestListBlockedOnHasMemberAndBusinessBlocks(t *testing.T) {
	t.Parallel()
	o := newClub(t)
	anna, monday := &o.Staff[0], timespan.NewDate(2027, 3, 1)
	o.Blocks = []catalog.Block{{
		From: timespan.LocalDateTime{Date: monday - 1}, To: timespan.LocalDateTime{Date: monday, Time: 10*60 + 30},
		Reason: "Dentist", StaffIDs: []uuid.UUID{anna.ID},
	}}
	if diff := cmp.Diff([]BlockedTime{{Minutes{0, 630}, "Dentist"}}, listBlockedOn(o, anna, monday)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := listBlockedOn(o, nil, monday); got != nil {
		t.Errorf("all members are blocked at %v", got)
	}
}

// TestPlaceShowsPackageWithEachMember shows that a package stands in the column of each member who
// performs a part. Anna performs the first half hour and Ben the second.
func TestPlaceShowsPackageWithEachMember(t *testing.T) {
	t.Parallel()
	o := newClub(t)
	anna, ben := o.Staff[0].ID, o.Staff[1].ID
	at := time.Date(2027, 3, 5, 21, 0, 0, 0, time.UTC)
	b := booking.Booking{ID: uuid.New(), StaffID: &anna, Status: booking.StatusConfirmed, StartsAt: at,
		EndsAt: at.Add(time.Hour), Services: []booking.BookedService{
			{ID: uuid.New(), DurationMinutes: 30, StaffID: &anna}, {ID: uuid.New(), DurationMinutes: 30, StaffID: &ben},
		}}
	cal := Calendar{Days: 1, Columns: newColumns(peers.Principal{IsOperator: true}, o, timespan.NewDate(2027, 3, 5), 1,
		nil)}
	cal.place(o, []booking.Booking{b})
	if len(cal.Columns) != 2 {
		t.Fatalf("there are %d columns, want one for each member", len(cal.Columns))
	}
	for i, want := range []Minutes{{21 * 60, 21*60 + 30}, {21*60 + 30, 22 * 60}} {
		if placed := cal.Columns[i].Bookings; len(placed) != 1 || placed[0].At != want {
			t.Errorf("member %d: %+v, want it at %v", i, placed, want)
		}
	}
}

func TestPlaceFindsColumnsOfBookings(t *testing.T) {
	t.Parallel()
	o := newClub(t)
	friday := timespan.NewDate(2027, 3, 5)
	at := time.Date(2027, 3, 5, 23, 30, 0, 0, time.UTC)
	of := func(staff *uuid.UUID, status string) booking.Booking {
		return booking.Booking{ID: uuid.New(), StaffID: staff, Status: status, StartsAt: at, EndsAt: at.Add(time.Hour)}
	}
	gone := uuid.New()
	bens, nobodys, former, cancelled := of(&o.Staff[1].ID, "confirmed"), of(nil, "pending"), of(&gone, "confirmed"),
		of(&o.Staff[1].ID, "cancelled")
	all := []booking.Booking{bens, nobodys, former, cancelled}
	operator := peers.Principal{IsOperator: true}
	for _, c := range []struct {
		on   timespan.Date
		want Minutes
	}{{friday, Minutes{23*60 + 30, 1440}}, {friday + 1, Minutes{0, 30}}} {
		cal := Calendar{Days: 1, Columns: newColumns(operator, o, c.on, 1, nil)}
		cal.place(o, all)
		if len(cal.Columns) != 3 || len(cal.Columns[0].Bookings) != 0 || len(cal.Columns[1].Bookings) != 1 ||
			len(cal.Columns[2].Bookings) != 2 {
			t.Fatalf("%+v", cal.Columns)
		}
		if got := cal.Columns[1].Bookings[0]; got.ID != bens.ID || got.At != c.want {
			t.Errorf("on %s: %s at %+v, want %+v", c.on, got.ID, got.At, c.want)
		}
	}
	cal := Calendar{Days: 1, Columns: newColumns(operator, o, friday+3, 1, nil)}
	cal.place(o, all)
	if len(cal.Columns) != 2 {
		t.Errorf("a day on which all columns have entries has %d columns", len(cal.Columns))
	}
}
