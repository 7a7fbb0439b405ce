package slot

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// appointment is the requested sequence of services, divided into legs. One provider serves each leg.
type appointment struct {
	legs     []leg
	duration int64 // seconds of service time
	step     int64 // seconds between starts: the first service's, or a minute
	staffed  bool  // the candidate is a member and serves at least one leg
	class    bool  // the request is for a class session, not for an appointment
}

// leg is a part of an appointment that one provider, a member or a capacity unit,
// serves without a break. Offsets are in seconds after the start of the appointment.
type leg struct {
	service  *catalog.Service // whose capacity units the leg occupies; nil: a member serves it
	anyOf    []*catalog.Staff // in Auto-Assign order, the members who may serve the leg; nil: the candidate does
	from, to int64            // service time
	services int              // number of consecutive services
	occupied timespan.Span    // from..to plus the buffer before the first service and after the last
}

// newAppointment joins consecutive services of one provider into legs.
func newAppointment(offer *catalog.Offer, q Question) appointment {
	first, last := q.Services[0], q.Services[len(q.Services)-1]
	a := appointment{step: int64(first.SlotIntervalMinutes) * minute, class: first.Class()}
	if q.Override {
		a.step = minute
	}
	for i, s := range q.Services {
		l := leg{services: 1, from: a.duration, to: a.duration + int64(s.DurationMinutes)*minute}
		switch {
		case len(s.StaffIDs) == 0:
			l.service = s
		case q.byService() && i > 0:
			l.anyOf = append([]*catalog.Staff{}, candidates(offer, q.Services[i:i+1], nil)...)
		default:
			a.staffed = true
		}
		a.duration = l.to
		if n := len(a.legs); n > 0 && a.legs[n-1].continues(l) {
			a.legs[n-1].to = l.to
			a.legs[n-1].services++
		} else {
			a.legs = append(a.legs, l)
		}
	}
	for i := range a.legs {
		a.legs[i].occupied = timespan.Span{Start: a.legs[i].from, End: a.legs[i].to}
	}
	a.legs[0].occupied.Start -= int64(first.BufferBeforeMinutes) * minute
	a.legs[len(a.legs)-1].occupied.End += int64(last.BufferAfterMinutes) * minute
	return a
}

// continues reports whether the provider of l also serves next.
func (l leg) continues(next leg) bool {
	return l.service == next.service && l.anyOf == nil && next.anyOf == nil
}

// reach returns the span, relative to the start of the appointment,
// in which the appointment with its buffers occupies a resource.
func (a appointment) reach() timespan.Span {
	return timespan.Span{Start: a.legs[0].occupied.Start, End: a.legs[len(a.legs)-1].occupied.End}
}

// fitting returns the starts of the appointment at which the leg's
// service time lies in the spans work. It reuses the memory of dst.
func (l leg) fitting(dst, work []timespan.Span) []timespan.Span {
	dst = dst[:0]
	for _, w := range work {
		if s := (timespan.Span{Start: w.Start - l.from, End: w.End - l.to + 1}); s.Start < s.End {
			dst = append(dst, s)
		}
	}
	return dst
}

// hindered returns the starts of the appointment at which the leg, with its buffers, would overlap the span busy.
func (l leg) hindered(busy timespan.Span) timespan.Span {
	return timespan.Span{Start: busy.Start - l.occupied.End + 1, End: busy.End - l.occupied.Start}
}

// candidates returns the members who may serve all services that need staff, in Auto-Assign
// order. If only is not nil, the member with that id is the only possible candidate.
func candidates(offer *catalog.Offer, services []*catalog.Service, only *uuid.UUID) []*catalog.Staff {
	// performed counts the staffed services that a member performs, up to the first one that the member does not.
	performed := make(map[uuid.UUID]int, len(services[0].StaffIDs))
	staffed := 0
	for _, s := range services {
		for _, id := range s.StaffIDs {
			if performed[id] == staffed {
				performed[id]++
			}
		}
		if len(s.StaffIDs) > 0 {
			staffed++
		}
	}
	members := make([]*catalog.Staff, 0, min(len(performed), len(offer.Staff)))
	for i := range offer.Staff {
		m := &offer.Staff[i]
		if m.Active && performed[m.ID] == staffed && (only == nil || *only == m.ID) {
			members = append(members, m)
		}
	}
	return members
}
