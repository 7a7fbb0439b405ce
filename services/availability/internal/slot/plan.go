package slot

import (
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Plan is the part of a computation that does not depend on the occupied time. A Plan never changes.
type Plan struct {
	offer       *catalog.Snapshot
	question    Question
	from, to    timespan.Date // the dates that can have a bookable start
	earliest    int64         // the first instant at which a start is allowed
	appointment appointment
	candidates  []*catalog.Staff // candidates in Auto-Assign order; one nil element if no service needs staff
	horizon     *horizon         // working time; nil if the answer has no starts, whatever the occupied time is
	starts      timespan.Span    // a span that contains every start of the answer and is not much longer than necessary

	location *catalog.Location // the location of the appointment; nil for a class and without locations
	// places holds one plan for each location, in the order of preference, if the appointment is possible
	// at several locations. The plan itself then has no horizon.
	places []*Plan
}

// NewPlan returns the plan for answering a question.
func NewPlan(offer *catalog.Snapshot, q Question) *Plan {
	if len(offer.Locations) == 0 || q.Services[0].IsClass() {
		return newPlanAt(offer, q, nil)
	}
	return newLocationsPlan(offer, q)
}

// newPlanAt returns the plan for an appointment at one location. The argument `location` is
// nil for a class, whose sessions have locations, and for a business without locations.
func newPlanAt(offer *catalog.Snapshot, q Question, location *catalog.Location) *Plan {
	from, to, ok := q.clamp(offer)
	p := &Plan{
		offer: offer, question: q, from: from, to: to, earliest: q.findEarliestStart(offer),
		appointment: newAppointment(offer, q), location: location,
	}
	p.appointment.addTravel(location)
	switch {
	case !ok:
		return p
	case p.appointment.isClass:
		p.horizon = newHorizon(offer, from-1, to+1, nil)
		p.starts = timespan.Span{Start: p.horizon.clock.toInstant(from, 0), End: p.horizon.clock.toInstant(to+2, 0)}
		return p
	}
	p.candidates = findStaff(offer, p.appointment, q)
	if !p.appointment.isStaffed && q.StaffID == nil {
		p.candidates = []*catalog.Staff{nil}
	}
	if len(p.candidates) > 0 {
		// The horizon must last beyond the last date. A start is at most one day
		// after its date, and the services continue after the start. The windows of
		// a date also depend on the opening time of the dates before and after it.
		ahead := timespan.Date(p.appointment.duration/day) + 4
		h := newHorizon(offer, from-2, to+ahead, location)
		whole := timespan.Span{Start: max(h.clock.toInstant(from, 0), p.earliest),
			End: h.clock.toInstant(to, p.findLatestEnd(h))}
		if p.starts = computeHull(h.open, whole); p.starts.Start < p.starts.End {
			p.horizon = h
		}
	}
	return p
}

// Reach returns the span in which occupied time can change the answer. The second
// result is false if the answer has no starts even if nothing is occupied.
func (p *Plan) Reach() (timespan.Span, bool) {
	if len(p.places) > 0 {
		return p.reachAnywhere()
	}
	if p.horizon == nil {
		return timespan.Span{}, false
	}
	around, apart := p.appointment.reach(), int64(0)
	if len(p.offer.Locations) > 0 {
		apart = int64(p.offer.LocationReach().Seconds())
	}
	return timespan.Span{Start: p.starts.Start + around.Start - apart, End: p.starts.End + around.End + apart}, true
}

// findLatestEnd returns the local time at which the last window of the date `p.to` ends. The result
// is midnight, or later if a window of the business or of a candidate lasts beyond midnight.
func (p *Plan) findLatestEnd(h *horizon) timespan.TimeOfDay {
	latest := timespan.TimeOfDay(timespan.MinutesPerDay)
	note := func(windows []timespan.Window) {
		for _, w := range windows {
			latest = max(latest, w.To)
		}
	}
	note(h.findWindows(p.to, nil))
	for _, member := range p.candidates {
		note(h.findWindows(p.to, member))
	}
	return latest
}

// computeHull returns the shortest span that covers all time that `within` shares with the spans in `spans`.
// The elements of `spans` must be normalized. If `spans` and `within` share no time, the result is empty.
func computeHull(spans []timespan.Span, within timespan.Span) timespan.Span {
	narrow := timespan.Span{Start: within.End, End: within.Start}
	for _, s := range spans {
		if s.Overlaps(within) {
			narrow.Start = min(narrow.Start, max(s.Start, within.Start))
			narrow.End = max(narrow.End, min(s.End, within.End))
		}
	}
	return narrow
}

// Find computes the bookable starts. The argument `occupied` must contain the time occupied within
// [Plan.Reach]. For a class, it must also contain the booked seats of the sessions that start in this span.
func (p *Plan) Find(occupied booking.Occupied) *Openings {
	if len(p.places) > 0 {
		return p.findAnywhere(occupied)
	}
	found := &Openings{appointment: p.appointment, candidates: p.candidates, countsStartOnce: p.question.IsPackage,
		location: p.location}
	h := p.horizon
	if h == nil {
		return found
	}
	found.clock = h.clock
	if p.appointment.isClass {
		found.class = p.question.Services[0]
		from := max(p.from, p.offer.Today(p.question.Now))
		found.sessions = h.findSessions(p.question, from, p.to, p.earliest, occupied)
		return found
	}
	s := &sweep{Openings: found, horizon: h, from: p.from, to: p.to}
	found.occupancy = newOccupancy(occupied.Busy)
	if p.location != nil && len(p.offer.Locations) > 1 {
		s.away = newAbsences(p.offer, p.location, occupied.Busy)
	}
	// The constant `usual` is the expected number of windows of a candidate on a
	// date. Each occupied span can split one run into two, and so add one run.
	const usual = 2
	runs := usual * len(p.candidates) * int(p.to-p.from+1)
	for i := range occupied.Busy {
		runs += len(occupied.Busy[i].Edges) / 2
	}
	found.runs = make([]run, 0, min(runs, 1<<16))
	s.admitAll(p.starts)
	for i, member := range p.candidates {
		s.visit(int32(i), member)
	}
	return found
}
