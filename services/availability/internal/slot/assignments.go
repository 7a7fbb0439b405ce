package slot

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// mostAssignments bounds how many ways with different lanes, or members of a package by service, are offered for one start:
// more are never needed to get past lost races.
const mostAssignments = 64

// Bookable returns the ways in which the appointment can start at the local time t of the calendar date d, in
// Auto-Assign order; none when /slots of the matching date does not list it (semantics.md §3). q.From and q.To are
// set here.
func Bookable(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay, occupied booking.Occupied) []availability.Assignment {
	q.From, q.To = d-1, d // after midnight, the window may be the one of the day before
	start := timespan.Instant(d, t, offer.Location())
	assignments := Find(offer, q, occupied).assignments(start)
	if len(assignments) == 0 && q.OutsideHours {
		always := trial{offer: *offer, question: q}
		always.workAlways()
		assignments = Find(&always.offer, always.question, occupied).assignments(start)
	}
	return assignments
}

// assignments returns the ways in which the appointment can begin at start.
func (o *Openings) assignments(start int64) []availability.Assignment {
	if o.class != nil {
		return o.sessionAssignments(start)
	}
	able := o.ableAt(start)
	if len(able) == 0 {
		return nil
	}
	crew, turns := o.crewAt(start, len(able))
	lanes, depth := o.lanesAt(start, max(1, mostAssignments/turns))
	assignments := make([]availability.Assignment, 0, turns*depth)
	for i := range turns {
		for j := range depth {
			w := way{candidate: o.candidates[able[i%len(able)]], crew: crew, lanes: lanes, turn: i, lane: j}
			assignments = append(assignments, o.assignment(start, w))
		}
	}
	return assignments
}

// ableAt returns the candidates that can begin at start, in Auto-Assign order.
func (o *Openings) ableAt(start int64) []int32 {
	var able []int32
	for _, r := range o.runs {
		past := start - r.first
		if past >= 0 && past%o.appointment.step == 0 && past/o.appointment.step < int64(r.count) {
			able = append(able, r.candidate)
		}
	}
	slices.Sort(able) // the runs of one date follow those of the date before
	return able
}

// crewAt returns who can serve each leg that is not the candidate's, and the number of turns after which each of them,
// and each candidate, has had its own: bounded in a package by service.
func (o *Openings) crewAt(start int64, candidates int) ([][]*catalog.Staff, int) {
	if len(o.others) == 0 {
		return nil, candidates
	}
	crew, turns := make([][]*catalog.Staff, len(o.appointment.legs)), candidates
	for _, other := range o.others {
		if contains(other.starts, start) {
			crew[other.leg] = append(crew[other.leg], other.member)
			turns = max(turns, len(crew[other.leg]))
		}
	}
	return crew, min(turns, mostAssignments)
}

// contains reports whether a normalized set of instants holds t.
func contains(spans []timespan.Span, t int64) bool {
	i, found := slices.BinarySearchFunc(spans, t, func(s timespan.Span, t int64) int { return cmp.Compare(s.Start, t) })
	return found || i > 0 && t < spans[i-1].End
}

// lanesAt returns the free lanes of each leg, and how many different ways to take them there are, at most limit: one
// when no leg takes lanes.
func (o *Openings) lanesAt(start int64, limit int) ([][]laneRun, int) {
	lanes := make([][]laneRun, len(o.appointment.legs))
	depth, taken := limit, false
	for i, l := range o.appointment.legs {
		if l.service == nil {
			continue
		}
		span := timespan.Span{Start: start + l.occupied.Start, End: start + l.occupied.End}
		runs, least := freeLanes(o.occupancy.lanes[l.service.ID], l.service.Capacity, span, limit)
		lanes[i], depth, taken = runs, min(depth, least), true
	}
	if !taken {
		return nil, 1
	}
	return lanes, depth
}

// way says who and what serves an appointment.
type way struct {
	candidate *catalog.Staff
	crew      [][]*catalog.Staff // by leg, for those that are not the candidate's
	lanes     [][]laneRun        // by leg, for those that take lanes
	turn      int                // which of the crew, going around
	lane      int                // which of the free lanes, from the lowest
}

// assignment spells a way out.
func (o *Openings) assignment(start int64, w way) availability.Assignment {
	c := availability.Assignment{During: timespan.Span{Start: start, End: start + o.appointment.duration}}
	if w.candidate != nil {
		c.StaffID = &w.candidate.ID
	}
	for i, l := range o.appointment.legs {
		if l.service != nil {
			for _, r := range w.lanes[i] {
				c.Parts = appendPart(c.Parts, l.service.ID, r.free[w.lane], r.Span)
			}
			if w.crew != nil {
				c.Performers = append(c.Performers, make([]*uuid.UUID, l.services)...)
			}
			continue
		}
		member := w.candidate
		if l.anyOf != nil {
			member = w.crew[i][w.turn%len(w.crew[i])]
		}
		span := timespan.Span{Start: start + l.occupied.Start, End: start + l.occupied.End}
		c.Parts = appendPart(c.Parts, member.ID, 0, span)
		if w.crew != nil {
			c.Performers = append(c.Performers, slices.Repeat([]*uuid.UUID{&member.ID}, l.services)...)
		}
	}
	return c
}

// appendPart adds a part, or lengthens the last where it goes on with the same resource.
func appendPart(parts []availability.Part, id uuid.UUID, lane int, span timespan.Span) []availability.Part {
	resource := booking.Resource{ID: id, Lane: lane}
	if n := len(parts); n > 0 && parts[n-1].Resource == resource && parts[n-1].Occupies.End == span.Start {
		parts[n-1].Occupies.End = span.End
		return parts
	}
	return append(parts, availability.Part{Resource: resource, Occupies: span})
}
