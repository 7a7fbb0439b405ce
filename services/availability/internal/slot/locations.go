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

// This file holds the rules for businesses with locations (places.md). All services of an appointment are served at
// one location. For each possible location, the engine makes a plan with the working time at this location. The
// answer is the union of the answers of these plans.
//
// A staff member needs time to change the location. Two bookings of a member at different locations are apart by the
// change time, counted between their services without buffers. The buffers apply in addition, as at one location:
// the times with buffers do not overlap. Thus only the longer of the change time and the buffers counts.

// newLocationsPlan returns the plan for an appointment of a business with locations.
func newLocationsPlan(offer *catalog.Snapshot, q Question) *Plan {
	var locations []*catalog.Location
	for _, l := range offer.CommonLocations(q.Services) {
		if q.isAt(l) {
			locations = append(locations, l)
		}
	}
	if len(locations) == 1 {
		return newPlanAt(offer, q, locations[0])
	}
	from, to, _ := q.clamp(offer)
	p := &Plan{offer: offer, question: q, from: from, to: to, earliest: q.findEarliestStart(offer),
		appointment: newAppointment(offer, q)}
	q.To++ // a start of the last date may belong to the next date at another location
	for _, l := range locations {
		place := newPlanAt(offer, q, l)
		p.places, p.candidates = append(p.places, place), place.candidates
	}
	return p
}

// isAt reports whether the location may serve the question. The argument `l` is nil without locations.
func (q Question) isAt(l *catalog.Location) bool {
	if l == nil {
		return q.LocationID == nil
	}
	return (q.LocationID == nil || l.ID == *q.LocationID) && !slices.Contains(q.ExcludedLocationIDs, l.ID)
}

// addTravel keeps the time of travel to the location free before and after the appointment, unless the buffers of
// the services are longer.
func (a appointment) addTravel(l *catalog.Location) {
	if l == nil || l.TravelMinutes == 0 {
		return
	}
	first, last := &a.legs[0], &a.legs[len(a.legs)-1]
	first.occupiedSpan.Start = min(first.occupiedSpan.Start, first.from-int64(l.TravelMinutes)*minute)
	last.occupiedSpan.End = max(last.occupiedSpan.End, last.to+int64(l.TravelMinutes)*minute)
}

// reachAnywhere is [Plan.Reach] for several locations.
func (p *Plan) reachAnywhere() (timespan.Span, bool) {
	var hull timespan.Span
	isNeeded := false
	for _, place := range p.places {
		reach, needed := place.Reach()
		switch {
		case !needed:
		case !isNeeded:
			hull, isNeeded = reach, true
		default:
			hull = timespan.Span{Start: min(hull.Start, reach.Start), End: max(hull.End, reach.End)}
		}
	}
	return hull, isNeeded
}

// findAnywhere is [Plan.Find] for several locations. A start is bookable
// with a candidate if it is bookable with this candidate at one of the locations.
func (p *Plan) findAnywhere(occupied booking.Occupied) *Openings {
	found := &Openings{appointment: p.appointment, candidates: p.candidates, countsStartOnce: p.question.IsPackage}
	var nonEmpty []*Openings
	for _, place := range p.places {
		o := place.Find(occupied)
		found.places = append(found.places, o)
		if len(o.runs) > 0 {
			found.clock = o.clock
			nonEmpty = append(nonEmpty, o)
		}
	}
	if len(nonEmpty) > 1 {
		found.runs = uniteRuns(nonEmpty, found.appointment.step)
	} else if len(nonEmpty) == 1 {
		found.runs = slices.Clone(nonEmpty[0].runs)
	}
	isLater := func(r run) bool { return r.date > p.to }
	found.runs = slices.DeleteFunc(found.runs, isLater)
	for _, o := range nonEmpty {
		o.runs = slices.DeleteFunc(o.runs, isLater)
	}
	return found
}

// singleStart is one start of one candidate, and the date of the working window to which the start belongs.
type singleStart struct {
	at        int64
	date      timespan.Date
	candidate int32
}

// uniteRuns returns the starts of all openings, each once for each candidate. If a start belongs to
// windows of two dates, the later date lists it, as at one location (semantics.md §2).
func uniteRuns(all []*Openings, step int64) []run {
	total := 0
	for _, o := range all {
		for _, r := range o.runs {
			total += int(r.count)
		}
	}
	starts := make([]singleStart, 0, total)
	for _, o := range all {
		for _, r := range o.runs {
			for i := range int64(r.count) {
				starts = append(starts, singleStart{at: r.first + i*step, date: r.date, candidate: r.candidate})
			}
		}
	}
	slices.SortFunc(starts, func(a, b singleStart) int {
		return cmp.Or(cmp.Compare(a.candidate, b.candidate), cmp.Compare(a.at, b.at), cmp.Compare(b.date, a.date))
	})
	starts = slices.CompactFunc(starts, func(a, b singleStart) bool { return a.candidate == b.candidate && a.at == b.at })
	var runs []run
	for _, s := range starts {
		if n := len(runs); n > 0 {
			last := &runs[n-1]
			if last.candidate == s.candidate && last.date == s.date && last.first+int64(last.count)*step == s.at {
				last.count++
				continue
			}
		}
		runs = append(runs, run{date: s.date, candidate: s.candidate, first: s.at, count: 1})
	}
	return runs
}

