package slot

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Explain returns the first rule that prevents the appointment from starting at the local time t of the calendar date
// d (pages.md, "Why not?"). It returns nil if [Bookable] returns an assignment. Explain ignores q.From and q.To.
//
// Explain does not implement any rule itself. It calls [Find] several times, each time
// without the rules after some position in their order. To leave out a rule, it removes
// the rule's cause from the input of Find, for example the blocks from the offer.
//
// Leaving out a rule never removes a start. Therefore a binary search finds the first
// rule that prevents the start, and the cause: for example which block or which booking.
func Explain(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay,
	occupied booking.Occupied) *availability.Reason {
	q.From, q.To = d-1, d
	e := explanation{offer: offer, question: q, occupied: occupied, date: d,
		start: timespan.Instant(d, t, offer.Location())}
	return e.reason()
}

// reason returns the first rule that prevents the start, or nil if it can be booked.
func (e *explanation) reason() *availability.Reason {
	if e.bookable(len(rules), all) {
		return nil
	}
	if !e.bookable(0, all) {
		return e.impossible()
	}
	first := sort.Search(len(rules), func(i int) bool { return !e.bookable(i+1, all) })
	reason := &availability.Reason{Rule: rules[first].code}
	if r := rules[first]; r.describe != nil {
		causes := 0
		if r.causes != nil {
			causes = sort.Search(r.causes(e), func(n int) bool { return !e.bookable(first+1, n+1) })
		}
		r.describe(e, causes, reason)
	}
	return reason
}

// ExplainReach returns the span in which [Explain] needs the occupied time.
func ExplainReach(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) timespan.Span {
	start, around := timespan.Instant(d, t, offer.Location()), newAppointment(offer, q).reach()
	return timespan.Span{Start: start + around.Start, End: start + around.End}
}

