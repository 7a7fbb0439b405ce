package slot

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Explain returns the first rule that prevents the appointment from starting at the local time t of the calendar date d
// (pages.md, "Why not?"). It returns nil if [FindAssignments] returns an assignment. Explain ignores q.From and q.To.
//
// Explain does not implement any rule itself. It calls [Find] several times. In each call, only the
// first rules of the list [rules] apply, up to a different position. To disable a rule, Explain
// removes the cause of the rule from the input of Find, for example the blocks from the offer.
//
// Disabling a rule never removes a start. Therefore Explain finds the first rule that prevents the
// start by binary search. In the same way, it finds the cause, for example the block or the booking.
func Explain(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay,
	occupied booking.Occupied) *availability.Reason {
	q.From, q.To = d-1, d
	e := explanation{offer: offer, question: q, occupied: occupied, date: d,
		start: timespan.Instant(d, t, offer.Location())}
	return e.findReason()
}

// findReason returns the first rule that prevents the start, or nil if the start can be booked.
func (e *explanation) findReason() *availability.Reason {
	if e.isBookable(len(rules), allCauses) {
		return nil
	}
	if !e.isBookable(0, allCauses) {
		return e.explainImpossible()
	}
	first := sort.Search(len(rules), func(i int) bool { return !e.isBookable(i+1, allCauses) })
	reason := &availability.Reason{Rule: rules[first].code}
	if r := rules[first]; r.describe != nil {
		causes := 0
		if r.causes != nil {
			causes = sort.Search(r.causes(e), func(n int) bool { return !e.isBookable(first+1, n+1) })
		}
		r.describe(e, causes, reason)
	}
	return reason
}

// ExplainReach returns the span for which [Explain] needs the occupied time.
func ExplainReach(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay) timespan.Span {
	start, around := timespan.Instant(d, t, offer.Location()), newAppointment(offer, q).reach()
	apart := int64(offer.LocationReach().Seconds())
	return timespan.Span{Start: start + around.Start - apart, End: start + around.End + apart}
}

// FindPerformers returns the staff members who provide all services of the question that need staff, in
// Auto-Assign order. FindPerformers includes inactive members. In a package with staff per service, it returns
// the members who provide the first service. For a class, it returns the members who teach its sessions.
func FindPerformers(offer *catalog.Snapshot, q Question) []*catalog.Staff {
	activeOffer := *offer
	activeOffer.Staff = slices.Clone(offer.Staff)
	for i := range activeOffer.Staff {
		activeOffer.Staff[i].Active = true
	}
	var performers []*catalog.Staff
	if q.Services[0].IsClass() {
		for i := range offer.Staff {
			id := offer.Staff[i].ID
			if slices.ContainsFunc(q.Services[0].Classes,
				func(c catalog.ClassSession) bool { return c.StaffID != nil && *c.StaffID == id }) {
				performers = append(performers, &offer.Staff[i])
			}
		}
		return performers
	}
	q.StaffID = nil
	for _, m := range findStaff(&activeOffer, newAppointment(&activeOffer, q), q) {
		performers = append(performers, offer.StaffMember(m.ID))
	}
	return performers
}

// hasStart reports whether the appointment, or a session of the class, can begin at the instant `start`.
func (o *Openings) hasStart(start int64) bool {
	if o.class != nil {
		return slices.ContainsFunc(o.sessions, func(s session) bool { return s.Start == start })
	}
	return len(o.findCandidatesAt(start)) > 0
}

// allCauses, used as a number of causes, stands for all causes of a rule.
const allCauses = -1

// explanation is one start to explain, with the unchanged input of [Find].
type explanation struct {
	offer     *catalog.Snapshot
	question  Question
	occupied  booking.Occupied
	date      timespan.Date
	start     int64
	busySpans []busySpan // occupied time as single spans, sorted by start; computed on first use
}

// trial is a changed input of [Find], in which some rules are disabled.
type trial struct {
	offer    catalog.Snapshot
	question Question
	occupied booking.Occupied
}

// isBookable reports whether the start could be booked if only the first n elements of
// [rules] applied. The argument `causes` limits the causes of rule n, for example blocks:
// only the first `causes` of them apply. The value [allCauses] means that all causes apply.
func (e *explanation) isBookable(n, causes int) bool {
	input := trial{offer: *e.offer, question: e.question, occupied: e.occupied}
	for i := n; i < len(rules); i++ {
		rules[i].leaveOut(e, &input)
	}
	if causes != allCauses {
		rules[n-1].keep(e, &input, causes)
	}
	return Find(&input.offer, input.question, input.occupied).hasStart(e.start)
}

