package tariff

import (
	"math/big"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// List prices many items with one tariff, faster than one call of
// [Tariff.Price] for each. A List is not safe for concurrent use.
//
// It evaluates the conditions once for all items of a kind, because most purchases in a list
// have the same data. It also combines the rules that apply into one. This is possible because
// every [Change] maps a price x to a·x + b, and therefore a sequence of changes does too.
type List struct {
	tariff *Tariff
	valid  map[bought]*validRules
}

// bought is a purchase as a map key; -1 stands for an unknown number.
type bought struct {
	kind              Kind
	moment            Moment
	date              timespan.Date
	start             timespan.TimeOfDay
	party, units      int
	returning, unsure bool // of FirstBooking: false; nil
}

// validRules contains the rules whose conditions hold, and their combined effect on prices.
type validRules struct {
	rules  []scopedRule
	common *total               // set if no rule is limited to some items
	ofItem map[uuid.UUID]*total // by item, otherwise
	ofSet  map[string]*total    // by the set of the rules that cover an item, as bits; most items share a set
}

// total is the combined effect of some rules. A price of x minor units
// becomes (a·x + b) / unit. A nil total means that no rule applies.
type total struct{ a, b, unit *big.Int }

// List returns a new, empty list.
func (t *Tariff) List() *List { return &List{tariff: t, valid: map[bought]*validRules{}} }

// Amount returns the same amount as [Tariff.Price] for one unit of the item, in minor units. It ignores item.Units.
func (l *List) Amount(item Item, p Purchase) int64 {
	if item.List == 0 {
		return 0
	}
	key := boughtAs(item.Kind, p)
	valid := l.valid[key]
	if valid == nil {
		valid = l.tariff.validFor(item.Kind, p)
		l.valid[key] = valid
	}
	return valid.totalOf(item.ID, l.tariff.currency).of(item.List, l.tariff.currency.Largest())
}

func boughtAs(kind Kind, p Purchase) bought {
	b := bought{kind: kind, moment: p.Moment, date: p.Date, start: -1, party: -1, units: -1}
	if p.Start != nil {
		b.start = *p.Start
	}
	if p.PartySize != nil {
		b.party = *p.PartySize
	}
	if p.Units != nil {
		b.units = *p.Units
	}
	b.unsure = p.FirstBooking == nil
	b.returning = !b.unsure && !*p.FirstBooking
	return b
}

// validFor returns the rules for items of a kind whose conditions hold. It ends
// at the first rule that applies to all items and excludes the rules after it.
func (t *Tariff) validFor(kind Kind, p Purchase) *validRules {
	v := &validRules{ofItem: map[uuid.UUID]*total{}, ofSet: map[string]*total{}}
	named := false
	for _, r := range t.rules[kind] {
		if !r.When.holds(p) {
			continue
		}
		v.rules = append(v.rules, r)
		named = named || r.only != nil
		if r.Stop && r.only == nil {
			break
		}
	}
	if !named {
		v.common = together(v.rules, t.currency)
	}
	return v
}

func (v *validRules) totalOf(id uuid.UUID, c money.Currency) *total {
	if v.common != nil || len(v.rules) == 0 {
		return v.common
	}
	if made, known := v.ofItem[id]; known {
		return made
	}
	set, covering := make([]byte, (len(v.rules)+7)/8), make([]scopedRule, 0, len(v.rules))
	for i, r := range v.rules {
		if !r.covers(id) {
			continue
		}
		set[i/8] |= 1 << (i % 8)
		covering = append(covering, r)
		if r.Stop {
			break
		}
	}
	made, known := v.ofSet[string(set)]
	if !known {
		made = together(covering, c)
		v.ofSet[string(set)] = made
	}
	v.ofItem[id] = made
	return made
}

// together combines rules that all apply into one. The effect of the
// rules is linear, so the results for the prices 0 and 1 determine it.
func together(rules []scopedRule, c money.Currency) *total {
	if len(rules) == 0 {
		return nil
	}
	zero, one := decimal.Zero, decimal.NewFromInt(1)
	for _, r := range rules {
		zero, one = r.Change.apply(zero, c), r.Change.apply(one, c)
	}
	factor, added := one.Sub(zero), zero.Shift(int32(c.Digits)) // in minor units
	lowest := min(factor.Exponent(), added.Exponent(), 0)
	return &total{a: scaled(factor, lowest), b: scaled(added, lowest), unit: power(-lowest)}
}

// scaled returns d as a whole number of units of 10^exponent.
// This unit must not be larger than the last decimal place of d.
func scaled(d decimal.Decimal, exponent int32) *big.Int {
	return new(big.Int).Mul(d.Coefficient(), power(d.Exponent()-exponent))
}

func power(exponent int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// of returns the price for a list price, rounded half up and limited to 0..largest, as [money.Currency.Round] does.
func (t *total) of(list, largest int64) int64 {
	if t == nil {
		return list
	}
	n := new(big.Int).Mul(t.a, big.NewInt(list))
	if n.Add(n, t.b).Sign() <= 0 {
		return 0
	}
	n.Lsh(n, 1).Add(n, t.unit)
	n.Quo(n, new(big.Int).Lsh(t.unit, 1))
	if !n.IsInt64() {
		return largest
	}
	return min(largest, n.Int64())
}
