package slot

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// shift is one working window: its span, and the date on which the window begins.
type shift struct {
	timespan.Span
	date timespan.Date
}

// horizon holds the working time on all dates that can affect the answer. It is computed once per question.
type horizon struct {
	offer  *catalog.Snapshot
	clock  utcOffsets
	first  timespan.Date       // the first date whose windows are in `plan`
	plan   [][]timespan.Window // element i holds the windows of the business that begin on the date first+i
	shifts []shift             // the windows in `plan` as spans, sorted by date
	open   []timespan.Span     // union of the spans in `shifts`

	blockedTime       []timespan.Span               // the blocks of the whole business, normalized
	memberBlockedTime map[uuid.UUID][]timespan.Span // the blocks of single staff members, normalized
	teachingTime      map[uuid.UUID][]timespan.Span // the class sessions that each staff member teaches, with buffers
	closedDates       map[timespan.Date]bool        // the dates on which an override closes the business

	location *catalog.Location // the location whose opening windows are in `plan`; nil for the windows of the business
	// sessionsElsewhere holds the class sessions, without buffers, that each staff member teaches at other locations.
	sessionsElsewhere map[uuid.UUID][]timespan.Span
}

// newHorizon computes the working time on the dates `from`..`to` and on some dates before and after.
// The earlier dates are needed for class sessions that begin before `from` and last until that date.
// The later dates are needed for class sessions that begin by the date `to` and last longer. The argument
// `location` is the location at which customers are served; nil stands for a business without locations.
func newHorizon(offer *catalog.Snapshot, from, to timespan.Date, location *catalog.Location) *horizon {
	classDates := findLongestClass(offer)
	from, to = from-classDates, to+classDates
	const slack = 3 * day // UTC offsets are shorter than a day, and windows end less than a day after their date
	h := &horizon{
		offer: offer,
		first: from,
		clock: newUTCOffsets(offer.Location(), int64(from)*day-slack, int64(to)*day+slack),
		plan:  make([][]timespan.Window, to-from+1),

		location: location,
	}
	h.readOpening()
	h.shifts = h.appendShifts(nil, h.plan)
	h.open = joinShifts(nil, h.shifts)
	h.readBlocks()
	if classDates > 0 {
		h.readClosedDates()
		h.readSessions()
	}
	return h
}

// readOpening sets `plan` to the opening windows of the location or, without a location, of the business.
func (h *horizon) readOpening() {
	if h.location != nil && (h.location.Hours != nil || len(h.location.Overrides) > 0) {
		for i := range h.plan {
			h.plan[i] = h.offer.OpeningOn(h.location, h.first+timespan.Date(i))
		}
		return
	}
	for i := range h.plan {
		h.plan[i] = h.offer.Hours[(h.first + timespan.Date(i)).Weekday()]
	}
	h.override(h.plan, h.offer.Overrides)
}

// override replaces the windows of each date that has an override by the hours of the override.
func (h *horizon) override(plan [][]timespan.Window, overrides []catalog.DayOverride) {
	for i := range overrides {
		if at := int(overrides[i].Date - h.first); at >= 0 && at < len(plan) {
			plan[at] = overrides[i].Hours
		}
	}
}

// appendShifts converts the windows of a plan into spans. appendShifts merges windows of one date that overlap
// or touch. Two windows may also touch because a clock change skips the time between them (semantics.md §2).
func (h *horizon) appendShifts(dst []shift, plan [][]timespan.Window) []shift {
	var room [8]timespan.Span
	for i, windows := range plan {
		date := h.first + timespan.Date(i)
		spans := room[:0]
		for _, w := range windows {
			spans = append(spans, timespan.Span{Start: h.clock.toInstant(date, w.From),
				End: h.clock.toInstant(date, w.To)})
		}
		for _, s := range timespan.Normalize(spans) {
			dst = append(dst, shift{Span: s, date: date})
		}
	}
	return dst
}

// joinShifts returns the union of the shifts' spans, regardless of their dates. If windows of neighbouring dates
// touch or overlap, the working time is continuous (semantics.md §2). joinShifts reuses the memory of `dst`.
func joinShifts(dst []timespan.Span, shifts []shift) []timespan.Span {
	dst = dst[:0]
	for _, s := range shifts {
		dst = append(dst, s.Span)
	}
	return timespan.Normalize(dst)
}

