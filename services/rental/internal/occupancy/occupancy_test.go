package occupancy_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

var (
	today = timespan.NewDate(2027, time.June, 10)
	now   = time.Date(2027, time.June, 10, 11, 30, 0, 0, time.UTC)
)

func calendar(from, to timespan.Date) *occupancy.Calendar {
	return occupancy.NewCalendar(time.UTC, now, occupancy.Dates{From: from, To: to})
}

func dates(from, to timespan.Date) occupancy.Dates { return occupancy.Dates{From: from, To: to} }

func hours(d timespan.Date, from, to int) timespan.Span {
	midnight := timespan.Instant(d, 0, time.UTC)
	return timespan.Span{Start: midnight + int64(from)*3600, End: midnight + int64(to)*3600}
}

func stock(units int) occupancy.Stock { return occupancy.Stock{Quantity: units, InService: units} }

func TestCountFreeUsesBusiestDay(t *testing.T) {
	t.Parallel()
	reservations := []occupancy.Reservation{
		{Units: 7, Dates: dates(today+1, today+2)},
		{Units: 7, Dates: dates(today+3, today+5)},
	}
	c := calendar(today+1, today+5)
	if got := c.CountFree(c.Span(), stock(10), reservations); got != 3 {
		t.Errorf("%d of 10 are free, want 3", got)
	}
	if diff := cmp.Diff([]int{3, 3, 3, 3, 3}, c.CountFreeByDay(stock(10), reservations)); diff != "" {
		t.Errorf("by day (-want +got):\n%s", diff)
	}
}

func TestAdjacentHourlyReservationsDoNotAddUp(t *testing.T) {
	t.Parallel()
	reservations := []occupancy.Reservation{
		{Units: 2, Span: hours(today+1, 9, 11)},
		{Units: 2, Span: hours(today+1, 11, 14)},
		{Units: 1, Span: hours(today+1, 13, 26)}, // past midnight
	}
	c := calendar(today+1, today+2)
	for _, ask := range []struct{ from, to, want int }{
		{9, 13, 1}, {10, 12, 1}, {9, 14, 0}, {14, 26, 2}, {26, 48, 3}, {0, 9, 3}, {8, 10, 1},
	} {
		if got := c.CountFree(hours(today+1, ask.from, ask.to), stock(3), reservations); got != ask.want {
			t.Errorf("%d to %d o'clock: %d free, want %d", ask.from, ask.to, got, ask.want)
		}
	}
	if diff := cmp.Diff([]int{0, 2}, c.CountFreeByDay(stock(3), reservations)); diff != "" {
		t.Errorf("by day (-want +got):\n%s", diff)
	}
}

func TestHandedOutUnitsAreOccupiedUntilMidnight(t *testing.T) {
	t.Parallel()
	one := stock(1)
	overdue := []occupancy.Reservation{{Units: 1, Dates: dates(today-3, today-1), IsOut: true}}
	if diff := cmp.Diff([]int{0, 1, 1}, calendar(today, today+2).CountFreeByDay(one, overdue)); diff != "" {
		t.Errorf("overdue (-want +got):\n%s", diff)
	}
	c := calendar(today, today+1)
	if got := c.CountFree(c.Span(), one, overdue); got != 0 {
		t.Errorf("today to tomorrow: %d free, want 0", got)
	}
	if got := c.CountFree(hours(today, 13, 24), one, overdue); got != 0 {
		t.Errorf("in the afternoon of today: %d free, want 0", got)
	}
	if got := c.CountFree(hours(today, 24, 26), one, overdue); got != 1 {
		t.Errorf("from midnight on: %d free, want 1", got)
	}
	early := []occupancy.Reservation{{Units: 1, Dates: dates(today+2, today+2), IsOut: true}}
	if diff := cmp.Diff([]int{0, 1, 0}, calendar(today, today+2).CountFreeByDay(one, early)); diff != "" {
		t.Errorf("picked up before its time (-want +got):\n%s", diff)
	}
}

func TestHandedOutUnitsCountOnceInOwnTime(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]occupancy.Reservation{
		"whole dates":        {Units: 2, Dates: dates(today-1, today+1), IsOut: true},
		"hours under way":    {Units: 2, Span: hours(today, 10, 13), IsOut: true},
		"hours to come":      {Units: 2, Span: hours(today, 15, 17), IsOut: true},
		"hours gone by":      {Units: 2, Span: hours(today, 9, 11), IsOut: true},
		"hours over tonight": {Units: 2, Span: hours(today, 23, 30), IsOut: true},
	} {
		if got := calendar(today, today).CountFreeByDay(stock(5), []occupancy.Reservation{r}); got[0] != 3 {
			t.Errorf("%s: %d of 5 are free, want 3", name, got[0])
		}
	}
}

