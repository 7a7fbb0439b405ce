package occupancy

import (
	"sort"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Shortage is a period in which more units are booked than can be rented out. Booked
// is the number of booked units; Units is the number of units that can be rented out.
type Shortage struct {
	timespan.Span
	Booked, Units int
}

// FindShortages returns the periods within the calendar's dates in which
// more units are booked than can be rented out, ordered by time.
func (c *Calendar) FindShortages(s Stock, reservations []Reservation) []Shortage {
	w := c.gather(s, reservations, c.Span())
	var list []Shortage
	for next, at := 0, w.bounds.Start; at < w.bounds.End; {
		next = w.apply(next, at)
		until := w.bounds.End
		if next < len(w.edges) {
			until = min(until, w.edges[next].at)
		}
		if units := s.countFree(w.maintained, 0); w.booked > units {
			list = append(list, Shortage{Span: timespan.Span{Start: at, End: until}, Booked: w.booked, Units: units})
		}
		at = until
	}
	return list
}

// FindWorstShortage returns the largest of the shortages during the time in which the
// reservation `r` occupies units. The shortages must be sorted, as [Calendar.FindShortages]
// returns them. If no shortage overlaps that time, FindWorstShortage returns the zero value.
func (c *Calendar) FindWorstShortage(r Reservation, shortages []Shortage) Shortage {
	var worst Shortage
	own, rest := c.occupiedSpans(&r)
	for _, held := range []timespan.Span{own, rest} {
		first := sort.Search(len(shortages), func(i int) bool { return shortages[i].End > held.Start })
		for _, s := range shortages[first:] {
			if s.Start >= held.End {
				break
			}
			if s.Booked-s.Units > worst.Booked-worst.Units {
				worst = s
			}
		}
	}
	return worst
}
