package slot

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// sweep is the state of one computation. It holds the results that
// all candidates share, and memory that is reused for each candidate.
type sweep struct {
	*Openings
	horizon  *horizon
	from, to timespan.Date   // the dates that can have a bookable start
	shared   []timespan.Span // the starts that remain after the rules that are the same for all candidates
	away     absences        // bookings at other locations; nil if the business has at most one location

	plan                [][]timespan.Window
	own, shifts         []shift
	work                []timespan.Span
	starts, spare       []timespan.Span
	next                int // index into starts
	fits, blockedStarts []timespan.Span
}

// admitAll computes the starts within the span `within` that are possible for every candidate. It
// removes the starts that clock changes, business-wide blocks or a lack of capacity units prevent. It
// also removes the starts at which no staff member can serve a leg that the candidate does not serve.
func (s *sweep) admitAll(within timespan.Span) {
	s.starts = append(s.starts, within)
	s.subtract(s.horizon.clock.appendRepeated(nil))
	for i, l := range s.appointment.legs {
		s.hinder(l, s.horizon.blockedTime)
		if l.members != nil {
			s.admitAny(i)
		}
		if l.service == nil {
			continue
		}
		s.confine(l, s.horizon.open)
		s.hinder(l, findFullSpans(s.occupancy.units[l.service.ID], l.service.Capacity))
	}
	s.shared, s.starts = s.starts, nil
}

// admitAny keeps the starts at which at least one of the leg's staff members can serve
// the leg. admitAny records these starts for each staff member as an [alternative].
func (s *sweep) admitAny(leg int) {
	l := s.appointment.legs[leg]
	before := s.starts
	var union []timespan.Span
	for _, member := range l.members {
		_, work := s.findWork(member)
		s.starts = slices.Clone(before)
		s.serve(l, member, work)
		s.alternatives = append(s.alternatives, alternative{leg: leg, member: member, starts: s.starts})
		union = append(union, s.starts...)
	}
	s.starts = timespan.Normalize(union)
}

// serve keeps the starts at which the staff member can serve the leg l.
func (s *sweep) serve(l leg, member *catalog.Staff, work []timespan.Span) {
	s.confine(l, work)
	s.hinderByMember(l, s.occupancy.members[member.ID], s.horizon.memberBlockedTime[member.ID],
		s.horizon.teachingTime[member.ID])
	if s.away != nil {
		s.hinderByDistance(l, member)
	}
}

// confine keeps the starts at which the leg l, without its buffers, lies in one of the spans in `work`.
func (s *sweep) confine(l leg, work []timespan.Span) {
	s.fits = l.findFittingStarts(s.fits, work)
	s.spare = timespan.Intersect(s.spare, s.starts, s.fits)
	s.starts, s.spare = s.spare, s.starts
}

// hinder removes the starts at which the leg, with its buffers, would overlap one of the spans in `busy`.
func (s *sweep) hinder(l leg, busy []timespan.Span) {
	s.blockedStarts = s.blockedStarts[:0]
	for _, b := range busy {
		s.blockedStarts = append(s.blockedStarts, l.findOverlappingStarts(b))
	}
	s.subtract(s.blockedStarts)
}

// hinderByMember removes the starts at which the leg would overlap the
// occupied time, the blocks or the class sessions of the staff member.
func (s *sweep) hinderByMember(l leg, edges []int64, blocked, teaching []timespan.Span) {
	s.blockedStarts = s.blockedStarts[:0]
	for i := 0; i+1 < len(edges); i += 2 {
		if edges[i] < edges[i+1] {
			s.blockedStarts = append(s.blockedStarts,
				l.findOverlappingStarts(timespan.Span{Start: edges[i], End: edges[i+1]}))
		}
	}
	for _, spans := range [...][]timespan.Span{blocked, teaching} {
		for _, b := range spans {
			s.blockedStarts = append(s.blockedStarts, l.findOverlappingStarts(b))
		}
	}
	s.blockedStarts = timespan.Normalize(s.blockedStarts)
	s.subtract(s.blockedStarts)
}