// explainImpossible returns the reason for a start that cannot be booked even if no rule applies. Either the
// class has no session at that time, or no staff member provides the services, or the time zone skips that time.
func (e *explanation) explainImpossible() *availability.Reason {
	unrestricted := trial{offer: *e.offer, question: e.question}
	for _, r := range rules {
		r.leaveOut(e, &unrestricted)
	}
	switch {
	case e.question.Services[0].IsClass():
		return &availability.Reason{Rule: availability.RuleNoSession}
	case len(NewPlan(&unrestricted.offer, unrestricted.question).candidates) == 0:
		return &availability.Reason{Rule: availability.RuleNotPerformed}
	}
	return &availability.Reason{Rule: availability.RuleNoSuchTime}
}

// rule is a rule that can prevent a start (pages.md, "Why not?"). The first two elements of
// [rules], which are about the choice of staff members, come before the rules that pages.md lists.
type rule struct {
	code     string
	leaveOut func(*explanation, *trial)
	// causes returns the number of causes of the rule, such as blocks. The field `causes` is nil if
	// no single cause can be identified. The function `keep` disables all causes except the first n.
	causes func(*explanation) int
	keep   func(e *explanation, asked *trial, n int)
	// describe adds details to the reason. The argument `cause` is the index of the cause if the rule has causes.
	describe func(e *explanation, cause int, reason *availability.Reason)
}

// rules contains the rules in the order in which they are checked.
//
// In this order, each rule can only remove starts that the earlier rules allow. Therefore the opening
// time comes before the rules that reduce it. For example, an override that closes a day also cancels
// the class sessions of that day, which makes the staff members of these sessions free. If class
// sessions came before overrides, an override could add starts. The slot grid comes before the advance
// limit, because the grid decides whether a start after midnight belongs to the last bookable date.
var rules = []rule{
	{code: availability.RuleNotPerformed, leaveOut: dropStaffChoice, describe: describeStaff},
	{code: availability.RuleInactive, leaveOut: activateStaff, describe: describeStaff},
	{code: availability.RuleOverride, leaveOut: dropOverrides, causes: countOverrides, keep: keepOverrides,
		describe: describeOverride},
	{code: availability.RuleClosed, leaveOut: openBusiness, describe: describeBusiness},
	{code: availability.RuleOverride, leaveOut: dropStaffOverrides, describe: describeStaff},
	{code: availability.RuleClosed, leaveOut: openStaffHours, describe: describeStaff},
	{code: availability.RuleBlock, leaveOut: dropBlocks, causes: countBlocks, keep: keepBlocks,
		describe: describeBlock},
	{code: availability.RuleClass, leaveOut: dropClasses, causes: countServices, keep: keepClasses,
		describe: describeClass},
	{code: availability.RuleBooking, leaveOut: dropBookings, causes: countBusySpans, keep: keepBusySpans,
		describe: describeBusySpan},
	{code: availability.RuleBuffer, leaveOut: dropBuffers, describe: describeBuffer},
	{code: availability.RuleGrid, leaveOut: dropGrid, describe: describeGrid},
	{code: availability.RulePast, leaveOut: dropPast},
	{code: availability.RuleNotice, leaveOut: dropNotice, describe: describeNotice},
	{code: availability.RuleAdvanceLimit, leaveOut: extendAdvanceLimit, describe: describeAdvanceLimit},
	{code: availability.RuleClassFull, leaveOut: dropTakenSeats},
}

func dropStaffChoice(_ *explanation, input *trial) { input.question.StaffID = nil }

func activateStaff(_ *explanation, input *trial) {
	input.eachMember(func(m *catalog.Staff) { m.Active = true })
}

// eachMember replaces the staff of the trial by a copy, and
// calls the function `change` for each staff member in the copy.
func (t *trial) eachMember(change func(*catalog.Staff)) {
	t.offer.Staff = slices.Clone(t.offer.Staff)
	for i := range t.offer.Staff {
		change(&t.offer.Staff[i])
	}
}

// eachService replaces the requested services by copies, and calls the function `change`
// for each copy. If a service is requested twice, both requests share one copy.
func (t *trial) eachService(change func(*catalog.Service)) {
	changed := make(map[*catalog.Service]*catalog.Service, len(t.question.Services))
	services := make([]*catalog.Service, len(t.question.Services))
	for i, s := range t.question.Services {
		if changed[s] == nil {
			own := *s
			change(&own)
			changed[s] = &own
		}
		services[i] = changed[s]
	}
	t.question.Services = services
}

