package slot

import (
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// ExplainNoStarts calls yield for each date from q.From to q.To, both included, with the rule
// because of which the date has no starts. ExplainNoStarts ignores bookings. The rule is
// [availability.RuleBooking] if no single rule is the cause, or if only bookings can be the cause.
func ExplainNoStarts(offer *catalog.Snapshot, q Question, yield func(timespan.Date, string)) {
	today := offer.Today(q.Now)
	last := today + timespan.Date(offer.Bookings.AdvanceDays)
	// Dates from yesterday on are checked, because working windows of yesterday can last into today.
	reasons := findNoStartRules(offer, q, max(q.From, today-1), min(q.To, last))
	for d := q.From; d <= q.To; d++ {
		switch reason := reasons[d]; {
		case d < today-1, d < today && reason != "":
			yield(d, availability.RulePast)
		case d > last:
			yield(d, availability.RuleAdvanceLimit)
		case reason != "":
			yield(d, reason)
		default:
			yield(d, availability.RuleBooking)
		}
	}
}

// findNoStartRules returns, for each date in `from`..`to` that has no starts, the rule that is the cause.
// It assumes that nothing is booked. If no single rule is the cause, the date is not in the result.
func findNoStartRules(offer *catalog.Snapshot, q Question, from, to timespan.Date) map[timespan.Date]string {
	reasons := map[timespan.Date]string{}
	if from > to {
		return reasons
	}
	q.From, q.To = from, to
	var emptyDates []timespan.Date
	Find(offer, q, booking.Occupied{}).EachDay(from, to, func(d timespan.Date, n int) {
		if n == 0 {
			emptyDates = append(emptyDates, d)
		}
	})
	for _, r := range listNoStartRules(q) {
		counts := countStartsWithRules(offer, q, r.applied)
		for _, d := range emptyDates {
			if counts[d] == 0 && reasons[d] == "" {
				reasons[d] = r.code
			}
		}
	}
	return reasons
}

// noStartRule is a rule that can be the reason why a date has no starts. It is
// the reason if there are no starts when only the rules in `applied` are enabled.
type noStartRule struct {
	code    string
	applied []string
}

// listNoStartRules returns the rules in the order in which they are reported. The
// field `applied` of each element includes the rules of the elements before it.
func listNoStartRules(q Question) []noStartRule {
	whole := availability.RuleNotPerformed
	if q.Services[0].IsClass() {
		whole = availability.RuleNoSession
	}
	open := []string{availability.RuleInactive, availability.RuleOverride, availability.RuleClosed,
		availability.RuleBlock}
	ahead := append(open[:len(open):len(open)], availability.RulePast)
	return []noStartRule{
		{whole, nil}, {availability.RuleClosed, open}, {availability.RulePast, ahead},
		{availability.RuleNotice, append(ahead[:len(ahead):len(ahead)], availability.RuleNotice)},
	}
}

// countStartsWithRules returns the number of starts on each date from q.From
// to q.To if only the rules with these codes apply and nothing is booked.
func countStartsWithRules(offer *catalog.Snapshot, q Question, codes []string) map[timespan.Date]int {
	e := explanation{offer: offer, question: q, date: q.From}
	input := e.withRules(codes...)
	extendAdvanceLimit(&explanation{offer: offer, date: q.To}, &input)
	counts := make(map[timespan.Date]int, q.To-q.From+1)
	Find(&input.offer, input.question, input.occupied).EachDay(q.From, q.To, func(d timespan.Date, n int) {
		counts[d] = n
	})
	return counts
}
