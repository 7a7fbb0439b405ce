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

// occurrence is a class session on one of its dates, with its span.
type occurrence struct {
	session  *catalog.ClassSession
	location *catalog.Location // nil if the business has no locations
	date     timespan.Date
	timespan.Span
}

// eachOccurrence calls yield for each session of the service
// that takes place on the dates `from`..`to` (semantics.md §2).
//
// A session is scheduled weekly between its first and last date, or on a single date. A scheduled session does not take
// place if the business is closed on that date or the time is blocked. It does not take place either if the session's
// staff member is inactive.
func (h *horizon) eachOccurrence(service *catalog.Service, from, to timespan.Date, yield func(occurrence)) {
	h.eachScheduled(service, from, to, func(at occurrence) {
		if !h.isOff(at) {
			yield(at)
		}
	})
}

// isOff reports whether a scheduled session does not take place, for one of the reasons listed at eachOccurrence.
func (h *horizon) isOff(at occurrence) bool {
	return at.session.StaffID != nil && !h.isActive(*at.session.StaffID) || h.isClosed(at) || h.isBlocked(at)
}

// isClosed reports whether an override closes the location of the session, or the business, on the session's date.
func (h *horizon) isClosed(at occurrence) bool {
	if at.location != nil && len(at.location.Overrides) > 0 {
		return h.offer.ClosesOn(at.location, at.date)
	}
	return h.closedDates[at.date]
}

// eachScheduled calls yield for each session of the service that is scheduled on the dates `from`..`to`.
// eachScheduled includes sessions that do not take place, for example because the business is closed.
func (h *horizon) eachScheduled(service *catalog.Service, from, to timespan.Date, yield func(occurrence)) {
	for i := range service.Classes {
		c := &service.Classes[i]
		first, last := findScheduledDates(c, from, to)
		var location *catalog.Location
		if len(h.offer.Locations) > 0 {
			location = h.offer.SessionLocation(service, c)
		}
		for d := first; d <= last; d += week {
			start := h.clock.toInstant(d, c.Time)
			yield(occurrence{session: c, location: location, date: d,
				Span: timespan.Span{Start: start, End: start + int64(service.DurationMinutes)*minute}})
		}
	}
}

// week is the number of days from a weekly session to the next one.
const week = 7

// findScheduledDates returns the first date in `from`..`to` on which the session c is scheduled, and an upper
// bound for the last such date. From the first date on, the session recurs every [week] days up to this bound.
func findScheduledDates(c *catalog.ClassSession, from, to timespan.Date) (timespan.Date, timespan.Date) {
	if c.Date != nil {
		return max(*c.Date, from), min(*c.Date, to)
	}
	if c.From != nil {
		from = max(from, *c.From)
	}
	if c.To != nil {
		to = min(to, *c.To)
	}
	ahead := (int(*c.Weekday) - int(from.Weekday()) + week) % week
	return from + timespan.Date(ahead), to
}

func (h *horizon) isActive(member uuid.UUID) bool {
	m := h.offer.StaffMember(member)
	return m != nil && m.Active
}

func (h *horizon) isBlocked(at occurrence) bool {
	return overlapsAny(h.blockedTime, at.Span) ||
		at.session.StaffID != nil && overlapsAny(h.memberBlockedTime[*at.session.StaffID], at.Span)
}

// overlapsAny reports whether the span s overlaps one of the spans. The spans must be normalized.
func overlapsAny(spans []timespan.Span, s timespan.Span) bool {
	i, _ := slices.BinarySearchFunc(spans, s.Start, func(b timespan.Span, start int64) int {
		return cmp.Compare(b.End, start+1)
	})
	return i < len(spans) && spans[i].Overlaps(s)
}

// readClosedDates records the dates on which an override closes the business.
func (h *horizon) readClosedDates() {
	h.closedDates = make(map[timespan.Date]bool)
	for _, o := range h.offer.Overrides {
		if len(o.Hours) == 0 {
			h.closedDates[o.Date] = true
		}
	}
}

// readSessions records when class sessions, with their buffers, occupy staff
// members. A session occupies its staff member even if no seat is booked.
func (h *horizon) readSessions() {
	h.teachingTime = make(map[uuid.UUID][]timespan.Span)
	for i := range h.offer.Services {
		s := &h.offer.Services[i]
		if !s.Active || !s.IsClass() {
			continue
		}
		h.eachOccurrence(s, h.first, h.first+timespan.Date(len(h.plan))-1, func(at occurrence) {
			if member := at.session.StaffID; member != nil {
				h.teachingTime[*member] = append(h.teachingTime[*member], at.addBuffers(s))
				if h.location != nil && at.location != h.location {
					h.addSessionElsewhere(*member, at.Span)
				}
			}
		})
	}
}