func TestCountFreeFollowsFormula(t *testing.T) {
	t.Parallel()
	away := []occupancy.Dates{dates(today+1, today+2), dates(today+2, today+2)}
	for name, ask := range map[string]struct {
		stock  occupancy.Stock
		booked int
		want   []int // free units on the four dates from today on
	}{
		"maintenance takes whole dates": {occupancy.Stock{Quantity: 9, InService: 4, Maintenance: away}, 0,
			[]int{4, 3, 2, 4}},
		"quantity caps what maintenance leaves": {occupancy.Stock{Quantity: 3, InService: 4, Maintenance: away}, 0,
			[]int{3, 3, 2, 3}},
		"booked units come off the smaller": {occupancy.Stock{Quantity: 3, InService: 4, Maintenance: away}, 2,
			[]int{1, 1, 0, 1}},
		"never below 0": {occupancy.Stock{Quantity: 1, InService: 4, Maintenance: away}, 5,
			[]int{0, 0, 0, 0}},
		"nothing offered":    {occupancy.Stock{Quantity: 0, InService: 4}, 0, []int{0, 0, 0, 0}},
		"nothing in service": {occupancy.Stock{Quantity: 4, InService: 0}, 0, []int{0, 0, 0, 0}},
	} {
		reservations := []occupancy.Reservation{{Units: ask.booked, Dates: dates(today-5, today+5)}}
		if diff := cmp.Diff(ask.want, calendar(today, today+3).CountFreeByDay(ask.stock, reservations)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSkippedDateHasNoFreeUnits(t *testing.T) {
	t.Parallel()
	samoa, err := time.LoadLocation("Pacific/Apia") // it skipped 30 December 2011
	if err != nil {
		t.Fatal(err)
	}
	from := timespan.NewDate(2011, time.December, 29)
	c := occupancy.NewCalendar(samoa, now, dates(from, from+2))
	if diff := cmp.Diff([]int{2, 0, 2}, c.CountFreeByDay(stock(2), nil)); diff != "" {
		t.Errorf("around the skipped date (-want +got):\n%s", diff)
	}
}

// randomReservations returns n reservations from today on. Half of them have hours, and half have dates.
func randomReservations(n, days int) []occupancy.Reservation {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]occupancy.Reservation, n)
	for i := range list {
		from := today + timespan.Date(r.IntN(days))
		list[i] = occupancy.Reservation{Units: 1 + r.IntN(3), IsOut: i%50 == 0,
			Dates: dates(from, from+timespan.Date(r.IntN(5)))}
		if i%2 == 0 {
			start := r.IntN(24)
			list[i].Span = hours(from, start, start+1+r.IntN(30))
		}
	}
	return list
}

// TestManyReservationsAreCountedExactly uses so many reservations that their edges are not sorted by comparing. The
// expected value is the minimum over all starts of reservations, because the fewest units are free at one of them.
func TestManyReservationsAreCountedExactly(t *testing.T) {
	t.Parallel()
	const days = 20
	reservations := randomReservations(2000, days)
	for i := range reservations {
		reservations[i].IsOut = false
	}
	spans := make([]timespan.Span, len(reservations))
	for i, r := range reservations {
		if spans[i] = r.Span; spans[i] == (timespan.Span{}) {
			spans[i] = timespan.Span{
				Start: timespan.Instant(r.Dates.From, 0, time.UTC), End: timespan.Instant(r.Dates.To+1, 0, time.UTC),
			}
		}
	}
	const units = 2000
	for day, got := range calendar(today, today+days-1).CountFreeByDay(stock(units), reservations) {
		midnight := timespan.Instant(today+timespan.Date(day), 0, time.UTC)
		want := units - bookedAt(midnight, spans, reservations)
		for _, s := range spans {
			if midnight < s.Start && s.Start < midnight+86400 {
				want = min(want, units-bookedAt(s.Start, spans, reservations))
			}
		}
		if got != want {
			t.Errorf("day %d: %d free, want %d", day, got, want)
		}
	}
}

func bookedAt(at int64, spans []timespan.Span, reservations []occupancy.Reservation) int {
	booked := 0
	for i, s := range spans {
		if s.Start <= at && at < s.End {
			booked += reservations[i].Units
		}
	}
	return booked
}

// BenchmarkCalendar computes 62 days of 20 rentals. It has 10,000 reservations in total, or 10,000 for each rental.
func BenchmarkCalendar(b *testing.B) {
	const rentals, days = 20, 62
	for name, each := range map[string]int{"10000 over all": 500, "10000 each": 10_000} {
		b.Run(name, func(b *testing.B) {
			zone, err := time.LoadLocation("Europe/Lisbon")
			if err != nil {
				b.Fatal(err)
			}
			reservations := randomReservations(each, days)
			b.ReportAllocs()
			for b.Loop() {
				c := occupancy.NewCalendar(zone, now, dates(today, today+days-1))
				for range rentals {
					c.CountFreeByDay(stock(40), reservations)
				}
			}
		})
	}
}

// BenchmarkRange checks one range of 730 days with 10,000 reservations.
func BenchmarkRange(b *testing.B) {
	const days = 730
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		b.Fatal(err)
	}
	reservations := randomReservations(10_000, days)
	b.ReportAllocs()
	for b.Loop() {
		c := occupancy.NewCalendar(zone, now, dates(today, today+days-1))
		c.CountFree(c.Span(), stock(100), reservations)
	}
}
