package tariff

import (
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// Rule is one pricing rule. If its condition holds, it changes the
// running price of its items: the price after the rules before it.
type Rule struct {
	Key       string    // unique in a tariff
	Kind      rule.Kind // shown in the steps of a quote
	Priority  int       // lowest first; rules of one priority are ordered by key
	Condition Condition
	Change    Change
	Stop      bool // if this rule applies, no later rule does
	AppliesTo Scope
}

// Kind is a kind of priced item.
type Kind int

// The kinds of priced items.
const (
	Service Kind = iota
	Event
	Rental
	kindCount // the number of kinds
)

// Scope selects items of each kind.
type Scope [kindCount]Selection

// NewFullScope returns the scope of a rule without limits.
func NewFullScope() Scope { return Scope{{All: true}, {All: true}, {All: true}} }

// Selection contains the items that a rule applies to, all of one kind:
// all items, or those with the IDs. The zero value contains none.
type Selection struct {
	All bool
	IDs []uuid.UUID
}

// idSet returns the selected ids for lookup, or nil if all items are selected.
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

// Change is the effect of a rule on the running price: the price after
// the rules before it. It is a [Percent], an [Amount] or a [Set].
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

// NewPercent returns the change by p percent.
func NewPercent(p decimal.Decimal) Percent {
	return Percent{factor: p.Add(hundred).Shift(-2)} // shifting the decimal point is exact, unlike a division
}

var hundred = decimal.NewFromInt(100)

func (p Percent) apply(running decimal.Decimal, _ money.Currency) decimal.Decimal {
	return running.Mul(p.factor)
}

// Amount adds minor units to the running price.
type Amount int64

func (a Amount) apply(running decimal.Decimal, c money.Currency) decimal.Decimal {
	return running.Add(c.Decimal(int64(a)))
}

// Set replaces the running price with minor units.
type Set int64

func (s Set) apply(_ decimal.Decimal, c money.Currency) decimal.Decimal {
	return c.Decimal(int64(s))
}
