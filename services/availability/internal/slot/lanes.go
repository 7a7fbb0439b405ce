package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// occupancy is the occupied time of a question, by member and by service.
type occupancy struct {
	members map[uuid.UUID][]int64   // edges: start, end, start, end, …
	lanes   map[uuid.UUID][]laneUse // of a service without staff
}

// laneUse is the time for which a booking occupies one lane. A lane is a capacity unit:
// one of the parallel places of a service without staff. Lanes are numbered from 1.
type laneUse struct {
	timespan.Span
	lane int
}

func newOccupancy(occupied []booking.Busy) occupancy {
	o := occupancy{members: make(map[uuid.UUID][]int64, len(occupied)), lanes: make(map[uuid.UUID][]laneUse)}
	for _, b := range occupied {
		edges := b.Edges[:len(b.Edges)&^1]
		if b.Lane == 0 {
			if had := o.members[b.ID]; had != nil {
				edges = slices.Concat(had, edges)
			}
			o.members[b.ID] = edges
			continue
		}
		for i := 0; b.Lane > 0 && i < len(edges); i += 2 {
			if edges[i] < edges[i+1] {
				use := laneUse{Span: timespan.Span{Start: edges[i], End: edges[i+1]}, lane: b.Lane}
				o.lanes[b.ID] = append(o.lanes[b.ID], use)
			}
		}
	}
	return o
}

// full returns the spans in which at least capacity lanes are in use. It also counts lanes
// with numbers above capacity: they were booked before the owner lowered the capacity.
func full(uses []laneUse, capacity int) []timespan.Span {
	if capacity <= 0 {
		return []timespan.Span{{Start: minInstant, End: maxInstant}}
	}
	var spans []timespan.Span
	running := 0
	for _, c := range changesOf(uses) {
		running += c.by
		switch {
		case c.by > 0 && running == capacity:
			spans = append(spans, timespan.Span{Start: c.at})
		case c.by < 0 && running == capacity-1:
			spans[len(spans)-1].End = c.at
		}
	}
	return spans
}

// change is the instant at which a lane becomes occupied (+1) or free (-1).
type change struct {
	at       int64
	by, lane int
}

// changesOf returns the instants at which lanes become occupied or free, in order. At the same instant, lanes
// become free before others become occupied. Therefore two uses do not conflict if one begins when the other ends.
func changesOf(uses []laneUse) []change {
	changes := make([]change, 0, 2*len(uses))
	for _, u := range uses {
		changes = append(changes, change{u.Start, 1, u.lane}, change{u.End, -1, u.lane})
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), a.by-b.by)
	})
	return changes
}

// laneRun is a set of free lanes that does not change during a span.
type laneRun struct {
	timespan.Span
	free []int // ascending
}

// freeLanes returns which of the lanes 1..capacity are free at each moment of span:
// the lowest ones, at most limit. It also returns the number of free lanes at the
// busiest moment. Lanes in use with numbers above capacity reduce that number.
func freeLanes(uses []laneUse, capacity int, span timespan.Span, limit int) ([]laneRun, int) {
	var within []laneUse
	for _, u := range uses {
		if u.Overlaps(span) {
			within = append(within, u)
		}
	}
	var runs []laneRun
	taken := make([]bool, capacity+1)
	running, least, from := 0, limit, span.Start
	finish := func(to int64) {
		if to > from {
			free := lowestFree(taken, min(limit, capacity-running))
			runs = append(runs, laneRun{Span: timespan.Span{Start: from, End: to}, free: free})
			least, from = min(least, len(free)), to
		}
	}
	for _, c := range changesOf(within) {
		finish(min(c.at, span.End))
		running += c.by
		if c.lane <= capacity {
			taken[c.lane] = c.by > 0
		}
	}
	finish(span.End)
	return runs, least
}

// lowestFree returns the n lowest numbers of lanes that are not taken. Lanes are numbered from 1.
func lowestFree(taken []bool, n int) []int {
	var free []int
	for lane := 1; lane < len(taken) && len(free) < n; lane++ {
		if !taken[lane] {
			free = append(free, lane)
		}
	}
	return free
}
