package occupancy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// TestShortagesEqualMinuteOracle compares shortages with the oracle at each minute. It compares the numbers
// of occupied and available units, and the reservations that take part in the shortage.
func TestShortagesEqualMinuteOracle(t *testing.T) {
	t.Parallel()
	short := 0
	for i := range cases / 100 {
		q := newRandomCase(rand.New(rand.NewPCG(seed, uint64(i))))
		from, to := q.first+tableDays/2-8, q.first+tableDays/2+8
		calendar := q.calendar(occupancy.Dates{From: from, To: to})
		shortages := calendar.FindShortages(q.stock, q.reservations)
		short += len(shortages)
		worst := make([]int, len(q.reservations)) // largest shortage of each reservation, by the oracle
		for minute, date := range q.dates {
			if date < from || date > to {
				continue
			}
			booked, units := q.bookedAt(minute), q.unitsAt(minute)
			if got, is := findShortage(shortages, q.instant(minute)); is != (booked > units) || is &&
				(got.Booked != booked || got.Units != units) {
				t.Fatalf("case %d of seed %d, minute %d of %s: %+v, want %d of %d: %+v %+v", i, seed, minute, q.zone,
					got, booked, units, q.stock, q.reservations)
			}
			for k, r := range q.reservations {
				if q.isOccupied(r, minute, date) {
					worst[k] = max(worst[k], booked-units)
				}
			}
		}
		for k, r := range q.reservations {
			if got := calendar.FindWorstShortage(r, shortages); got.Booked-got.Units != worst[k] {
				t.Fatalf("case %d of seed %d: %+v is short of %+v, want %d", i, seed, r, got, worst[k])
			}
		}
	}
	if short == 0 {
		t.Error("nothing was short of anything: the comparison means nothing")
	}
}

func findShortage(list []occupancy.Shortage, at int64) (occupancy.Shortage, bool) {
	for _, s := range list {
		if s.Overlaps(timespan.Span{Start: at, End: at + 1}) {
			return s, true
		}
	}
	return occupancy.Shortage{}, false
}

// bookedAt returns the number of occupied units at a minute.
func (q randomCase) bookedAt(minute int) int {
	booked := 0
	for _, r := range q.reservations {
		if q.isOccupied(r, minute, q.dates[minute]) {
			booked += r.Units
		}
	}
	return booked
}

func (q randomCase) unitsAt(minute int) int {
	q.reservations = nil
	return q.freeAt(minute)
}
