package slot

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// appointment is the requested sequence of services, divided into legs. One
// provider, which is a staff member or a capacity unit, serves each leg.
type appointment struct {
	legs     []leg
	duration int64 // total time of the services in seconds
	// step is the number of seconds between two possible starts: the slot interval of the first
	// service, or one minute for owners.
	step      int64
	isStaffed bool // the candidate is a staff member and serves at least one leg
	isClass   bool // the request is for a class session, not for an appointment
}

// leg is a part of an appointment that one provider serves without a break. The provider is a staff
// member or a capacity unit. Times are offsets in seconds after the start of the appointment.
type leg struct {
	// service is the service whose capacity unit the leg occupies; nil if a staff member serves the leg.
	service *catalog.Service
	// members are the staff members who may serve the leg, in Auto-Assign order; nil if the candidate serves it.
	members      []*catalog.Staff
	from, to     int64 // time of the services, without buffers
	serviceCount int   // number of consecutive services in the leg
	// occupiedSpan is the span `from`..`to`, extended by the buffers before the first service and after the last one.
	occupiedSpan timespan.Span
}

// newAppointment divides the requested services into legs. Consecutive services of one provider form one leg.
func newAppointment(offer *catalog.Snapshot, q Question) appointment {
	first, last := q.Services[0], q.Services[len(q.Services)-1]
	a := appointment{step: int64(first.SlotIntervalMinutes) * minute, isClass: first.IsClass()}
	if q.IsOverride {
		a.step = minute
	}
	for i, s := range q.Services {
		l := leg{serviceCount: 1, from: a.duration, to: a.duration + int64(s.DurationMinutes)*minute}
		switch {
		case len(s.StaffIDs) == 0:
			l.service = s
		case q.hasStaffPerService() && i > 0:
			l.members = append([]*catalog.Staff{}, findCandidates(offer, q.Services[i:i+1], nil)...)
		default:
			a.isStaffed = true
		}
		a.duration = l.to
		if n := len(a.legs); n > 0 && a.legs[n-1].continues(l) {
			a.legs[n-1].to = l.to
			a.legs[n-1].serviceCount++
		} else {
			a.legs = append(a.legs, l)
		}
	}
	for i := range a.legs {
		a.legs[i].occupiedSpan = timespan.Span{Start: a.legs[i].from, End: a.legs[i].to}
	}
	a.legs[0].occupiedSpan.Start -= int64(first.BufferBeforeMinutes) * minute
	a.legs[len(a.legs)-1].occupiedSpan.End += int64(last.BufferAfterMinutes) * minute
	return a
}

// continues reports whether the provider of the leg l also serves the leg `next`.
func (l leg) continues(next leg) bool {
	return l.service == next.service && l.members == nil && next.members == nil
}

// reach returns the span, relative to the start of the appointment, in which the
// appointment can occupy a staff member or a capacity unit. The span includes the buffers.
func (a appointment) reach() timespan.Span {
	return timespan.Span{Start: a.legs[0].occupiedSpan.Start, End: a.legs[len(a.legs)-1].occupiedSpan.End}
}

// findFittingStarts returns the starts of the appointment at which the services of the leg, without
// buffers, lie in one of the spans in `work`. findFittingStarts reuses the memory of `dst`.
func (l leg) findFittingStarts(dst, work []timespan.Span) []timespan.Span {
	dst = dst[:0]
	for _, w := range work {
		if s := (timespan.Span{Start: w.Start - l.from, End: w.End - l.to + 1}); s.Start < s.End {
			dst = append(dst, s)
		}
	}
	return dst
}

// findOverlappingStarts returns the starts of the appointment at
// which the leg, with its buffers, would overlap the span `busy`.
func (l leg) findOverlappingStarts(busy timespan.Span) timespan.Span {
	return timespan.Span{Start: busy.Start - l.occupiedSpan.End + 1, End: busy.End - l.occupiedSpan.Start}
}

// findCandidates returns the active staff members who may serve all services that need staff, in
// Auto-Assign order. If `memberID` is not nil, only the staff member with this id can be in the result.
func findCandidates(offer *catalog.Snapshot, services []*catalog.Service, memberID *uuid.UUID) []*catalog.Staff {
	// performedCount counts, for each staff member, the staffed
	// services up to the first one that the member does not provide.
	performedCount := make(map[uuid.UUID]int, len(services[0].StaffIDs))
	staffedCount := 0
	for _, s := range services {
		for _, id := range s.StaffIDs {
			if performedCount[id] == staffedCount {
				performedCount[id]++
			}
		}
		if len(s.StaffIDs) > 0 {
			staffedCount++
		}
	}
	members := make([]*catalog.Staff, 0, min(len(performedCount), len(offer.Staff)))
	for i := range offer.Staff {
		m := &offer.Staff[i]
		if m.Active && performedCount[m.ID] == staffedCount && (memberID == nil || *memberID == m.ID) {
			members = append(members, m)
		}
	}
	return members
}