// findLongestClass returns how many dates a class session with its buffers can last beyond
// the date of its start. The result is an upper bound for all classes of the offer. It
// includes one date for a time zone that skips a date when it crosses the date line.
func findLongestClass(offer *catalog.Snapshot) timespan.Date {
	longest := timespan.Date(0)
	for i := range offer.Services {
		if s := &offer.Services[i]; s.Active && s.IsClass() {
			minutes := s.DurationMinutes + s.BufferBeforeMinutes + s.BufferAfterMinutes +
				2*int(offer.LocationReach().Minutes())
			longest = max(longest, timespan.Date(minutes/timespan.MinutesPerDay+2))
		}
	}
	return longest
}

// addBuffers returns the span of the session, extended by the buffers of
// its service or, if it is longer, by the time of travel to the location.
func (at occurrence) addBuffers(s *catalog.Service) timespan.Span {
	before, after := s.BufferBeforeMinutes, s.BufferAfterMinutes
	if at.location != nil {
		before, after = max(before, at.location.TravelMinutes), max(after, at.location.TravelMinutes)
	}
	return timespan.Span{Start: at.Start - int64(before)*minute, End: at.End + int64(after)*minute}
}

// session is a class session that can be booked, on one of its dates.
type session struct {
	occurrence
	member    *catalog.Staff // the staff member; nil if the session has none
	remaining int
}

// findSessions returns the class sessions on the dates `from`..`to`
// that can be booked and start at or after the instant `earliest`.
//
// A session cannot be booked if an appointment occupies its staff member at that time. Another session
// of the same staff member does not prevent a booking, because the owner scheduled both sessions.
func (h *horizon) findSessions(q Question, from, to timespan.Date, earliest int64,
	occupied booking.Occupied) []session {
	class, taken, busy := q.Services[0], occupied.SeatsByOccurrence(), groupAppointmentTime(occupied.Busy)
	var sessions []session
	h.eachOccurrence(class, from, to, func(at occurrence) {
		found := session{occurrence: at,
			remaining: at.session.Capacity - taken[booking.Occurrence{SessionID: at.session.ID, StartsAt: at.Start}]}
		if member := at.session.StaffID; member != nil {
			found.member = h.offer.StaffMember(*member)
			if slices.ContainsFunc(busy[*member], at.addBuffers(class).Overlaps) || h.isElsewhere(occupied.Busy, at) {
				return
			}
		}
		if found.remaining >= max(1, q.PartySize) && at.Start >= earliest && q.wants(at.session) && q.isAt(at.location) {
			sessions = append(sessions, found)
		}
	})
	slices.SortStableFunc(sessions, compareSessions)
	return sessions
}

// wants reports whether the session c has the session id and the staff member that the question asks for.
func (q Question) wants(c *catalog.ClassSession) bool {
	return (q.SessionID == nil || *q.SessionID == c.ID) &&
		(q.StaffID == nil || c.StaffID != nil && *q.StaffID == *c.StaffID)
}

// groupAppointmentTime returns, by staff member, the time that bookings of
// appointments occupy. groupAppointmentTime ignores bookings of class sessions.
func groupAppointmentTime(occupied []booking.Busy) map[uuid.UUID][]timespan.Span {
	busy := make(map[uuid.UUID][]timespan.Span, len(occupied))
	for _, b := range occupied {
		if b.CapacityUnit == 0 && !b.Class {
			busy[b.ID] = append(busy[b.ID], b.Spans()...)
		}
	}
	return busy
}

// compareSessions defines the order in which slots are listed: by start, then by staff member, then by
// the key of the session. Among sessions with the same start, those without a staff member come last.
func compareSessions(a, b session) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), compareMembers(a.member, b.member),
		cmp.Compare(a.session.Key, b.session.Key))
}

func compareMembers(a, b *catalog.Staff) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
}

// appendSessions appends the slots of the sessions on the date d.
func (o *Openings) appendSessions(slots []Slot, d timespan.Date) []Slot {
	for i := range o.sessions {
		s := &o.sessions[i]
		if s.date != d {
			continue
		}
		date, from := o.clock.toLocal(s.Start)
		_, end := o.clock.toLocal(s.End)
		slots = append(slots, Slot{
			Staff: s.member, Start: s.Start, Date: date, Time: from, End: end, DateOffset: int(date - d),
			Session: s.session, Remaining: int32(s.remaining),
		})
	}
	return slots
}

// findSessionAssignments returns one assignment for each class session that begins at the instant
// `start`, sorted by the key of the session. Booking uses the first assignment with enough free seats.
func (o *Openings) findSessionAssignments(start int64) []availability.Assignment {
	var found []session
	for _, s := range o.sessions {
		if s.Start == start {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b session) int { return cmp.Compare(a.session.Key, b.session.Key) })
	assignments := make([]availability.Assignment, 0, len(found))
	for _, s := range found {
		c := availability.Assignment{
			During: s.Span, StaffID: s.session.StaffID, Parts: []availability.Part{},
			Session: &availability.Session{ID: s.session.ID, Capacity: s.session.Capacity, Remaining: s.remaining},
		}
		if s.member != nil {
			c.Parts = appendPart(c.Parts, s.member.ID, 0, s.addBuffers(o.class))
		}
		if s.location != nil {
			c.LocationID = &s.location.ID
		}
		assignments = append(assignments, c)
	}
	return assignments
}