func dropOverrides(_ *explanation, input *trial) { input.offer.Overrides = nil }

func countOverrides(e *explanation) int { return len(e.offer.Overrides) }

func keepOverrides(e *explanation, input *trial, n int) {
	input.offer.Overrides = e.offer.Overrides[:n]
}

func describeOverride(e *explanation, cause int, reason *availability.Reason) {
	reason.Whose, reason.Date = availability.OfBusiness, &e.offer.Overrides[cause].Date
}

func describeBusiness(_ *explanation, _ int, reason *availability.Reason) {
	reason.Whose = availability.OfBusiness
}

func describeStaff(e *explanation, _ int, reason *availability.Reason) {
	reason.Whose, reason.StaffID = availability.OfStaff, e.question.StaffID
}

func openBusiness(e *explanation, input *trial) {
	input.offer.Hours = openWholeWeek(e.offer.Hours)
	input.openLocations()
}

// openWholeWeek returns opening hours that cover every day completely. If a window in `week` lasts beyond midnight, the
// result for its weekday also covers this time. Therefore a change from the result back to `week` only removes time.
func openWholeWeek(week catalog.WeekHours) catalog.WeekHours {
	var whole catalog.WeekHours
	for weekday := range whole {
		whole[weekday] = []timespan.Window{{To: timespan.MinutesPerDay}}
		for _, w := range week[weekday] {
			whole[weekday][0].To = max(whole[weekday][0].To, w.To)
		}
	}
	return whole
}

func dropStaffOverrides(_ *explanation, input *trial) {
	input.eachMember(func(m *catalog.Staff) { m.Overrides = nil })
}

// openStaffHours extends the hours of the staff members who have their own hours, so that they work on every
// day completely. The other staff members work in the hours of the business, which another rule extends.
func openStaffHours(_ *explanation, input *trial) {
	input.eachMember(func(m *catalog.Staff) {
		if m.Hours != nil {
			hours := openWholeWeek(*m.Hours)
			m.Hours = &hours
		}
		if len(m.At) > 0 {
			m.At = openAllLocations(&input.offer, m)
		}
	})
}

// removeWorkingHours removes the limits of working time, for the business and for its staff members.
func (t *trial) removeWorkingHours() {
	for _, leaveOut := range []func(*explanation, *trial){dropOverrides, dropStaffOverrides, openStaffHours} {
		leaveOut(nil, t)
	}
	t.offer.Hours = openWholeWeek(t.offer.Hours)
	t.openLocations()
}

func dropBlocks(_ *explanation, input *trial) { input.offer.Blocks = nil }

func countBlocks(e *explanation) int { return len(e.offer.Blocks) }

func keepBlocks(e *explanation, input *trial, n int) { input.offer.Blocks = e.offer.Blocks[:n] }

func describeBlock(e *explanation, cause int, reason *availability.Reason) {
	block := &e.offer.Blocks[cause]
	reason.Whose, reason.Name, reason.From, reason.To = availability.OfBusiness, block.Reason, &block.From, &block.To
	if len(block.StaffIDs) > 0 {
		reason.Whose, reason.StaffID = availability.OfStaff, e.question.StaffID
	}
	if len(block.StaffIDs) == 1 {
		reason.StaffID = &block.StaffIDs[0]
	}
}

// dropClasses removes the class sessions that occupy staff members. If the question is
// about a class, it changes nothing, because class sessions do not prevent each other.
func dropClasses(e *explanation, input *trial) { keepClasses(e, input, 0) }

func countServices(e *explanation) int { return len(e.offer.Services) }

func keepClasses(e *explanation, input *trial, n int) {
	if e.question.Services[0].IsClass() {
		return
	}
	input.offer.Services = slices.Clone(e.offer.Services)
	for i := range input.offer.Services {
		if s := &input.offer.Services[i]; i >= n && s.IsClass() {
			s.Active = false
		}
	}
}

func describeClass(e *explanation, cause int, reason *availability.Reason) {
	describeStaff(e, cause, reason)
	reason.Name = e.offer.Services[cause].Name
}

// busySpan is one span in which a booking occupies a resource.
type busySpan struct {
	booking.Resource
	isClass    bool
	locationID uuid.UUID
	span       timespan.Span
	served     []int64 // time of the services as start and end, or nil if it is unknown
}

