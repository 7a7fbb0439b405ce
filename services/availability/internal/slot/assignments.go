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

// mostAssignments is the maximum number of assignments that are returned for one start. They differ
// in their capacity units or, in a package with staff per service, in their members. If concurrent
// requests book some of them first, booking uses the next; it never needs more than this number.
const mostAssignments = 64

// Bookable returns the assignments with which the appointment can start at the local
// time t of the calendar date d, in Auto-Assign order. The result is empty if /slots
// does not list the start (semantics.md §3). Bookable ignores q.From and q.To.
func Bookable(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay,
	occupied booking.Occupied) []availability.Assignment {
	q.From, q.To = d-1, d // after midnight, the window may belong to the day before
	start := timespan.Instant(d, t, offer.Location())
	assignments := Find(offer, q, occupied).assignments(start)
	if len(assignments) == 0 && q.OutsideHours {
		always := trial{offer: *offer, question: q}
		always.workAlways()
		assignments = Find(&always.offer, always.question, occupied).assignments(start)
	}
	return assignments
}

// assignments returns the assignments with which the appointment can begin at the instant start.
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

// ableAt returns the candidates who can begin at start, in Auto-Assign order.
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

// crewAt returns, for each leg that the candidate does not serve, the members who can serve it.
//
// It also returns the number of turns: how many combinations to try, so that each member and each
// candidate is used in at least one. A package with staff per service has at most mostAssignments turns.
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

// contains reports whether a normalized set of instants contains t.
func contains(spans []timespan.Span, t int64) bool {
	i, found := slices.BinarySearchFunc(spans, t, func(s timespan.Span, t int64) int { return cmp.Compare(s.Start, t) })
	return found || i > 0 && t < spans[i-1].End
}

// lanesAt returns the free capacity units of each leg, and the number of different ways
// to choose them, at most limit. If no leg uses capacity units, that number is one.
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

// way is one choice of members and capacity units for an appointment.
type way struct {
	candidate *catalog.Staff
	crew      [][]*catalog.Staff // by leg, for the legs that the candidate does not serve
	lanes     [][]laneRun        // by leg, for the legs that use capacity units
	turn      int                // index into the crew, modulo its size
	lane      int                // index into the free capacity units, lowest first
}

// assignment returns the way w as an assignment.
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

// appendPart adds a part. If the last part is of the same resource and
// ends when the new one begins, appendPart extends the last part instead.
func appendPart(parts []availability.Part, id uuid.UUID, lane int, span timespan.Span) []availability.Part {
	resource := booking.Resource{ID: id, Lane: lane}
	if n := len(parts); n > 0 && parts[n-1].Resource == resource && parts[n-1].Occupies.End == span.Start {
		parts[n-1].Occupies.End = span.End
		return parts
	}
	return append(parts, availability.Part{Resource: resource, Occupies: span})
}
