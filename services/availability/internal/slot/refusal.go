package slot

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// FindRefusal returns the code of the rule that prevents a start, if [FindAssignments] returns no
// assignment for the start. Rules are checked in the order of semantics.md §3. The result
// is "" if only the occupied time prevents the start. FindRefusal ignores q.From and q.To.
func FindRefusal(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) string {
	s := newStart(offer, q, d, t)
	for _, r := range customerRules {
		if r.isBroken(s) {
			return r.code
		}
	}
	return ""
}

// FindWarnings returns the codes of the rules for customers that a start
// chosen by the owner breaks. They are in the order of [FindRefusal].
func FindWarnings(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) []string {
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

// start is one start of a question. It is checked by all rules except the occupied time.
type start struct {
	explanation
	isUnfit bool // the named member does not perform the services; the other rules then ignore the member
}

func newStart(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) *start {
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

// customerRule is a rule that binds customers.
type customerRule struct {
	code     string
	isBroken func(*start) bool
}

// customerRules is the order in which rules are checked for a refusal.
// Each isBroken assumes that the rules before it are not broken.
var customerRules = []customerRule{
	{availability.RulePast, (*start).isPast},
	{availability.RuleAdvanceLimit, (*start).isBeyondAdvanceLimit},
	{availability.RuleNotice, (*start).isTooSoon},
	{availability.RuleNoSession, (*start).hasNoSession},
	{availability.RuleClosed, (*start).isClosed},
	{availability.RuleGrid, (*start).isOffGrid},
	{availability.RuleNotPerformed, func(s *start) bool { return s.isUnfit }},
}

// isPast reports whether the start is before the current time. If the owner
// asks, it reports whether the start is before the current date of the business.
func (s *start) isPast() bool {
	if s.question.IsOverride {
		return s.start < s.question.earliest(s.offer)
	}
	return time.Unix(s.start, 0).Before(s.question.Now)
}

// isBeyondAdvanceLimit reports whether the start is listed on a date beyond the
// advance limit. A start after midnight may be listed on the previous date.
func (s *start) isBeyondAdvanceLimit() bool {
	last := s.offer.Today(s.question.Now) + timespan.Date(s.offer.Bookings.AdvanceDays)
	return !s.question.IsOverride && s.date > last && !s.isPossible(limitRules...)
}

func (s *start) isTooSoon() bool { return s.start < s.question.earliest(s.offer) }

// hasNoSession reports whether the class has no session at that start, even if the opening hours are ignored.
func (s *start) hasNoSession() bool { return s.question.Services[0].Class() && !s.isPossible() }

// Groups of rules that are checked together.
var (
	hourRules  = []string{availability.RuleInactive, availability.RuleOverride, availability.RuleClosed} // working time
	gridRules  = append([]string{availability.RuleGrid}, hourRules...)
	limitRules = append([]string{availability.RulePast, availability.RuleAdvanceLimit}, gridRules...)
)

// isClosed reports whether no performing member works during the whole appointment.
// It is false if no member performs the services, because another rule reports that.
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

// withRules returns the input of [Find] with only the rules with these codes,
// and the rule that members must perform the services. Nothing is occupied.
func (e *explanation) withRules(codes ...string) trial {
	input := trial{offer: *e.offer, question: e.question}
	for _, r := range rules {
		if !slices.Contains(codes, r.code) && r.code != availability.RuleNotPerformed {
			r.leaveOut(e, &input)
		}
	}
	return input
}
