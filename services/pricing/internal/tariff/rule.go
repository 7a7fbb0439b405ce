package tariff

import (
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// Rule is one pricing rule. If its condition holds, the rule changes the running price of the
// items in AppliesTo. The running price is the price after the rules that come before this rule.
type Rule struct {
	Key  string    // identifies the rule; unique in a tariff
	Kind rule.Kind // kind of the rule, which the steps of a quote show
	// Priority is the position of the rule; the rule with the lowest number applies first. Rules with
	// the same Priority apply in the order of Key.
	Priority  int
	Condition Condition
	Change    Change
	Stop      bool // if this rule applies, later rules do not apply
	AppliesTo Scope
}

// Kind is a kind of item that has a price.
type Kind int

// The kinds of items that have a price.
const (
	Service Kind = iota
	Event
	Rental
	kindCount // the number of kinds
)

// Scope selects the items that a rule applies to, for each kind of item.
type Scope [kindCount]Selection

// NewFullScope returns the scope of a rule that applies to all items.
func NewFullScope() Scope { return Scope{{All: true}, {All: true}, {All: true}} }

// Selection selects items of one kind: all items, or the items with the ids in IDs. The zero value selects no items.
type Selection struct {
	All bool
	IDs []uuid.UUID
}

// idSet returns the selected ids as a set, or nil if all items are selected.
func (s Selection) idSet() map[uuid.UUID]struct{} {
	if s.All {
		return nil
	}
	set := make(map[uuid.UUID]struct{}, len(s.IDs))
	for _, id := range s.IDs {
		set[id] = struct{}{}
	}
	return set
}

// Change is the effect of a rule on the running price, which is the price after the
// rules that come before the rule. A Change is a [Percent], an [Amount] or a [Set].
type Change interface {
	apply(running decimal.Decimal, c money.Currency) decimal.Decimal
}

var (
	_ Change = Percent{}
	_ Change = Amount(0)
	_ Change = Set(0)
)

// Percent changes the running price by a percentage. For example, -20 reduces the price by a fifth.
type Percent struct{ factor decimal.Decimal }

// NewPercent returns the change of the running price by p percent.
func NewPercent(p decimal.Decimal) Percent {
	// Shift only moves the decimal point, so the result is exact. A division would round.
	return Percent{factor: p.Add(hundred).Shift(-2)}
}

var hundred = decimal.NewFromInt(100)

func (p Percent) apply(running decimal.Decimal, _ money.Currency) decimal.Decimal {
	return running.Mul(p.factor)
}

// Amount is a number of minor units that is added to the running price.
type Amount int64

func (a Amount) apply(running decimal.Decimal, c money.Currency) decimal.Decimal {
	return running.Add(c.Decimal(int64(a)))
}

// Set is a price in minor units that replaces the running price.
type Set int64

func (s Set) apply(_ decimal.Decimal, c money.Currency) decimal.Decimal {
	return c.Decimal(int64(s))
}