// cut returns the parts of the shifts that lie in the opening time of the business. It reuses the memory of `dst`.
func (h *horizon) cut(dst, shifts []shift) []shift {
	dst = dst[:0]
	next := 0
	for _, s := range shifts { // shifts are sorted by start, because a window starts on its date
		for next < len(h.open) && h.open[next].End <= s.Start {
			next++
		}
		for _, o := range h.open[next:] {
			if o.Start >= s.End {
				break
			}
			part := timespan.Span{Start: max(s.Start, o.Start), End: min(s.End, o.End)}
			dst = append(dst, shift{Span: part, date: s.date})
		}
	}
	return dst
}

// readBlocks converts the blocks that overlap the dates of the horizon into spans.
func (h *horizon) readBlocks() {
	last := h.first + timespan.Date(len(h.plan)) + 1
	for i := range h.offer.Blocks {
		b := &h.offer.Blocks[i]
		if b.To.Date < h.first-1 || b.From.Date > last {
			continue
		}
		from, to := max(b.From.Date, h.first-1), min(b.To.Date, last)
		span := timespan.Span{Start: h.clock.toInstant(from, 0), End: h.clock.toInstant(to, timespan.MinutesPerDay)}
		if from == b.From.Date {
			span.Start = h.clock.toInstant(from, b.From.Time)
		}
		if to == b.To.Date {
			span.End = h.clock.toInstant(to, b.To.Time)
		}
		h.addBlock(b.StaffIDs, span)
	}
	h.blockedTime = timespan.Normalize(h.blockedTime)
	for member, spans := range h.memberBlockedTime {
		h.memberBlockedTime[member] = timespan.Normalize(spans)
	}
}

func (h *horizon) addBlock(members []uuid.UUID, span timespan.Span) {
	if len(members) == 0 {
		h.blockedTime = append(h.blockedTime, span)
		return
	}
	if h.memberBlockedTime == nil {
		h.memberBlockedTime = make(map[uuid.UUID][]timespan.Span)
	}
	for _, id := range members {
		h.memberBlockedTime[id] = append(h.memberBlockedTime[id], span)
	}
}

// findWindows returns the working windows of the staff member m on one date of the horizon.
// If m is nil or has no own hours, findWindows returns the windows of the business.
func (h *horizon) findWindows(d timespan.Date, m *catalog.Staff) []timespan.Window {
	if m != nil && h.hasHoursAt(m) {
		windows, _ := h.offer.StaffWindows(m, h.location, d)
		return windows
	}
	if m != nil {
		for i := range m.Overrides {
			if m.Overrides[i].Date == d {
				return m.Overrides[i].Hours
			}
		}
		if m.Hours != nil {
			return m.Hours[d.Weekday()]
		}
	}
	return h.plan[d-h.first]
}

// buildMemberPlan returns the windows of a staff member's own hours, with the member's
// overrides. The second result is false if the member has neither own hours nor overrides, and
// therefore works in the windows of the business. buildMemberPlan reuses the memory of dst.
func (h *horizon) buildMemberPlan(dst [][]timespan.Window, m *catalog.Staff) ([][]timespan.Window, bool) {
	if h.hasHoursAt(m) {
		dst = append(dst[:0], h.plan...)
		for i := range dst {
			dst[i], _ = h.offer.StaffWindows(m, h.location, h.first+timespan.Date(i))
		}
		return dst, true
	}
	if m.Hours == nil && len(m.Overrides) == 0 {
		return dst, false
	}
	dst = append(dst[:0], h.plan...)
	if m.Hours != nil {
		for i := range dst {
			dst[i] = m.Hours[(h.first + timespan.Date(i)).Weekday()]
		}
	}
	h.override(dst, m.Overrides)
	return dst, true
}

// hasHoursAt reports whether the staff member has hours for single locations, and the horizon is for a location.
func (h *horizon) hasHoursAt(m *catalog.Staff) bool { return h.location != nil && len(m.At) > 0 }
