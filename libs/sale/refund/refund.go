// Package refund computes which part of an online payment a customer gets back for a cancelled
// booking, order of tickets or reservation (lifecycle.md §4). The package does no I/O.
package refund

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Policy is the cancellation policy at the time of a sale. The zero value has no rules, so it refunds everything.
type Policy struct {
	CoolingOffHours int                        `json:"cooling_off_hours,omitempty"`
	Rules           []catalog.CancellationRule `json:"rules,omitempty"` // in any order, each HoursBefore at most once
	// MaxPercent is the maximal share of the payment that is refunded. This maximum is the smallest share
	// that applied at the time of any reschedule (lifecycle.md §3). Nil means that there is no maximum.
	MaxPercent *int `json:"max_percent,omitempty"`
}

// Limit returns the policy of a booking after a reschedule. The argument `percent` is
// the share that a cancellation just before the reschedule would have refunded. Limit lowers
// MaxPercent to `percent`, so that no later cancellation refunds more. It never raises MaxPercent.
func (p Policy) Limit(percent int) Policy {
	if percent < 100 && (p.MaxPercent == nil || percent < *p.MaxPercent) {
		p.MaxPercent = &percent
	}
	return p
}

// NewPolicy returns the cancellation policy of an offer.
func NewPolicy(o *catalog.Snapshot) Policy {
	return Policy{CoolingOffHours: o.CoolingOffHours, Rules: o.CancellationPolicy}
}

// Percent returns the share of the payment, in percent, that a cancellation at the instant `t` refunds.
// The booking was made at the instant `booked` and starts at the instant `start`. The rules are:
//
//   - Until CoolingOffHours after `booked`, inclusive, the share is
//     100. If the policy has no rules, the share is always 100.
//   - After that, the share is that of the rule with the greatest HoursBefore whose deadline has not passed at `t`.
//   - If the deadlines of all rules have passed, the share is 0.
//
// The share is at most MaxPercent. The argument `former` holds the starts of the booking before
// the business rescheduled it. Percent uses the start, old or new, that gives the largest share.
func (p Policy) Percent(booked, start, t time.Time, former ...time.Time) int {
	percent := p.percentByRules(booked, start, t)
	for _, other := range former {
		percent = max(percent, p.percentByRules(booked, other, t))
	}
	if p.MaxPercent != nil {
		percent = min(percent, *p.MaxPercent)
	}
	return percent
}

func (p Policy) percentByRules(booked, start, t time.Time) int {
	if len(p.Rules) == 0 || p.CoolingOffHours > 0 && !t.After(booked.Add(toDuration(p.CoolingOffHours))) {
		return 100
	}
	percent, closest := 0, -1
	for _, r := range p.Rules {
		if r.HoursBefore > closest && !t.After(start.Add(-toDuration(r.HoursBefore))) {
			percent, closest = r.RefundPercent, r.HoursBefore
		}
	}
	return percent
}

// Until returns the last instant, not before `t`, at which the result of [Policy.Percent] is the same as at
// `t`. It returns the zero time if that result never changes after `t`. The parameters are those of Percent.
func (p Policy) Until(booked, start, t time.Time, former ...time.Time) time.Time {
	edges := []time.Time{booked.Add(toDuration(p.CoolingOffHours))}
	for _, r := range p.Rules {
		edges = append(edges, start.Add(-toDuration(r.HoursBefore)))
		for _, other := range former {
			edges = append(edges, other.Add(-toDuration(r.HoursBefore)))
		}
	}
	slices.SortFunc(edges, time.Time.Compare)
	percent := p.Percent(booked, start, t, former...)
	for _, edge := range edges {
		if !edge.Before(t) && p.Percent(booked, start, edge.Add(time.Nanosecond), former...) != percent {
			return edge
		}
	}
	return time.Time{}
}

// Step is the share of a payment that cancellations refund during one period.
type Step struct {
	Until   time.Time // last instant of the period
	Percent int       // refunded share, 1 to 100
}

// Steps returns the refunded shares for cancellations between the instants `t` and `start`, in order
// of time. Steps leaves out periods without a refund. The parameters are those of [Policy.Percent].
//
// If the policy has no rules, which means that it always refunds everything, the result is nil.
func (p Policy) Steps(booked, start, t time.Time, former ...time.Time) []Step {
	if len(p.Rules) == 0 {
		return nil
	}
	var steps []Step
	for !t.After(start) {
		until := p.Until(booked, start, t, former...)
		if until.IsZero() || until.After(start) {
			until = start
		}
		if percent := p.Percent(booked, start, t, former...); percent > 0 {
			steps = append(steps, Step{Until: until, Percent: percent})
		}
		t = until.Add(time.Nanosecond)
	}
	return steps
}

// Share returns a percentage of an amount in minor units. It rounds half up.
func Share(amount int64, percent int) int64 { return (amount*int64(percent) + 50) / 100 }

func toDuration(n int) time.Duration { return time.Duration(n) * time.Hour }

// Part is the part of a payment that is refunded. Amount is in minor units;
// 0 means that nothing is refunded. Percent is the share of the payment.
type Part struct {
	Amount  int64 `json:"amount"`
	Percent int   `json:"percent"`
}

// NewPart returns the refund of an amount. Its Percent is the share of the argument `paid`,
// as a rounded whole number. The argument `paid` may be 0 only if `amount` is 0.
func NewPart(amount, paid int64) Part {
	if amount == 0 {
		return Part{}
	}
	return Part{Amount: amount, Percent: int((amount*100 + paid/2) / paid)}
}
