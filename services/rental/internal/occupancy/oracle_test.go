package occupancy_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// The oracle follows semantics.md §4 literally. For each minute, it finds the date in the time zone and the
// reservations that occupy units.

// tableDays is the number of days in the table of each time zone, around a clock change.
const tableDays = 40

// zoneTable is a time zone around one of its clock changes, with the date of each minute from `start` on.
type zoneTable struct {
	zone  *time.Location
	start int64 // on a full minute
	first timespan.Date
	dates []timespan.Date
}

// zoneTables returns time zones whose clocks change at a usual hour, at midnight, by half an hour, or never.
var zoneTables = sync.OnceValue(func() []zoneTable {
	var list []zoneTable
	for _, w := range []struct{ zone, around string }{
		{"Europe/Lisbon", "2027-03-28"}, {"Europe/Lisbon", "2026-10-25"},
		{"America/New_York", "2027-03-14"}, {"America/New_York", "2027-11-07"},
		{"America/Santiago", "2027-04-04"}, {"America/Santiago", "2027-09-05"}, // changes at midnight
		{"America/Havana", "2027-03-14"}, {"America/Havana", "2027-11-07"}, // skips or repeats the hour after midnight
		{"Asia/Beirut", "2027-03-28"}, {"Atlantic/Azores", "2027-10-31"},
		{"Australia/Lord_Howe", "2027-04-04"}, {"Australia/Lord_Howe", "2027-10-03"}, // changes by half an hour
		{"Asia/Kathmandu", "2027-01-10"}, {"Pacific/Kiritimati", "2027-01-01"}, {"UTC", "2026-12-31"},
	} {
		zone, err := time.LoadLocation(w.zone)
		if err != nil {
			panic(err)
		}
		around, err := time.Parse(time.DateOnly, w.around)
		if err != nil {
			panic(err)
		}
		start := time.Date(around.Year(), around.Month(), around.Day()-tableDays/2, 0, 0, 0, 0, zone)
		table := zoneTable{zone: zone, start: start.Unix()}
		for m := range tableDays * timespan.MinutesPerDay {
			table.dates = append(table.dates, timespan.DateOf(start.Add(time.Duration(m)*time.Minute), zone))
		}
		table.first = table.dates[0]
		list = append(list, table)
	}
	return list
})

func (w zoneTable) instant(minute int) int64 { return w.start + int64(minute)*60 }

// randomCase is a random case. Its minutes count from the start of the table.
type randomCase struct {
	zoneTable
	now          int // minute
	stock        occupancy.Stock
	reservations []occupancy.Reservation
}

// freeAt returns the number of free units at one minute by the definition of semantics.md §4.
func (q randomCase) freeAt(minute int) int {
	date := q.dates[minute]
	maintained := 0
	for _, m := range q.stock.Maintenance {
		if m.From <= date && date <= m.To {
			maintained++
		}
	}
	booked := 0
	for _, r := range q.reservations {
		if q.isOccupied(r, minute, date) {
			booked += r.Units
		}
	}
	units := q.stock.InService - maintained
	if q.stock.Quantity < units {
		units = q.stock.Quantity
	}
	if units -= booked; units < 0 {
		return 0
	}
	return units
}

func (q randomCase) isOccupied(r occupancy.Reservation, minute int, date timespan.Date) bool {
	if r.IsOut && minute >= q.now && date == q.dates[q.now] {
		return true // occupied until the end of today
	}
	if r.Span != (timespan.Span{}) {
		at := q.instant(minute)
		return r.Span.Start <= at && at < r.Span.End
	}
	return r.Dates.From <= date && date <= r.Dates.To
}

// minOnDate returns the number of free units at the busiest minute of a date.
func (q randomCase) minOnDate(date timespan.Date) int {
	// A date begins at most a few hours before or after the time at which it would begin if every day had 24 hours.
	near := int(date-q.first) * timespan.MinutesPerDay
	least, seen := 0, false
	for minute := near - 240; minute < near+timespan.MinutesPerDay+240; minute++ {
		if q.dates[minute] != date {
			continue
		}
		if free := q.freeAt(minute); !seen || free < least {
			least, seen = free, true
		}
	}
	return least
}

func (q randomCase) minBetween(from, to int) int {
	least := q.freeAt(from)
	for minute := from + 1; minute < to; minute++ {
		least = min(least, q.freeAt(minute))
	}
	return least
}

