package slot

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Refusal returns the rule that refuses a start that [Bookable] cannot serve, in the order of semantics.md §3; "" where only
// occupied time refuses it. q.From and q.To are set here.
func Refusal(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) string {
	s := newStart(offer, q, d, t)
	for _, r := range customerRules {
		if r.isBroken(s) {
			return r.code
		}
	}
	return ""
}

// Warnings returns the rules for customers that a start breaks which the owner asks for, in the order of [Refusal].
func Warnings(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) []string {
	q.Override = false
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

// start is one start of a question, as rules other than occupied time judge it.
type start struct {
	explanation
	isUnfit bool // the question names a member who does not perform the services; the others count then
}

func newStart(offer *catalog.Offer, q Question, d timespan.Date, t timespan.TimeOfDay) *start {
	q.From, q.To = d-1, d
	s := &start{explanation: explanation{offer: offer, question: q, date: d, start: timespan.Instant(d, t, offer.Location())}}
	s.isUnfit = q.StaffID != nil && !slices.ContainsFunc(Performers(offer, q), func(m *catalog.Staff) bool {
		return m.ID == *q.StaffID && m.Active
	})
	if s.isUnfit {
		s.question.StaffID = nil
	}
	return s
}

// customerRule is a rule that customers are refused by.
type customerRule struct {
	code     string
	isBroken func(*start) bool
}

// customerRules are in the order in which a refusal names them. Each assumes that those before it hold.
var customerRules = []customerRule{
	{availability.RulePast, (*start).isPast},
	{availability.RuleAdvanceLimit, (*start).isBeyondAdvanceLimit},
	{availability.RuleNotice, (*start).isTooSoon},
	{availability.RuleNoSession, (*start).hasNoSession},
	{availability.RuleClosed, (*start).isClosed},
	{availability.RuleGrid, (*start).isOffGrid},
	{availability.RuleNotPerformed, func(s *start) bool { return s.isUnfit }},
}

// isPast judges by the clock; the owner may book from the beginning of the business's today on.
func (s *start) isPast() bool {
	if s.question.Override {
		return s.start < s.question.earliest(s.offer)
	}
	return time.Unix(s.start, 0).Before(s.question.Now)
}

// isBeyondAdvanceLimit judges by the date that lists the start: a start after midnight may belong to the last date.
func (s *start) isBeyondAdvanceLimit() bool {
	last := s.offer.Today(s.question.Now) + timespan.Date(s.offer.Bookings.AdvanceDays)
	return !s.question.Override && s.date > last && !s.isPossible(limitRules...)
}

func (s *start) isTooSoon() bool { return s.start < s.question.earliest(s.offer) }

// hasNoSession reports whether a class is asked for at a time at which none of its sessions starts, whatever is closed.
func (s *start) hasNoSession() bool { return s.question.Services[0].Class() && !s.isPossible() }

// Rules that are judged together.
var (
	hourRules  = []string{availability.RuleInactive, availability.RuleOverride, availability.RuleClosed} // who works when
	gridRules  = append([]string{availability.RuleGrid}, hourRules...)
	limitRules = append([]string{availability.RulePast, availability.RuleAdvanceLimit}, gridRules...)
)

// isClosed reports whether the members who perform the services do not work for the whole of the time. It is false
// if no member performs them.
func (s *start) isClosed() bool {
	return !s.isPossible(hourRules...) && s.isPossible(availability.RuleInactive)
}

func (s *start) isOffGrid() bool { return s.isPossible(hourRules...) && !s.isPossible(gridRules...) }

// isPossible reports whether the start could be booked if only these rules were.
func (s *start) isPossible(codes ...string) bool {
	asked := s.under(codes...)
	return Find(&asked.offer, asked.question, asked.occupied).has(s.start)
}

// under returns the question as if only these rules were, and the one of who performs the services. Nothing is occupied.
func (e *explanation) under(codes ...string) trial {
	asked := trial{offer: *e.offer, question: e.question}
	for _, r := range rules {
		if !slices.Contains(codes, r.code) && r.code != availability.RuleNotPerformed {
			r.leaveOut(e, &asked)
		}
	}
	return asked
}
