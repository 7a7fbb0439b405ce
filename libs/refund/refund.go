// Package refund says what a customer gets back of what was paid online when a booking, an order of tickets or a
// reservation is cancelled (lifecycle.md §4). It is pure.
package refund

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Policy is what the business promised when the booking was made. The zero value is no policy.
type Policy struct {
	CoolingOffHours int                        `json:"cooling_off_hours,omitempty"`
	Rules           []catalog.CancellationRule `json:"rules,omitempty"` // each HoursBefore once, in any order
	// MaxPercent bounds the share: it is the least share at the moment of any reschedule (lifecycle.md §3). Nil: no
	// bound.
	MaxPercent *int `json:"max_percent,omitempty"`
}

// Bounded returns the policy after a reschedule at which a cancellation gave this share. A later bound never rises.
func (p Policy) Bounded(percent int) Policy {
	if percent < 100 && (p.MaxPercent == nil || percent < *p.MaxPercent) {
		p.MaxPercent = &percent
	}
	return p
}

// PolicyOf is the policy of an offer.
func PolicyOf(o *catalog.Offer) Policy {
	return Policy{CoolingOffHours: o.CoolingOffHours, Rules: o.CancellationPolicy}
}

// Percent is the share of what was paid that is refunded of a booking, made at booked for start, when it is cancelled
// at t. Within the hours of cooling off, the last instant included, it is all; else what the rule says that has the
// greatest HoursBefore of those that are not more than the hours from t to the start; else nothing. Without rules it
// is all. It is never more than MaxPercent.
//
// former are the starts that the business has moved it from: the best of all starts counts.
func (p Policy) Percent(booked, start, t time.Time, former ...time.Time) int {
	percent := p.unbounded(booked, start, t)
	for _, other := range former {
		percent = max(percent, p.unbounded(booked, other, t))
	}
	if p.MaxPercent != nil {
		percent = min(percent, *p.MaxPercent)
	}
	return percent
}

func (p Policy) unbounded(booked, start, t time.Time) int {
	if len(p.Rules) == 0 || p.CoolingOffHours > 0 && !t.After(booked.Add(hours(p.CoolingOffHours))) {
		return 100
	}
	percent, closest := 0, -1
	for _, r := range p.Rules {
		if r.HoursBefore > closest && !t.After(start.Add(-hours(r.HoursBefore))) {
			percent, closest = r.RefundPercent, r.HoursBefore
		}
	}
	return percent
}

// Until is the last instant, t or later, until which [Policy.Percent] stays what it is at t; the zero time where it
// never changes.
func (p Policy) Until(booked, start, t time.Time, former ...time.Time) time.Time {
	edges := []time.Time{booked.Add(hours(p.CoolingOffHours))}
	for _, r := range p.Rules {
		edges = append(edges, start.Add(-hours(r.HoursBefore)))
		for _, other := range former {
			edges = append(edges, other.Add(-hours(r.HoursBefore)))
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

// Step is a share of what was paid that a cancellation refunds up to an instant.
type Step struct {
	Until   time.Time // the last instant of the step
	Percent int       // 1 to 100
}

// Steps returns the shares that cancellations refund from t to the start, in order of time, without spans that refund
// nothing. Its parameters are those of [Policy.Percent]. It returns nil without rules: all is refunded at any time.
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

// Share is a percentage of an amount in minor units, rounded half up.
func Share(amount int64, percent int) int64 { return (amount*int64(percent) + 50) / 100 }

func hours(n int) time.Duration { return time.Duration(n) * time.Hour }

// Owed is what is to be refunded of what was paid: an amount in minor units, and its share of that. Where the amount
// is 0, nothing is.
type Owed struct {
	Amount  int64 `json:"amount"`
	Percent int   `json:"percent"`
}

// Of is an amount of what was paid, with its share to a whole number. paid may be 0 where the amount is.
func Of(amount, paid int64) Owed {
	if amount == 0 {
		return Owed{}
	}
	return Owed{Amount: amount, Percent: int((amount*100 + paid/2) / paid)}
}
