package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// maxAssignments is the maximum number of assignments that are returned for one start. The assignments differ
// in their capacity units or, in a package with staff per service, in their staff members. If concurrent
// requests book the first assignments, booking tries the next ones. Booking never needs more than 64.
const maxAssignments = 64

// FindAssignments returns the assignments with which the appointment can start at the local time t of the
// calendar date d, in Auto-Assign order. The result is empty if /slots does not list this start (semantics.md
// §3), unless q.AllowsOutsideHours permits a start outside working time. FindAssignments ignores q.From and q.To.
func FindAssignments(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay,
	occupied booking.Occupied) []availability.Assignment {
	q.From, q.To = d-1, d // after midnight, the start may belong to a working window of the day before
	start := timespan.Instant(d, t, offer.Location())
	assignments := Find(offer, q, occupied).findAssignments(start)
	if len(assignments) == 0 && q.AllowsOutsideHours {
		relaxed := trial{offer: *offer, question: q}
		relaxed.removeWorkingHours()
		assignments = Find(&relaxed.offer, relaxed.question, occupied).findAssignments(start)
	}
	return assignments
}

// findAssignments returns the assignments with which the appointment can begin at the instant `start`.
func (o *Openings) findAssignments(start int64) []availability.Assignment {
	if o.class != nil {
		return o.findSessionAssignments(start)
	}
	if len(o.places) > 0 {
		return o.findAssignmentsAnywhere(start)
	}
	able := o.findCandidatesAt(start)
	if len(able) == 0 {
		return nil
	}
	crew, turns := o.findCrew(start, len(able))
	units, depth := o.findFreeUnits(start, max(1, maxAssignments/turns))
	assignments := make([]availability.Assignment, 0, turns*depth)
	for i := range turns {
		for j := range depth {
			w := combination{candidate: o.candidates[able[i%len(able)]], crew: crew, units: units, turn: i, unit: j}
			assignments = append(assignments, o.newAssignment(start, w))
		}
	}
	return assignments
}

// findCandidatesAt returns the indexes of the candidates who can begin at the instant `start`, in Auto-Assign order.
func (o *Openings) findCandidatesAt(start int64) []int32 {
	var able []int32
	for _, r := range o.runs {
		past := start - r.first
		if past >= 0 && past%o.appointment.step == 0 && past/o.appointment.step < int64(r.count) {
			able = append(able, r.candidate)
		}
	}
	slices.Sort(able) // into Auto-Assign order; the runs are sorted by date first
	return able
}

// findCrew returns, for each leg that the candidate does not serve, the staff members who can serve the leg.
//
// findCrew also returns the number of turns. A turn is one combination of a candidate and
// staff members. There are enough turns that each candidate and each staff member is in at
// least one of them. A package with staff per service has at most maxAssignments turns.
func (o *Openings) findCrew(start int64, candidates int) ([][]*catalog.Staff, int) {
	if len(o.alternatives) == 0 {
		return nil, candidates
	}
	crew, turns := make([][]*catalog.Staff, len(o.appointment.legs)), candidates
	for _, other := range o.alternatives {
		if contains(other.starts, start) {
			crew[other.leg] = append(crew[other.leg], other.member)
			turns = max(turns, len(crew[other.leg]))
		}
	}
	return crew, min(turns, maxAssignments)
}

// contains reports whether one of the spans contains the instant t. The spans must be normalized.
func contains(spans []timespan.Span, t int64) bool {
	i, found := slices.BinarySearchFunc(spans, t, func(s timespan.Span, t int64) int { return cmp.Compare(s.Start, t) })
	return found || i > 0 && t < spans[i-1].End
}

// findFreeUnits returns the free capacity units of each leg. The second result is the smallest number of units that are
// free at any moment of a leg, but never more than `limit`. If no leg uses capacity units, the second result is one.
func (o *Openings) findFreeUnits(start int64, limit int) ([][]unitRun, int) {
	units := make([][]unitRun, len(o.appointment.legs))
	depth, hasUnits := limit, false
	for i, l := range o.appointment.legs {
		if l.service == nil {
			continue
		}
		span := timespan.Span{Start: start + l.occupiedSpan.Start, End: start + l.occupiedSpan.End}
		runs, least := listFreeUnits(o.occupancy.units[l.service.ID], l.service.Capacity, span, limit)
		units[i], depth, hasUnits = runs, min(depth, least), true
	}
	if !hasUnits {
		return nil, 1
	}
	return units, depth
}

// combination is one choice of staff members and capacity units for an appointment.
type combination struct {
	candidate *catalog.Staff
	crew      [][]*catalog.Staff // by leg, the staff members who can serve it; nil for legs that the candidate serves
	units     [][]unitRun        // by leg, the free capacity units; nil for legs that use none
	turn      int                // selects the staff member of each leg in crew, modulo the number of members
	unit      int                // index into the free capacity units, of which the lowest number is first
}

// newAssignment returns the assignment with the staff members and the capacity units of the combination w.
func (o *Openings) newAssignment(start int64, w combination) availability.Assignment {
	c := availability.Assignment{During: timespan.Span{Start: start, End: start + o.appointment.duration}}
	if w.candidate != nil {
		c.StaffID = &w.candidate.ID
	}
	if o.location != nil {
		c.LocationID = &o.location.ID
	}
	for i, l := range o.appointment.legs {
		if l.service != nil {
			for _, r := range w.units[i] {
				c.Parts = appendPart(c.Parts, l.service.ID, r.free[w.unit], r.Span)
			}
			if w.crew != nil {
				c.Performers = append(c.Performers, make([]*uuid.UUID, l.serviceCount)...)
			}
			continue
		}
		member := w.candidate
		if l.members != nil {
			member = w.crew[i][w.turn%len(w.crew[i])]
		}
		span := timespan.Span{Start: start + l.occupiedSpan.Start, End: start + l.occupiedSpan.End}
		c.Parts = appendPart(c.Parts, member.ID, 0, span)
		if w.crew != nil {
			c.Performers = append(c.Performers, slices.Repeat([]*uuid.UUID{&member.ID}, l.serviceCount)...)
		}
	}
	return c
}

// appendPart appends a part to parts. If the last part occupies the same resource
// and ends when the new part begins, appendPart extends the last part instead.
func appendPart(parts []availability.Part, id uuid.UUID, unit int, span timespan.Span) []availability.Part {
	resource := booking.Resource{ID: id, CapacityUnit: unit}
	if n := len(parts); n > 0 && parts[n-1].Resource == resource && parts[n-1].Occupies.End == span.Start {
		parts[n-1].Occupies.End = span.End
		return parts
	}
	return append(parts, availability.Part{Resource: resource, Occupies: span})
}
