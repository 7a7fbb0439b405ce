// Package tariff computes the price to pay from a list price. It applies the pricing rules of a business, one
// after another, to the known data of a purchase (semantics.md §5; pricing_rules in charts/slotmesh/files/demo.yaml).
// The functions of the package have no side effects and use no floating-point numbers.
//
// The running price is the price after each rule, as an exact decimal. Only the result of the last rule is
// rounded, half up, to the minor unit of the currency. A negative result becomes 0. Between two rules, the
// running price may have any number of decimals and may be negative. A discount that is larger than the price
// therefore also reduces a later surcharge. The price of several units is rounded twice; see [Tariff.Price].
//
// A rule does not apply if its condition needs data that are not known yet, such as the start time or party size. A
// price in a list differs from the price of a booking for this reason only.
package tariff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// Tariff holds the pricing rules of one business, prepared for
// many items. It never changes and is safe for concurrent use.
type Tariff struct {
	currency        money.Currency
	rules           [kindCount][]scopedRule // rules by kind of item, in the order in which they apply
	timedConditions []timedCondition
}

// scopedRule is a rule and the items of one kind to which the rule applies.
type scopedRule struct {
	*Rule
	ids map[uuid.UUID]struct{} // ids of the items; nil if the rule applies to every item of the kind
}

// New returns the tariff with these rules, which may be in any order. The amounts in the rules
// are minor units of currency. New returns an error for a rule without a condition or a change.
func New(rules []Rule, currency money.Currency) (*Tariff, error) {
	ordered := slices.Clone(rules)
	slices.SortFunc(ordered, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Key, b.Key))
	})
	t := &Tariff{currency: currency}
	for i := range ordered {
		r := &ordered[i]
		if r.Condition == nil || r.Change == nil {
			return nil, fmt.Errorf("pricing rule %q lacks a condition or a change", r.Key)
		}
		if c, ok := r.Condition.(timedCondition); ok {
			t.timedConditions = append(t.timedConditions, c)
		}
		for kind := range kindCount {
			if s := r.AppliesTo[kind]; s.All || len(s.IDs) > 0 {
				t.rules[kind] = append(t.rules[kind], scopedRule{Rule: r, ids: s.idSet()})
			}
		}
	}
	return t, nil
}

// Item is an item whose price is computed.
type Item struct {
	Kind      Kind
	ID        uuid.UUID // id of the service, event or rental, which rules refer to in AppliesTo
	ListPrice int64     // list price of one unit, or of the variant or tier, in minor units; 0 if the item is free
	// Units is the number of units that are bought together, for a service with a price per
	// person. 0 means one unit. Rules for the party size apply to the price of all units together.
	Units int
}

// Price is the price of an item, with the effect of each rule.
type Price struct {
	Amount int64 // price of all units, in minor units, never negative
	// Steps has one step for each rule that applied: first the rules for one unit, then the rules for the party size.
	Steps     []Step
	UnitPrice int64 // price of one unit, before the rules for the party size
}

// Step is the effect of one rule: the exact price before and after the rule, in the major unit of the currency.
type Step struct {
	Rule          *Rule
	Before, After decimal.Decimal
}

// Price applies the rules to the item and returns the price to
// pay. The price of a free item is 0, whatever the rules are.
//
// The price of several units is computed in two parts. First, the rules that do not
// depend on the party size determine the price of one unit, which is rounded. Then the
// rules that depend on the party size change this price times the number of units.
func (t *Tariff) Price(item Item, p Purchase) Price {
	if item.ListPrice == 0 {
		return Price{}
	}
	applied := t.findApplicable(item, p)
	if item.Units <= 1 {
		amount, steps := t.applyRules(t.currency.Decimal(item.ListPrice), applied, item.ListPrice)
		return Price{Amount: amount, Steps: steps, UnitPrice: amount}
	}
	var unitRules, partyRules []*Rule
	for _, r := range applied {
		if r.Kind == rule.PartySize {
			partyRules = append(partyRules, r)
		} else {
			unitRules = append(unitRules, r)
		}
	}
	unit, steps := t.applyRules(t.currency.Decimal(item.ListPrice), unitRules, item.ListPrice)
	listOfAll := unit * int64(item.Units)
	amount, partySteps := t.applyRules(t.currency.Decimal(listOfAll), partyRules, listOfAll)
	return Price{Amount: amount, Steps: append(steps, partySteps...), UnitPrice: unit}
}

// findApplicable returns the rules that apply to the item, in the order in which they apply.
func (t *Tariff) findApplicable(item Item, p Purchase) []*Rule {
	var applied []*Rule
	for _, r := range t.rules[item.Kind] {
		if !r.covers(item.ID) || !r.Condition.holds(p) {
			continue
		}
		if applied = append(applied, r.Rule); r.Stop {
			break
		}
	}
	return applied
}

// applyRules applies the rules in their order. The argument `running` is the price before the first rule. The results
// are the rounded price in minor units and the steps. If there are no rules, the price is the argument `list`.
func (t *Tariff) applyRules(running decimal.Decimal, rules []*Rule, list int64) (int64, []Step) {
	if len(rules) == 0 {
		return list, nil
	}
	steps := make([]Step, len(rules))
	for i, r := range rules {
		after := r.Change.apply(running, t.currency)
		steps[i] = Step{Rule: r, Before: running, After: after}
		running = after
	}
	return max(0, t.currency.Round(running)), steps
}

// ValidUntil returns the first instant after m at which the price of the same
// purchase may change. The second result is false if there is no such instant.
func (t *Tariff) ValidUntil(m Moment) (int64, bool) {
	until := int64(endOfTime)
	for _, c := range t.timedConditions {
		until = min(until, c.nextTurn(m))
	}
	return until, until < endOfTime
}

func (r scopedRule) covers(id uuid.UUID) bool {
	if r.ids == nil {
		return true
	}
	_, ok := r.ids[id]
	return ok
}