// newRandomCase returns a case whose dates are within a few days, so that many of its reservations overlap.
func newRandomCase(r *rand.Rand) randomCase {
	list := zoneTables()
	q := randomCase{zoneTable: list[r.IntN(len(list))]}
	middle := tableDays / 2 * timespan.MinutesPerDay
	q.now = middle + r.IntN(5*timespan.MinutesPerDay) - 5*timespan.MinutesPerDay/2
	q.stock = occupancy.Stock{Quantity: r.IntN(12), InService: r.IntN(12)}
	for range r.IntN(1 + min(3, q.stock.InService)) {
		q.stock.Maintenance = append(q.stock.Maintenance, q.randomDates(r))
	}
	for range r.IntN(7) {
		reservation := occupancy.Reservation{Units: 1 + r.IntN(4), IsOut: r.IntN(3) == 0}
		if r.IntN(2) == 0 {
			reservation.Dates = q.randomDates(r)
		} else {
			from, to := q.randomMinutes(r)
			reservation.Span = timespan.Span{Start: q.instant(from), End: q.instant(to)}
		}
		q.reservations = append(q.reservations, reservation)
	}
	return q
}

func (q randomCase) randomDates(r *rand.Rand) occupancy.Dates {
	from := q.first + timespan.Date(tableDays/2-3+r.IntN(6))
	return occupancy.Dates{From: from, To: from + timespan.Date(r.IntN(3))}
}

// randomMinutes returns a span of up to 30 hours, often on full hours, so that many spans only touch.
func (q randomCase) randomMinutes(r *rand.Rand) (int, int) {
	step := []int{1, 15, 60}[r.IntN(3)]
	from := tableDays/2*timespan.MinutesPerDay + (r.IntN(5*timespan.MinutesPerDay)-5*timespan.MinutesPerDay/2)/step*step
	return from, from + (1+r.IntN(30*60/step))*step
}

func (q randomCase) calendar(dates occupancy.Dates) *occupancy.Calendar {
	return occupancy.NewCalendar(q.zone, time.Unix(q.instant(q.now), 0), dates)
}

const (
	seed  = 20261121
	cases = 100_000
)

// TestCalendarEqualsMinuteOracle compares the calendar with the oracle. Half of the cases ask for a span of hours,
// a quarter for a range of dates, and a quarter for each date of a range.
func TestCalendarEqualsMinuteOracle(t *testing.T) {
	t.Parallel()
	const shards = 4
	for shard := range shards {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for i := shard; i < cases && !t.Failed(); i += shards {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				q := newRandomCase(r)
				switch i / shards % 4 {
				case 0, 1:
					checkHours(t, q, r, i)
				case 2:
					checkRange(t, q, r, i)
				case 3:
					checkDays(t, q, r, i)
				}
			}
		})
	}
}

func checkHours(t *testing.T, q randomCase, r *rand.Rand, i int) {
	from, to := q.randomMinutes(r)
	calendar := q.calendar(occupancy.Dates{From: q.dates[from], To: q.dates[to]})
	got := calendar.CountFree(timespan.Span{Start: q.instant(from), End: q.instant(to)}, q.stock, q.reservations)
	if want := q.minBetween(from, to); got != want {
		t.Errorf("case %d of seed %d: minutes %d to %d of %s: %d free, want %d: %+v %+v",
			i, seed, from, to, q.zone, got, want, q.stock, q.reservations)
	}
}

func checkRange(t *testing.T, q randomCase, r *rand.Rand, i int) {
	dates := q.randomDates(r)
	calendar := q.calendar(dates)
	got := calendar.CountFree(calendar.Span(), q.stock, q.reservations)
	want := q.minOnDate(dates.From)
	for d := dates.From + 1; d <= dates.To; d++ {
		want = min(want, q.minOnDate(d))
	}
	if got != want {
		t.Errorf("case %d of seed %d: %s to %s in %s: %d free, want %d: %+v %+v",
			i, seed, dates.From, dates.To, q.zone, got, want, q.stock, q.reservations)
	}
}

func checkDays(t *testing.T, q randomCase, r *rand.Rand, i int) {
	dates := q.randomDates(r)
	for day, got := range q.calendar(dates).CountFreeByDay(q.stock, q.reservations) {
		date := dates.From + timespan.Date(day)
		if want := q.minOnDate(date); got != want {
			t.Errorf("case %d of seed %d: %s in %s: %d free, want %d: %+v %+v",
				i, seed, date, q.zone, got, want, q.stock, q.reservations)
		}
	}
}
