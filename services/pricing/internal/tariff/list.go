package tariff

import (
	"math/big"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// PriceList computes the prices of many items with one tariff. A PriceList is faster than
// a call of [Tariff.Price] for each item. A PriceList is not safe for concurrent use.
//
// A PriceList evaluates the conditions once for all items of a kind that have the same purchase data. Most items in a
// list have the same purchase data. A PriceList also combines the rules that apply into one effect. The combination
// is possible because every [Change] maps a price x to a·x + b, and a sequence of such changes has the same form.
type PriceList struct {
	tariff *Tariff
	valid  map[purchaseKey]*validRules
}

// purchaseKey is a [Purchase] and a kind of item, as a map key. In `start`, `party` and `units`, -1 means unknown.
type purchaseKey struct {
	kind                   Kind
	moment                 Moment
	date                   timespan.Date
	start                  timespan.TimeOfDay
	party, units           int
	isReturning, isUnknown bool // isReturning: FirstBooking is false; isUnknown: FirstBooking is nil
}

// validRules contains the rules whose conditions hold, and the combined effect of these rules on prices.
type validRules struct {
	rules  []scopedRule
	common *combinedEffect               // effect on all items; nil if some of the rules apply to certain items only
	byItem map[uuid.UUID]*combinedEffect // effect by item id; used if common is nil
	// byRules maps a set of rules to the combined effect of these rules. The key is
	// a bit set with one bit per rule. Many items have the same set of rules.
	byRules map[string]*combinedEffect
}

// combinedEffect is the combined effect of several rules. A list price of x minor units
// becomes the price (a·x + b) / unit. A nil combinedEffect means that no rule applies.
type combinedEffect struct{ a, b, unit *big.Int }

// NewPriceList returns an empty price list for the tariff t.
func (t *Tariff) NewPriceList() *PriceList {
	return &PriceList{tariff: t, valid: map[purchaseKey]*validRules{}}
}

// Amount returns the price of one unit of the item, in minor units. The
// price equals the result of [Tariff.Price]. Amount ignores item.Units.
func (l *PriceList) Amount(item Item, p Purchase) int64 {
	if item.ListPrice == 0 {
		return 0
	}
	key := newPurchaseKey(item.Kind, p)
	valid := l.valid[key]
	if valid == nil {
		valid = l.tariff.selectRules(item.Kind, p)
		l.valid[key] = valid
	}
	return valid.findEffect(item.ID, l.tariff.currency).apply(item.ListPrice, l.tariff.currency.Largest())
}

func newPurchaseKey(kind Kind, p Purchase) purchaseKey {
	b := purchaseKey{kind: kind, moment: p.Moment, date: p.Date, start: -1, party: -1, units: -1}
	if p.Start != nil {
		b.start = *p.Start
	}
	if p.PartySize != nil {
		b.party = *p.PartySize
	}
	if p.Units != nil {
		b.units = *p.Units
	}
	b.isUnknown = p.FirstBooking == nil
	b.isReturning = !b.isUnknown && !*p.FirstBooking
	return b
}

// selectRules selects from the rules for the given kind of item. It returns the rules whose conditions
// hold for the purchase p. A rule with Stop that applies to all items is the last rule in the result.
func (t *Tariff) selectRules(kind Kind, p Purchase) *validRules {
	v := &validRules{byItem: map[uuid.UUID]*combinedEffect{}, byRules: map[string]*combinedEffect{}}
	hasScoped := false
	for _, r := range t.rules[kind] {
		if !r.Condition.holds(p) {
			continue
		}
		v.rules = append(v.rules, r)
		hasScoped = hasScoped || r.ids != nil
		if r.Stop && r.ids == nil {
			break
		}
	}
	if !hasScoped {
		v.common = combineRules(v.rules, t.currency)
	}
	return v
}

func (v *validRules) findEffect(id uuid.UUID, c money.Currency) *combinedEffect {
	if v.common != nil || len(v.rules) == 0 {
		return v.common
	}
	if effect, isCached := v.byItem[id]; isCached {
		return effect
	}
	ruleBits, covering := make([]byte, (len(v.rules)+7)/8), make([]scopedRule, 0, len(v.rules))
	for i, r := range v.rules {
		if !r.covers(id) {
			continue
		}
		ruleBits[i/8] |= 1 << (i % 8)
		covering = append(covering, r)
		if r.Stop {
			break
		}
	}
	effect, isCached := v.byRules[string(ruleBits)]
	if !isCached {
		effect = combineRules(covering, c)
		v.byRules[string(ruleBits)] = effect
	}
	v.byItem[id] = effect
	return effect
}

// combineRules combines rules that all apply to an item into one effect. The effect
// is linear in the price. Therefore the results for the prices 0 and 1 determine it.
func combineRules(rules []scopedRule, c money.Currency) *combinedEffect {
	if len(rules) == 0 {
		return nil
	}
	zero, one := decimal.Zero, decimal.NewFromInt(1)
	for _, r := range rules {
		zero, one = r.Change.apply(zero, c), r.Change.apply(one, c)
	}
	factor, addend := one.Sub(zero), zero.Shift(int32(c.Digits)) // in minor units
	minExponent := min(factor.Exponent(), addend.Exponent(), 0)
	return &combinedEffect{a: scaleDecimal(factor, minExponent), b: scaleDecimal(addend, minExponent),
		unit: powerOfTen(-minExponent)}
}

// scaleDecimal returns d in units of 10^`exponent`, as a whole number.
// The argument `exponent` must not be greater than the exponent of d.
func scaleDecimal(d decimal.Decimal, exponent int32) *big.Int {
	return new(big.Int).Mul(d.Coefficient(), powerOfTen(d.Exponent()-exponent))
}

func powerOfTen(exponent int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// apply returns the price for the list price `list`. The price is rounded half up
// and limited to the range from 0 to `largest`, as [money.Currency.Round] does.
func (t *combinedEffect) apply(list, largest int64) int64 {
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
