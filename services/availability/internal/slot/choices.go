package slot

import (
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// mostLaneChoices bounds how many ways with different lanes are offered for one start: more are never needed to get
// past lost races.
const mostLaneChoices = 64

// Bookable returns the ways in which the appointment can start at the local time t of the calendar date d, in
// Auto-Assign order; none when /slots of the matching date does not list it (semantics.md §3). q.From and q.To are
// set here.
func Bookable(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay, occupied []booking.Busy) []availability.Choice {
	q.From, q.To = d-1, d // after midnight, the window may be the one of the day before
	return Find(offer, q, occupied).choices(timespan.Instant(d, t, offer.Location()))
}

// choices returns the ways in which the appointment can begin at start.
func (o *Openings) choices(start int64) []availability.Choice {
	var able []int32
	for _, r := range o.runs {
		past := start - r.first
		if past >= 0 && past%o.appointment.step == 0 && past/o.appointment.step < int64(r.count) {
			able = append(able, r.candidate)
		}
	}
	slices.Sort(able) // the runs of one date follow those of the date before
	if len(able) == 0 {
		return nil
	}
	lanes, depth := o.lanesAt(start, max(1, mostLaneChoices/len(able)))
	choices := make([]availability.Choice, 0, len(able)*depth)
	for _, i := range able {
		for j := range depth {
			choices = append(choices, o.choice(start, o.candidates[i], lanes, j))
		}
	}
	return choices
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

// choice is the way that takes, at each moment, the lowest free lane but j.
func (o *Openings) choice(start int64, member *catalog.Staff, lanes [][]laneRun, j int) availability.Choice {
	c := availability.Choice{During: timespan.Span{Start: start, End: start + o.appointment.duration}}
	if member != nil {
		c.StaffID = &member.ID
	}
	for i, l := range o.appointment.legs {
		if l.service == nil {
			span := timespan.Span{Start: start + l.occupied.Start, End: start + l.occupied.End}
			c.Parts = appendPart(c.Parts, member.ID, 0, span)
			continue
		}
		for _, r := range lanes[i] {
			c.Parts = appendPart(c.Parts, l.service.ID, r.free[j], r.Span)
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