// findAssignmentsAnywhere returns the assignments of all candidates, in Auto-Assign order. Each candidate
// has the assignments at the first location, in the order of preference, at which the candidate is able.
func (o *Openings) findAssignmentsAnywhere(start int64) []availability.Assignment {
	order := make(map[uuid.UUID]int, len(o.candidates))
	for i, member := range o.candidates {
		order[idOf(member)] = i
	}
	idOfStaff := func(a *availability.Assignment) uuid.UUID {
		if a.StaffID == nil {
			return uuid.Nil
		}
		return *a.StaffID
	}
	var all []availability.Assignment
	isServed := make(map[uuid.UUID]bool, len(o.candidates))
	for _, place := range o.places {
		var served []uuid.UUID
		for _, a := range place.findAssignments(start) {
			if id := idOfStaff(&a); !isServed[id] {
				all, served = append(all, a), append(served, id)
			}
		}
		for _, id := range served {
			isServed[id] = true
		}
	}
	slices.SortStableFunc(all, func(a, b availability.Assignment) int {
		return cmp.Compare(order[idOfStaff(&a)], order[idOfStaff(&b)])
	})
	return all
}

func idOf(member *catalog.Staff) uuid.UUID {
	if member == nil {
		return uuid.Nil
	}
	return member.ID
}

// absence is a booking of a staff member at another location: the time of its services, and its change time.
type absence struct {
	timespan.Span
	change int64 // in seconds; the larger of the booking's change time and the present one
}

// absences holds the bookings at other locations by staff member.
type absences map[uuid.UUID][]absence

// newAbsences returns the bookings at other locations than the argument `location`.
func newAbsences(offer *catalog.Snapshot, location *catalog.Location, occupied []booking.Busy) absences {
	all := absences{}
	for i := range occupied {
		b := &occupied[i]
		if b.CapacityUnit != 0 || findLocationID(offer, b) == location.ID {
			continue
		}
		eachServed(b, func(served timespan.Span) {
			all[b.ID] = append(all[b.ID], absence{Span: served, change: findChange(offer, b.ChangeMinutes)})
		})
	}
	return all
}

// findLocationID returns the location of bookings. Bookings without a location are at the default location.
func findLocationID(offer *catalog.Snapshot, b *booking.Busy) uuid.UUID {
	if b.LocationID == uuid.Nil && len(offer.Locations) > 0 {
		return offer.Locations[0].ID
	}
	return b.LocationID
}

// findChange returns the change time in seconds between two bookings. The argument
// `sold` is the change time, in minutes, at the time of the sale of the earlier sold booking.
func findChange(offer *catalog.Snapshot, sold int) int64 {
	return int64(max(sold, offer.Bookings.LocationChangeMinutes)) * minute
}

// eachServed calls `yield` with the time of the services in each occupied span. If
// the buffers are unknown, the whole span counts.
func eachServed(b *booking.Busy, yield func(timespan.Span)) {
	edges := b.Edges
	if b.Served != nil {
		edges = b.Served
	}
	for i := 0; i+1 < len(edges); i += 2 {
		if edges[i] < edges[i+1] {
			yield(timespan.Span{Start: edges[i], End: edges[i+1]})
		}
	}
}

// hinderByDistance removes the starts at which the services of the leg are too close to bookings
// and class sessions of the staff member at other locations.
func (s *sweep) hinderByDistance(l leg, member *catalog.Staff) {
	s.blockedStarts = s.blockedStarts[:0]
	for _, a := range s.away[member.ID] {
		s.blockedStarts = append(s.blockedStarts, l.findCloseStarts(a.Span, a.change))
	}
	change := findChange(s.horizon.offer, 0)
	for _, session := range s.horizon.sessionsElsewhere[member.ID] {
		s.blockedStarts = append(s.blockedStarts, l.findCloseStarts(session, change))
	}
	s.blockedStarts = timespan.Normalize(s.blockedStarts)
	s.subtract(s.blockedStarts)
}

// findCloseStarts returns the starts of the appointment at which the services of the leg,
// without buffers, are less than `change` seconds apart from the span.
func (l leg) findCloseStarts(span timespan.Span, change int64) timespan.Span {
	return timespan.Span{Start: span.Start - change - l.to + 1, End: span.End + change - l.from}
}

