package occupancy

import (
	"sort"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Shortage is a period in which more units are booked than there are.
type Shortage struct {
	timespan.Span
	Booked, Units int
}

// Shortages returns, in order, the periods within the calendar's dates in which more units are booked than there are.
func (c *Calendar) Shortages(s Stock, reservations []Reservation) []Shortage {
	w := c.gather(s, reservations, c.Span())
	var list []Shortage
	for next, at := 0, w.within.Start; at < w.within.End; {
		next = w.apply(next, at)
		until := w.within.End
		if next < len(w.edges) {
			until = min(until, w.edges[next].at)
		}
		if units := s.free(w.maintained, 0); w.booked > units {
			list = append(list, Shortage{Span: timespan.Span{Start: at, End: until}, Booked: w.booked, Units: units})
		}
		at = until
	}
	return list
}

// Worst returns the largest of the shortages during the time in which r
// occupies units. It returns the zero value if there is none in that time.
func (c *Calendar) Worst(r Reservation, shortages []Shortage) Shortage {
	var worst Shortage
	own, rest := c.held(&r)
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
