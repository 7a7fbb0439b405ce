package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// occupancy is the occupied time of a question, by staff member and by service.
type occupancy struct {
	members map[uuid.UUID][]int64   // by staff member, the edges of occupied spans: start, end, start, end, …
	units   map[uuid.UUID][]unitUse // occupied capacity units, by service without staff
}

// unitUse is the time in which a booking occupies one capacity unit. A capacity unit is
// one of the parallel places of a service without staff. The units are numbered from 1.
type unitUse struct {
	timespan.Span
	unit int
}

func newOccupancy(occupied []booking.Busy) occupancy {
	o := occupancy{members: make(map[uuid.UUID][]int64, len(occupied)), units: make(map[uuid.UUID][]unitUse)}
	for _, b := range occupied {
		edges := b.Edges[:len(b.Edges)&^1]
		if b.CapacityUnit == 0 {
			if previous := o.members[b.ID]; previous != nil {
				edges = slices.Concat(previous, edges)
			}
			o.members[b.ID] = edges
			continue
		}
		for i := 0; b.CapacityUnit > 0 && i < len(edges); i += 2 {
			if edges[i] < edges[i+1] {
				use := unitUse{Span: timespan.Span{Start: edges[i], End: edges[i+1]}, unit: b.CapacityUnit}
				o.units[b.ID] = append(o.units[b.ID], use)
			}
		}
	}
	return o
}

// findFullSpans returns the spans in which the number of units in use is at least `capacity`. It also counts
// units whose number is greater than `capacity`. Such units were booked before the owner lowered the capacity.
func findFullSpans(uses []unitUse, capacity int) []timespan.Span {
	if capacity <= 0 {
		return []timespan.Span{{Start: minInstant, End: maxInstant}}
	}
	var spans []timespan.Span
	running := 0
	for _, c := range listChanges(uses) {
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

// change is an instant at which a unit becomes occupied (`by` is +1) or free (`by` is -1).
type change struct {
	at       int64
	by, unit int
}

// listChanges returns the instants at which units become occupied or free, in order. At the same instant, units
// become free before others become occupied. Therefore two uses do not conflict if one begins when the other ends.
func listChanges(uses []unitUse) []change {
	changes := make([]change, 0, 2*len(uses))
	for _, u := range uses {
		changes = append(changes, change{u.Start, 1, u.unit}, change{u.End, -1, u.unit})
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), a.by-b.by)
	})
	return changes
}

// unitRun is a span and the units that are free during the whole span.
type unitRun struct {
	timespan.Span
	free []int // numbers of the free units, in ascending order
}

// listFreeUnits returns the lowest free units of 1..`capacity` at each moment of `span`, but
// never more than `limit` units. The second result is the smallest number of free units at
// any moment. Occupied units with numbers above `capacity` reduce the number of free units.
func listFreeUnits(uses []unitUse, capacity int, span timespan.Span, limit int) ([]unitRun, int) {
	var overlapping []unitUse
	for _, u := range uses {
		if u.Overlaps(span) {
			overlapping = append(overlapping, u)
		}
	}
	var runs []unitRun
	isTaken := make([]bool, capacity+1)
	running, least, from := 0, limit, span.Start
	finish := func(to int64) {
		if to > from {
			free := listLowestFreeUnits(isTaken, min(limit, capacity-running))
			runs = append(runs, unitRun{Span: timespan.Span{Start: from, End: to}, free: free})
			least, from = min(least, len(free)), to
		}
	}
	for _, c := range listChanges(overlapping) {
		finish(min(c.at, span.End))
		running += c.by
		if c.unit <= capacity {
			isTaken[c.unit] = c.by > 0
		}
	}
	finish(span.End)
	return runs, least
}

// listLowestFreeUnits returns the n lowest numbers of units that are not occupied. The units are numbered from 1.
func listLowestFreeUnits(isTaken []bool, n int) []int {
	var free []int
	for unit := 1; unit < len(isTaken) && len(free) < n; unit++ {
		if !isTaken[unit] {
			free = append(free, unit)
		}
	}
	return free
}
