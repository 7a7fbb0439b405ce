package tariff

import (
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/rule"
)

// Rule changes the running price of the items it applies to, when its condition holds.
type Rule struct {
	Key       string    // unique in a tariff
	Kind      rule.Kind // carried along for the steps
	Priority  int       // lowest first; rules of one priority go by key
	When      Condition
	Change    Change
	Stop      bool // no later rule is looked at once this one has applied
	AppliesTo Scope
}

// Kind is a kind of priced thing.
type Kind int

// The kinds of priced things.
const (
	Service Kind = iota
	Event
	Rental
	kinds // how many there are
)

// Scope selects items of each kind.
type Scope [kinds]Selection

// Everything is the scope of a rule that is not narrowed.
func Everything() Scope { return Scope{{All: true}, {All: true}, {All: true}} }

// Selection selects items of one kind: all, or those named; the zero value selects none.
type Selection struct {
	All bool
	IDs []uuid.UUID
}

// set returns the selected ids for lookup, nil where all are selected.
func (s Selection) set() map[uuid.UUID]struct{} {
	if s.All {
		return nil
	}
	set := make(map[uuid.UUID]struct{}, len(s.IDs))
	for _, id := range s.IDs {
		set[id] = struct{}{}
	}
	return set
}

// Change is what a rule does to the running price: [Percent], [Amount] or [Set].
type Change interface {
	apply(running decimal.Decimal, c money.Currency) decimal.Decimal
}

var (
	_ Change = Percent{}
	_ Change = Amount(0)
	_ Change = Set(0)
)

// Percent adds a part of the running price: -20 takes a fifth off.
type Percent struct{ factor decimal.Decimal }

// PercentOf returns the change by p percent.
func PercentOf(p decimal.Decimal) Percent {
	return Percent{factor: p.Add(hundred).Shift(-2)} // a shift of the point: division would not be exact
}

var hundred = decimal.NewFromInt(100)

func (p Percent) apply(running decimal.Decimal, _ money.Currency) decimal.Decimal {
	return running.Mul(p.factor)
}

// Amount adds minor units to the price of one unit.
type Amount int64

func (a Amount) apply(running decimal.Decimal, c money.Currency) decimal.Decimal {
	return running.Add(c.Decimal(int64(a)))
}

// Set replaces the running price of one unit by minor units.
type Set int64

func (s Set) apply(_ decimal.Decimal, c money.Currency) decimal.Decimal {
	return c.Decimal(int64(s))
}
