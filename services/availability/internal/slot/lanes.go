package slot

import (
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// occupancy is the occupied time of a question by what it occupies.
type occupancy struct {
	members map[uuid.UUID][]int64   // edges: start, end, start, end, …
	lanes   map[uuid.UUID][]laneUse // of a service without staff
}

// laneUse is one lane's use for one span.
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
		for i := 0; i < len(edges); i += 2 {
			if edges[i] < edges[i+1] {
				use := laneUse{Span: timespan.Span{Start: edges[i], End: edges[i+1]}, lane: b.Lane}
				o.lanes[b.ID] = append(o.lanes[b.ID], use)
			}
		}
	}
	return o
}

// full returns the spans in which at least capacity lanes are in use. Lanes beyond capacity count: they were sold
// before it was lowered.
func full(uses []laneUse, capacity int) []timespan.Span {
	if capacity <= 0 {
		return []timespan.Span{{Start: minInstant, End: maxInstant}}
	}
	type change struct {
		at int64
		by int
	}
	changes := make([]change, 0, 2*len(uses))
	for _, u := range uses {
		changes = append(changes, change{u.Start, 1}, change{u.End, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { // ends before starts: spans that touch never conflict
		if a.at != b.at {
			return compare(a.at, b.at)
		}
		return a.by - b.by
	})
	var spans []timespan.Span
	running := 0
	for _, c := range changes {
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

// laneRun is a set of free lanes that stays the same for a span.
type laneRun struct {
	timespan.Span
	free []int // ascending
}

// freeLanes returns which of the lanes 1..capacity are free over span, at most limit of the lowest at each moment, and
// how many of them there are at the moment that has the fewest.
func freeLanes(uses []laneUse, capacity int, span timespan.Span, limit int) ([]laneRun, int) {
	bounds := []int64{span.Start, span.End}
	var within []laneUse
	for _, u := range uses {
		if !u.Overlaps(span) {
			continue
		}
		within = append(within, u)
		bounds = append(bounds, max(u.Start, span.Start), min(u.End, span.End))
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	runs := make([]laneRun, 0, len(bounds))
	least := limit
	for i := 0; i+1 < len(bounds); i++ {
		run := laneRun{Span: timespan.Span{Start: bounds[i], End: bounds[i+1]}}
		taken := make(map[int]bool)
		for _, u := range within {
			if u.Overlaps(run.Span) {
				taken[u.lane] = true
			}
		}
		for lane := 1; lane <= capacity && len(run.free) < capacity-len(taken) && len(run.free) < limit; lane++ {
			if !taken[lane] {
				run.free = append(run.free, lane)
			}
		}
		least = min(least, len(run.free))
		runs = append(runs, run)
	}
	return runs, least
}