func (h *horizon) addSessionElsewhere(member uuid.UUID, session timespan.Span) {
	if h.sessionsElsewhere == nil {
		h.sessionsElsewhere = map[uuid.UUID][]timespan.Span{}
	}
	h.sessionsElsewhere[member] = append(h.sessionsElsewhere[member], session)
}

// isElsewhere reports whether an appointment of the session's staff member at
// another location is too close to the session.
func (h *horizon) isElsewhere(occupied []booking.Busy, at occurrence) bool {
	if at.location == nil || len(h.offer.Locations) < 2 {
		return false
	}
	isClose := false
	for i := range occupied {
		b := &occupied[i]
		if b.ID != *at.session.StaffID || b.CapacityUnit != 0 || b.Class || findLocationID(h.offer, b) == at.location.ID {
			continue
		}
		change := findChange(h.offer, b.ChangeMinutes)
		eachServed(b, func(served timespan.Span) {
			isClose = isClose || at.Start < served.End+change && served.Start < at.End+change
		})
	}
	return isClose
}

// workSweeps computes working time over all locations. It holds one sweep for each location, and at least one.
type workSweeps []*sweep

// newWorkSweeps returns the sweeps for working time on the dates `from`..`to`.
func newWorkSweeps(offer *catalog.Snapshot, from, to timespan.Date) workSweeps {
	// The windows of a date are limited to the opening time of the
	// dates around it. Therefore the horizon includes these dates.
	if len(offer.Locations) == 0 {
		return workSweeps{{horizon: newHorizon(offer, from-2, to+2, nil)}}
	}
	var all workSweeps
	for i := range offer.Locations {
		all = append(all, &sweep{horizon: newHorizon(offer, from-2, to+2, &offer.Locations[i])})
	}
	return all
}

// findOpen returns when at least one location is open.
func (all workSweeps) findOpen() []timespan.Span {
	if len(all) == 1 {
		return all[0].horizon.open
	}
	var open []timespan.Span
	for _, s := range all {
		open = append(open, s.horizon.open...)
	}
	return timespan.Normalize(open)
}

// findWork returns when the staff member works at one of the locations. It may reuse the memory of `dst`.
func (all workSweeps) findWork(dst []timespan.Span, member *catalog.Staff) []timespan.Span {
	if len(all) == 1 {
		_, work := all[0].findWork(member)
		return work
	}
	dst = dst[:0]
	for _, s := range all {
		_, work := s.findWork(member)
		dst = append(dst, work...)
	}
	return timespan.Normalize(dst)
}

// eachLocation replaces the locations of the trial by a copy, and calls the
// function `change` for each location in the copy.
func (t *trial) eachLocation(change func(*catalog.Location)) {
	t.offer.Locations = slices.Clone(t.offer.Locations)
	for i := range t.offer.Locations {
		change(&t.offer.Locations[i])
	}
}

// openLocations opens all locations on every day completely.
func (t *trial) openLocations() {
	t.eachLocation(func(l *catalog.Location) {
		l.Overrides = nil
		if l.Hours != nil {
			hours := openWholeWeek(*l.Hours)
			l.Hours = &hours
		}
	})
}

// openAllLocations returns hours with which the staff member works at all locations on every day completely.
func openAllLocations(offer *catalog.Snapshot, m *catalog.Staff) []catalog.StaffLocation {
	all := make([]catalog.StaffLocation, len(offer.Locations))
	for i := range offer.Locations {
		all[i].LocationID = offer.Locations[i].ID
		var hours catalog.WeekHours
		if own := m.HoursAt(all[i].LocationID); own != nil {
			hours = *own
		}
		all[i].Hours = openWholeWeek(hours)
	}
	return all
}

// dropLocationChange removes the time for a change of the location, and the time of travel.
func (t *trial) dropLocationChange() {
	if len(t.offer.Locations) == 0 {
		return
	}
	t.offer.Bookings.LocationChangeMinutes = 0
	t.eachLocation(func(l *catalog.Location) { l.TravelMinutes = 0 })
	t.occupied.Busy = slices.Clone(t.occupied.Busy)
	for i := range t.occupied.Busy {
		t.occupied.Busy[i].ChangeMinutes = 0
	}
}

// findLocationChange returns the longest time in minutes that a change of the location or travel can need.
func (e *explanation) findLocationChange() int {
	longest := e.offer.Bookings.LocationChangeMinutes
	for _, l := range e.offer.CommonLocations(e.question.Services) {
		longest = max(longest, l.TravelMinutes)
	}
	for i := range e.occupied.Busy {
		longest = max(longest, e.occupied.Busy[i].ChangeMinutes)
	}
	return longest
}