// listBusySpans returns the occupied time as single spans, sorted by start.
func (e *explanation) listBusySpans() []busySpan {
	if e.busySpans == nil {
		e.busySpans = []busySpan{}
		for _, b := range e.occupied.Busy {
			for i, s := range b.Spans() {
				single := busySpan{Resource: b.Resource, isClass: b.Class, locationID: b.LocationID, span: s}
				if b.Served != nil {
					single.served = b.Served[2*i : 2*i+2]
				}
				e.busySpans = append(e.busySpans, single)
			}
		}
		slices.SortStableFunc(e.busySpans, func(a, b busySpan) int { return cmp.Compare(a.span.Start, b.span.Start) })
	}
	return e.busySpans
}

func dropBookings(_ *explanation, input *trial) { input.occupied.Busy = nil }

func countBusySpans(e *explanation) int { return len(e.listBusySpans()) }

// keepBusySpans keeps the first n spans, without the time for a change of the location. This
// time belongs to the rule for buffers, which is left out whenever keepBusySpans is called.
func keepBusySpans(e *explanation, input *trial, n int) {
	input.occupied.Busy = nil
	for _, h := range e.listBusySpans()[:n] {
		input.occupied.Busy = append(input.occupied.Busy, booking.Busy{
			Resource: h.Resource, Class: h.isClass, Edges: []int64{h.span.Start, h.span.End},
			LocationID: h.locationID, Served: h.served,
		})
	}
}

func describeBusySpan(e *explanation, cause int, reason *availability.Reason) {
	h := e.listBusySpans()[cause]
	from, to := e.toLocal(h.span.Start), e.toLocal(h.span.End)
	reason.Whose, reason.From, reason.To = availability.OfBusiness, &from, &to
	if h.CapacityUnit == 0 {
		reason.Whose, reason.StaffID = availability.OfStaff, &h.ID
	}
}

// toLocal returns the local date and time of the business at the instant `at`.
func (e *explanation) toLocal(at int64) timespan.LocalDateTime {
	shown := time.Unix(at, 0).In(e.offer.Location())
	return timespan.LocalDateTime{
		Date: timespan.DateOf(shown, e.offer.Location()), Time: timespan.TimeOfDay(shown.Hour()*60 + shown.Minute()),
	}
}

func dropBuffers(_ *explanation, input *trial) {
	input.eachService(func(s *catalog.Service) { s.BufferBeforeMinutes, s.BufferAfterMinutes = 0, 0 })
	input.dropLocationChange()
}

func describeBuffer(e *explanation, _ int, reason *availability.Reason) {
	services := e.question.Services
	reason.Minutes = max(services[0].BufferBeforeMinutes, services[len(services)-1].BufferAfterMinutes)
	if len(e.offer.Locations) > 0 {
		reason.Minutes = max(reason.Minutes, e.findLocationChange())
	}
}

// dropPast sets the current time to two days before the requested date, so that no part of the
// request is in the past. If the current time is earlier than that, dropPast does not change it.
func dropPast(e *explanation, input *trial) {
	input.question.Now = time.Unix(timespan.Instant(e.date-2, 0, e.offer.Location()), 0)
	if e.question.Now.Before(input.question.Now) {
		input.question.Now = e.question.Now
	}
}

func dropNotice(_ *explanation, input *trial) { input.offer.Bookings.MinNoticeMinutes = 0 }

func describeNotice(e *explanation, _ int, reason *availability.Reason) {
	from := e.toLocal(e.question.findEarliestStart(e.offer))
	reason.Minutes, reason.From = e.offer.Bookings.MinNoticeMinutes, &from
}

// extendAdvanceLimit extends the advance limit so that it includes the requested date.
func extendAdvanceLimit(e *explanation, input *trial) {
	limit := &input.offer.Bookings.AdvanceDays
	*limit = max(*limit, int(e.date-e.offer.Today(input.question.Now)))
}

func describeAdvanceLimit(e *explanation, _ int, reason *availability.Reason) {
	last := e.offer.Today(e.question.Now) + timespan.Date(e.offer.Bookings.AdvanceDays)
	reason.Date = &last
}

func dropTakenSeats(_ *explanation, input *trial) { input.occupied.Seats = nil }

func dropGrid(_ *explanation, input *trial) {
	input.eachService(func(s *catalog.Service) { s.SlotIntervalMinutes = 1 })
}

func describeGrid(e *explanation, _ int, reason *availability.Reason) {
	reason.Minutes = e.question.Services[0].SlotIntervalMinutes
}