func (s *sweep) subtract(spans []timespan.Span) {
	s.spare = timespan.Subtract(s.spare, s.starts, spans)
	s.starts, s.spare = s.spare, s.starts
}

// visit finds the bookable starts of one candidate and records them as runs ([run]).
func (s *sweep) visit(candidate int32, member *catalog.Staff) {
	shifts, work := s.horizon.shifts, s.horizon.open
	if member != nil {
		shifts, work = s.findWork(member)
	}
	s.starts = append(s.starts[:0], s.shared...)
	for _, l := range s.appointment.legs {
		if l.service == nil && l.members == nil {
			s.serve(l, member, work)
		}
	}
	if s.appointment.legs[0].service != nil {
		shifts = s.horizon.shifts // the provider of the first leg determines the slot grid
	}
	s.next = 0
	for i := range shifts {
		if d := shifts[i].date; s.from <= d && d <= s.to {
			s.emit(candidate, shifts[i:])
		}
	}
}

// findWork returns the working windows of a staff member, and the
// union of these windows. Both results are valid until the next call.
func (s *sweep) findWork(member *catalog.Staff) ([]shift, []timespan.Span) {
	plan, own := s.horizon.buildMemberPlan(s.plan, member)
	s.plan = plan
	if !own {
		return s.horizon.shifts, s.horizon.open
	}
	s.own = s.horizon.appendShifts(s.own[:0], plan)
	s.shifts = s.horizon.cut(s.shifts, s.own)
	s.work = joinShifts(s.work, s.shifts)
	return s.shifts, s.work
}

// emit records, as runs, the starts that lie in the first element of the argument
// `shifts`. The other elements are later shifts, which may overlap the first one.
func (s *sweep) emit(candidate int32, shifts []shift) {
	window, later := shifts[0], findOverlapping(shifts)
	for s.seek(window.Start); s.next < len(s.starts) && s.starts[s.next].Start < window.End; s.next++ {
		piece := s.starts[s.next]
		piece.Start, piece.End = max(window.Start, piece.Start), min(window.End, piece.End)
		s.emitPiece(candidate, window, piece, later)
	}
}

// seek moves `s.next` to the index of the first span in `s.starts` that ends after t. It searches from the
// present value of `s.next`, because seek is called for working windows that are nearly sorted by start.
func (s *sweep) seek(t int64) {
	for s.next > 0 && s.starts[s.next-1].End > t {
		s.next--
	}
	for s.next < len(s.starts) && s.starts[s.next].End <= t {
		s.next++
	}
}

// findOverlapping returns the shifts after the date of shifts[0] if the first of them
// belongs to the next date and begins before shifts[0] ends. Otherwise it returns nil.
func findOverlapping(shifts []shift) []shift {
	window := shifts[0]
	for i := 1; i < len(shifts) && shifts[i].date <= window.date+1; i++ {
		if shifts[i].date == window.date {
			continue
		}
		if shifts[i].Start >= window.End {
			return nil // later shifts do not overlap either
		}
		return shifts[i:]
	}
	return nil
}

// emitPiece records the starts of the window's slot grid that lie in the span `piece`. emitPiece omits
// starts that a window of the next date also has, because the next date lists them (semantics.md §2).
func (s *sweep) emitPiece(candidate int32, window shift, piece timespan.Span, later []shift) {
	step := s.appointment.step
	for _, next := range later {
		if next.date > window.date+1 {
			break
		}
		if !next.Overlaps(piece) || (next.Start-window.Start)%step != 0 {
			continue
		}
		s.emitPiece(candidate, window, timespan.Span{Start: piece.Start, End: next.Start}, nil)
		piece.Start = max(piece.Start, next.End)
	}
	if piece.Start >= piece.End {
		return
	}
	skipped := (piece.Start - window.Start + step - 1) / step
	first := window.Start + skipped*step
	if first >= piece.End {
		return
	}
	s.runs = append(s.runs, run{
		date: window.date, candidate: candidate, first: first, count: int32((piece.End-1-first)/step) + 1,
	})
}
