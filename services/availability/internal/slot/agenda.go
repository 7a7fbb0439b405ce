package slot

import (
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// AgendaReach returns the span for which [NewAgenda] needs the occupied time.
func AgendaReach(offer *catalog.Snapshot, from, to timespan.Date) timespan.Span {
	zone := offer.Location()
	return timespan.Span{Start: timespan.Instant(from, 0, zone), End: timespan.Instant(to+1, 0, zone)}
}

// NewAgenda returns when each active staff member of a business works, is occupied and is
// free, on the dates `from`..`to`, both included. NewAgenda follows the rules of /slots.
func NewAgenda(offer *catalog.Snapshot, from, to timespan.Date, occupied booking.Occupied) *availability.Agenda {
	s := newWorkSweeps(offer, from, to)
	h, within := s[0].horizon, []timespan.Span{AgendaReach(offer, from, to)}
	cut := func(spans []timespan.Span) []timespan.Span {
		return append([]timespan.Span{}, timespan.Intersect(nil, timespan.Normalize(spans), within)...)
	}
	busy := map[booking.Resource][]timespan.Span{}
	for _, b := range occupied.Busy {
		busy[b.Resource] = append(busy[b.Resource], b.Spans()...)
	}
	a := &availability.Agenda{Computed: true, Open: cut(timespan.Subtract(nil, s.findOpen(), h.blockedTime)),
		Members: []availability.MemberAgenda{}}
	for i := range offer.Staff {
		member := &offer.Staff[i]
		if !member.Active {
			continue
		}
		work := s.findWork(nil, member)
		work = timespan.Subtract(nil, timespan.Subtract(nil, work, h.blockedTime), h.memberBlockedTime[member.ID])
		taken := append(busy[booking.Resource{ID: member.ID}], h.teachingTime[member.ID]...)
		a.Members = append(a.Members, availability.MemberAgenda{
			StaffID: member.ID, Working: cut(work), Teaching: cut(h.teachingTime[member.ID]),
			Free: cut(timespan.Subtract(nil, work, timespan.Normalize(taken))),
		})
	}
	a.Sessions = h.listSessions(from, to, occupied)
	return a
}

// listSessions returns the sessions of all active classes on the dates `from`..`to`, with the number of booked seats.
func (h *horizon) listSessions(from, to timespan.Date, occupied booking.Occupied) []availability.ClassSession {
	all, taken := []availability.ClassSession{}, occupied.SeatsByOccurrence()
	for i := range h.offer.Services {
		s := &h.offer.Services[i]
		if !s.Active || !s.IsClass() {
			continue
		}
		h.eachScheduled(s, from, to, func(at occurrence) {
			all = append(all, availability.ClassSession{
				ID: at.session.ID, ServiceID: s.ID, Date: at.date, During: at.Span, Off: h.isOff(at),
				Taken: taken[booking.Occurrence{SessionID: at.session.ID, StartsAt: at.Start}],
			})
		})
	}
	return all
}
