package occupancy

import "github.com/slotmesh/slotmesh/libs/values/timespan"

// sweep collects the edges within a span of time: the moments at which units become occupied
// or free. A reservation that begins before the span has no edge for its beginning: its
// units are in the initial counts `booked` and `maintained`. A reservation that ends after
// the span has no edge for its end. Many reservations therefore have fewer than two edges.
type sweep struct {
	bounds             timespan.Span
	booked, maintained int
	edges              []edge
}

// findMinimums returns, for each pair of neighbouring instants in the argument `cuts`, the
// smallest number of free units between these two instants. The instants must be sorted.
func (c *Calendar) findMinimums(s Stock, reservations []Reservation, cuts []int64) []int {
	w := c.gather(s, reservations, timespan.Span{Start: cuts[0], End: cuts[len(cuts)-1]})
	return w.run(s, cuts)
}

// gather returns a sweep with the sorted edges of all reservations and maintenance periods within a span.
func (c *Calendar) gather(s Stock, reservations []Reservation, bounds timespan.Span) *sweep {
	w := &sweep{bounds: bounds, edges: make([]edge, 0, 2*(len(reservations)+len(s.Maintenance)))}
	for _, d := range s.Maintenance {
		w.add(c.span(d), 0, 1)
	}
	for i := range reservations {
		own, rest := c.occupiedSpans(&reservations[i])
		w.add(own, int32(reservations[i].Units), 0)
		w.add(rest, int32(reservations[i].Units), 0)
	}
	w.edges = sortEdges(w.edges, w.bounds)
	return w
}

// occupiedSpans returns the spans in which a reservation occupies its units: its own time and, if its units are
// picked up and not returned, the rest of the current date. If the two spans overlap or touch, occupiedSpans
// returns one merged span and an empty one. Without the merge, the units would count twice in the overlap.
func (c *Calendar) occupiedSpans(r *Reservation) (timespan.Span, timespan.Span) {
	own := r.Span
	if own == (timespan.Span{}) {
		own = c.span(r.Dates)
	}
	if !r.IsOut {
		return own, timespan.Span{}
	}
	if own.Start <= c.restOfToday.End && c.restOfToday.Start <= own.End {
		return timespan.Span{Start: min(own.Start, c.restOfToday.Start), End: max(own.End, c.restOfToday.End)},
			timespan.Span{}
	}
	return own, c.restOfToday
}

// add adds `booked` booked units and `maintained` units under maintenance
// during the span `s`. It ignores time outside the span of the sweep.
func (w *sweep) add(s timespan.Span, booked, maintained int32) {
	start, end := max(s.Start, w.bounds.Start), min(s.End, w.bounds.End)
	if start >= end {
		return
	}
	if start == w.bounds.Start {
		w.booked += int(booked)
		w.maintained += int(maintained)
	} else {
		w.edges = append(w.edges, edge{start, booked, maintained})
	}
	if end < w.bounds.End {
		w.edges = append(w.edges, edge{end, -booked, -maintained})
	}
}

// run computes the result of [Calendar.findMinimums]; it goes through the sorted edges once. At
// each moment, run applies all edges of that moment before it counts free units. Therefore, if
// one reservation begins at the moment when another ends, the units of both are not added up.
func (w *sweep) run(s Stock, cuts []int64) []int {
	least := make([]int, len(cuts)-1)
	next := 0
	for i := range least {
		start, end := cuts[i], cuts[i+1]
		if start == end {
			continue
		}
		next = w.apply(next, start)
		least[i] = s.countFree(w.maintained, w.booked)
		for next < len(w.edges) && w.edges[next].at < end {
			next = w.apply(next, w.edges[next].at)
			least[i] = min(least[i], s.countFree(w.maintained, w.booked))
		}
	}
	return least
}

// apply applies the edges from the index `next` on, up to and including the edges
// at the moment `at`. It returns the index of the first edge that is not applied.
func (w *sweep) apply(next int, at int64) int {
	for ; next < len(w.edges) && w.edges[next].at <= at; next++ {
		w.booked += int(w.edges[next].booked)
		w.maintained += int(w.edges[next].maintained)
	}
	return next
}