// Performers returns the members who perform all services of the question that need staff, in
// Auto-Assign order. It includes inactive members. In a package with staff per service, it returns the
// members who perform the first service. For a class, it returns the members who give its sessions.
func Performers(offer *catalog.Offer, q Question) []*catalog.Staff {
	everybody := *offer
	everybody.Staff = slices.Clone(offer.Staff)
	for i := range everybody.Staff {
		everybody.Staff[i].Active = true
	}
	var performers []*catalog.Staff
	if q.Services[0].Class() {
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
	for _, m := range staffFor(&everybody, newAppointment(&everybody, q), q) {
		performers = append(performers, offer.StaffMember(m.ID))
	}
	return performers
}

// has reports whether the appointment or a session can begin at start.
func (o *Openings) has(start int64) bool {
	if o.class != nil {
		return slices.ContainsFunc(o.sessions, func(s session) bool { return s.Start == start })
	}
	return len(o.ableAt(start)) > 0
}

// all stands for all causes of a rule.
const all = -1

// explanation is one start to explain, with the real input.
type explanation struct {
	offer    *catalog.Offer
	question Question
	occupied booking.Occupied
	date     timespan.Date
	start    int64
	held     []held // of occupied, by start; computed on first use
}

// trial is changed input for [Find].
type trial struct {
	offer    catalog.Offer
	question Question
	occupied booking.Occupied
}

// bookable reports whether the start could be booked if only the first n rules
// applied. Of the last of these rules, only the first causes apply (for example
// the first blocks); the parameter causes is their number. [all] means all causes.
func (e *explanation) bookable(n, causes int) bool {
	asked := trial{offer: *e.offer, question: e.question, occupied: e.occupied}
	for i := n; i < len(rules); i++ {
		rules[i].leaveOut(e, &asked)
	}
	if causes != all {
		rules[n-1].keep(e, &asked, causes)
	}
	return Find(&asked.offer, asked.question, asked.occupied).has(e.start)
}

// impossible returns the reason for a start that cannot be booked even without any rule. Either
// there is no class session, or no member performs the services, or the zone skips that date.
func (e *explanation) impossible() *availability.Reason {
	everybody := trial{offer: *e.offer, question: e.question}
	for _, r := range rules {
		r.leaveOut(e, &everybody)
	}
	switch {
	case e.question.Services[0].Class():
		return &availability.Reason{Rule: availability.RuleNoSession}
	case len(NewPlan(&everybody.offer, everybody.question).candidates) == 0:
		return &availability.Reason{Rule: availability.RuleNotPerformed}
	}
	return &availability.Reason{Rule: availability.RuleNoSuchTime}
}

// rule is a rule that can prevent a start, in the order in which rules are reported (pages.md, "Why
// not?"). The first two rules, which are about the members who serve, come before those of pages.md.
type rule struct {
	code     string
	leaveOut func(*explanation, *trial)
	// causes returns the number of the rule's causes, if each
	// can be named; keep leaves out all but the first n of them.
	causes func(*explanation) int
	keep   func(e *explanation, asked *trial, n int)
	// describe sets the details of the reason, for the cause with this index if the rule has causes.
	describe func(e *explanation, cause int, reason *availability.Reason)
}

// rules is the order in which rules are checked.
//
// Opening time comes before the rules that reduce it, so that each rule only removes starts from
// those that the earlier rules leave. For example, an override that closes a day cancels its class
// sessions, and so frees the time of their members. The grid comes before the advance limit,
// because the grid decides whether a start after midnight belongs to the last bookable date.
var rules = []rule{
	{code: availability.RuleNotPerformed, leaveOut: anybody, describe: ofStaff},
	{code: availability.RuleInactive, leaveOut: everybodyActive, describe: ofStaff},
	{code: availability.RuleOverride, leaveOut: noOverrides, causes: countOverrides, keep: keepOverrides,
		describe: describeOverride},
	{code: availability.RuleClosed, leaveOut: alwaysOpen, describe: ofBusiness},
	{code: availability.RuleOverride, leaveOut: noOverridesOfStaff, describe: ofStaff},
	{code: availability.RuleClosed, leaveOut: staffAlwaysThere, describe: ofStaff},
	{code: availability.RuleBlock, leaveOut: noBlocks, causes: countBlocks, keep: keepBlocks, describe: describeBlock},
	{code: availability.RuleClass, leaveOut: noClasses, causes: countServices, keep: keepClasses,
		describe: describeClass},
	{code: availability.RuleBooking, leaveOut: noBookings, causes: countHeld, keep: keepHeld, describe: describeHeld},
	{code: availability.RuleBuffer, leaveOut: noBuffers, describe: describeBuffer},
	{code: availability.RuleGrid, leaveOut: everyMinute, describe: describeGrid},
	{code: availability.RulePast, leaveOut: longAgo},
	{code: availability.RuleNotice, leaveOut: noNotice, describe: describeNotice},
	{code: availability.RuleAdvanceLimit, leaveOut: noAdvanceLimit, describe: describeAdvanceLimit},
	{code: availability.RuleClassFull, leaveOut: noSeatsTaken},
}

func anybody(_ *explanation, asked *trial) { asked.question.StaffID = nil }

func everybodyActive(_ *explanation, asked *trial) {
	asked.eachMember(func(m *catalog.Staff) { m.Active = true })
}

// eachMember changes the members in a copy of the trial's staff.
func (t *trial) eachMember(change func(*catalog.Staff)) {
	t.offer.Staff = slices.Clone(t.offer.Staff)
	for i := range t.offer.Staff {
		change(&t.offer.Staff[i])
	}
}

// eachService replaces the requested services by copies and calls change for
// each copy. If a service is requested twice, both requests share one copy.
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

func noOverrides(_ *explanation, asked *trial) { asked.offer.Overrides = nil }

func countOverrides(e *explanation) int { return len(e.offer.Overrides) }

func keepOverrides(e *explanation, asked *trial, n int) {
	asked.offer.Overrides = e.offer.Overrides[:n]
}

func describeOverride(e *explanation, cause int, reason *availability.Reason) {
	reason.Whose, reason.Date = availability.OfBusiness, &e.offer.Overrides[cause].Date
}

func ofBusiness(_ *explanation, _ int, reason *availability.Reason) {
	reason.Whose = availability.OfBusiness
}

func ofStaff(e *explanation, _ int, reason *availability.Reason) {
	reason.Whose, reason.StaffID = availability.OfStaff, e.question.StaffID
}

func alwaysOpen(e *explanation, asked *trial) { asked.offer.Hours = wholeWeek(e.offer.Hours) }

// wholeWeek returns opening hours that cover every day completely, and the hours after midnight into which windows
// of that weekday last. Therefore the change back to the real hours only removes time, also after midnight.
func wholeWeek(week catalog.WeekHours) catalog.WeekHours {
	var whole catalog.WeekHours
	for weekday := range whole {
		whole[weekday] = []timespan.Window{{To: timespan.MinutesPerDay}}
		for _, w := range week[weekday] {
			whole[weekday][0].To = max(whole[weekday][0].To, w.To)
		}
	}
	return whole
}

func noOverridesOfStaff(_ *explanation, asked *trial) {
	asked.eachMember(func(m *catalog.Staff) { m.Overrides = nil })
}

// staffAlwaysThere opens the hours of the members who have their
// own hours. The other members work in the hours of the business.
func staffAlwaysThere(_ *explanation, asked *trial) {
	asked.eachMember(func(m *catalog.Staff) {
		if m.Hours != nil {
			hours := wholeWeek(*m.Hours)
			m.Hours = &hours
		}
	})
}

// workAlways removes the limits of working time, for the business and for its members.
func (t *trial) workAlways() {
	for _, leaveOut := range []func(*explanation, *trial){noOverrides, noOverridesOfStaff, staffAlwaysThere} {
		leaveOut(nil, t)
	}
	t.offer.Hours = wholeWeek(t.offer.Hours)
}

func noBlocks(_ *explanation, asked *trial) { asked.offer.Blocks = nil }

func countBlocks(e *explanation) int { return len(e.offer.Blocks) }

func keepBlocks(e *explanation, asked *trial, n int) { asked.offer.Blocks = e.offer.Blocks[:n] }

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

// noClasses removes the class sessions that occupy members. If the question is
// about a class, it changes nothing, because classes do not prevent each other.
func noClasses(e *explanation, asked *trial) { keepClasses(e, asked, 0) }

func countServices(e *explanation) int { return len(e.offer.Services) }

func keepClasses(e *explanation, asked *trial, n int) {
	if e.question.Services[0].Class() {
		return
	}
	asked.offer.Services = slices.Clone(e.offer.Services)
	for i := range asked.offer.Services {
		if s := &asked.offer.Services[i]; i >= n && s.Class() {
			s.Active = false
		}
	}
}

func describeClass(e *explanation, cause int, reason *availability.Reason) {
	ofStaff(e, cause, reason)
	reason.Name = e.offer.Services[cause].Name
}

// held is one span of occupied time.
type held struct {
	booking.Resource
	class bool
	span  timespan.Span
}

// spans returns the occupied time as single spans, by start.
func (e *explanation) spans() []held {
	if e.held == nil {
		e.held = []held{}
		for _, b := range e.occupied.Busy {
			for _, s := range b.Spans() {
				e.held = append(e.held, held{b.Resource, b.Class, s})
			}
		}
		slices.SortStableFunc(e.held, func(a, b held) int { return cmp.Compare(a.span.Start, b.span.Start) })
	}
	return e.held
}

func noBookings(_ *explanation, asked *trial) { asked.occupied.Busy = nil }

func countHeld(e *explanation) int { return len(e.spans()) }

func keepHeld(e *explanation, asked *trial, n int) {
	asked.occupied.Busy = nil
	for _, h := range e.spans()[:n] {
		asked.occupied.Busy = append(asked.occupied.Busy, booking.Busy{
			Resource: h.Resource, Class: h.class, Edges: []int64{h.span.Start, h.span.End},
		})
	}
}

func describeHeld(e *explanation, cause int, reason *availability.Reason) {
	h := e.spans()[cause]
	from, to := e.local(h.span.Start), e.local(h.span.End)
	reason.Whose, reason.From, reason.To = availability.OfBusiness, &from, &to
	if h.Lane == 0 {
		reason.Whose, reason.StaffID = availability.OfStaff, &h.ID
	}
}

// local returns what the business's clock shows at an instant.
func (e *explanation) local(at int64) timespan.LocalDateTime {
	shown := time.Unix(at, 0).In(e.offer.Location())
	return timespan.LocalDateTime{
		Date: timespan.DateOf(shown, e.offer.Location()), Time: timespan.TimeOfDay(shown.Hour()*60 + shown.Minute()),
	}
}

func noBuffers(_ *explanation, asked *trial) {
	asked.eachService(func(s *catalog.Service) { s.BufferBeforeMinutes, s.BufferAfterMinutes = 0, 0 })
}

func describeBuffer(e *explanation, _ int, reason *availability.Reason) {
	services := e.question.Services
	reason.Minutes = max(services[0].BufferBeforeMinutes, services[len(services)-1].BufferAfterMinutes)
}

// longAgo sets the current time to two days before the requested date, so that no part
// of the request is in the past. If the current time is earlier already, it stays.
func longAgo(e *explanation, asked *trial) {
	asked.question.Now = time.Unix(timespan.Instant(e.date-2, 0, e.offer.Location()), 0)
	if e.question.Now.Before(asked.question.Now) {
		asked.question.Now = e.question.Now
	}
}

func noNotice(_ *explanation, asked *trial) { asked.offer.Bookings.MinNoticeMinutes = 0 }

func describeNotice(e *explanation, _ int, reason *availability.Reason) {
	from := e.local(e.question.earliest(e.offer))
	reason.Minutes, reason.From = e.offer.Bookings.MinNoticeMinutes, &from
}

// noAdvanceLimit extends the advance limit to the date.
func noAdvanceLimit(e *explanation, asked *trial) {
	limit := &asked.offer.Bookings.AdvanceDays
	*limit = max(*limit, int(e.date-e.offer.Today(asked.question.Now)))
}

func describeAdvanceLimit(e *explanation, _ int, reason *availability.Reason) {
	last := e.offer.Today(e.question.Now) + timespan.Date(e.offer.Bookings.AdvanceDays)
	reason.Date = &last
}

func noSeatsTaken(_ *explanation, asked *trial) { asked.occupied.Seats = nil }

func everyMinute(_ *explanation, asked *trial) {
	asked.eachService(func(s *catalog.Service) { s.SlotIntervalMinutes = 1 })
}

func describeGrid(e *explanation, _ int, reason *availability.Reason) {
	reason.Minutes = e.question.Services[0].SlotIntervalMinutes
}
