package slot

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// FindRefusal returns the code of the rule that prevents a start, for use after [FindAssignments]
// returned no assignment. FindRefusal checks the rules in the order of semantics.md §3. The result
// is empty if only the occupied time prevents the start. FindRefusal ignores q.From and q.To.
func FindRefusal(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay) string {
	s := newStart(offer, q, d, t)
	for _, r := range customerRules {
		if r.isBroken(s) {
			return r.code
		}
	}
	return ""
}

// FindWarnings returns the codes of those rules for customers that a start chosen by
// the owner breaks. The codes are in the order in which [FindRefusal] checks the rules.
func FindWarnings(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay) []string {
	q.IsOverride = false
	s, isPast := newStart(offer, q, d, t), false
	var broken []string
	for _, r := range customerRules {
		if r.code == availability.RuleNotice && isPast || !r.isBroken(s) {
			continue
		}
		broken, isPast = append(broken, r.code), r.code == availability.RulePast
	}
	return broken
}

// start is one start of a question. It is checked against all rules, but not against the occupied time.
type start struct {
	explanation
	// isUnfit reports that the requested staff member does not provide the services. The checks of
	// other rules then ignore the staff member.
	isUnfit bool
}

func newStart(offer *catalog.Snapshot, q Question, d timespan.Date, t timespan.TimeOfDay) *start {
	q.From, q.To = d-1, d
	s := &start{explanation: explanation{offer: offer, question: q, date: d,
		start: timespan.Instant(d, t, offer.Location())}}
	s.isUnfit = q.StaffID != nil && !slices.ContainsFunc(FindPerformers(offer, q), func(m *catalog.Staff) bool {
		return m.ID == *q.StaffID && m.Active
	})
	if s.isUnfit {
		s.question.StaffID = nil
	}
	return s
}

// customerRule is a rule that start times chosen by customers must comply with.
type customerRule struct {
	code     string
	isBroken func(*start) bool
}

// customerRules contains the rules in the order in which they are checked for a
// refusal. Each function isBroken assumes that the rules before it are not broken.
var customerRules = []customerRule{
	{availability.RulePast, (*start).isPast},
	{availability.RuleAdvanceLimit, (*start).isBeyondAdvanceLimit},
	{availability.RuleNotice, (*start).isTooSoon},
	{availability.RuleNoSession, (*start).hasNoSession},
	{availability.RuleClosed, (*start).isClosed},
	{availability.RuleGrid, (*start).isOffGrid},
	{availability.RuleNotPerformed, func(s *start) bool { return s.isUnfit }},
}

// isPast reports whether the start is before the current time. If the owner chose
// the start, isPast reports whether it is before the current date of the business.
func (s *start) isPast() bool {
	if s.question.IsOverride {
		return s.start < s.question.findEarliestStart(s.offer)
	}
	return time.Unix(s.start, 0).Before(s.question.Now)
}

// isBeyondAdvanceLimit reports whether the start belongs to a date beyond
// the advance limit. A start after midnight may belong to the previous date.
func (s *start) isBeyondAdvanceLimit() bool {
	last := s.offer.Today(s.question.Now) + timespan.Date(s.offer.Bookings.AdvanceDays)
	return !s.question.IsOverride && s.date > last && !s.isPossible(limitRules...)
}

func (s *start) isTooSoon() bool { return s.start < s.question.findEarliestStart(s.offer) }

// hasNoSession reports whether the class has no session at this start, even if the opening hours are ignored.
func (s *start) hasNoSession() bool { return s.question.Services[0].IsClass() && !s.isPossible() }

// Groups of rules that are checked together.
var (
	// hourRules are the rules of working time.
	hourRules  = []string{availability.RuleInactive, availability.RuleOverride, availability.RuleClosed}
	gridRules  = append([]string{availability.RuleGrid}, hourRules...)
	limitRules = append([]string{availability.RulePast, availability.RuleAdvanceLimit}, gridRules...)
)

// isClosed reports whether none of the staff members who provide the services works during the whole appointment.
// isClosed returns false if no staff member provides the services, because another rule reports this.
func (s *start) isClosed() bool {
	return !s.isPossible(hourRules...) && s.isPossible(availability.RuleInactive)
}

func (s *start) isOffGrid() bool { return s.isPossible(hourRules...) && !s.isPossible(gridRules...) }

// isPossible reports whether the start could be booked if only
// the rules with these codes applied and nothing were booked.
func (s *start) isPossible(codes ...string) bool {
	input := s.withRules(codes...)
	return Find(&input.offer, input.question, input.occupied).hasStart(s.start)
}

// withRules returns an input of [Find] in which nothing is occupied. In this input, only the
// rules with the given codes apply, and the rule that staff members must provide the services.
func (e *explanation) withRules(codes ...string) trial {
	input := trial{offer: *e.offer, question: e.question}
	for _, r := range rules {
		if !slices.Contains(codes, r.code) && r.code != availability.RuleNotPerformed {
			r.leaveOut(e, &input)
		}
	}
	return input
}
