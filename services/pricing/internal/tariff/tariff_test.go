package tariff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var (
	eur = money.Currency{Code: "EUR", Digits: 2}
	jpy = money.Currency{Code: "JPY", Digits: 0}
	bhd = money.Currency{Code: "BHD", Digits: 3}

	cut   = uuid.MustParse("00000000-0000-4000-8000-000000000001")
	kayak = uuid.MustParse("00000000-0000-4000-8000-000000000002")
)

func parsePercent(p string) Change { return NewPercent(decimal.RequireFromString(p)) }

func newTariff(t *testing.T, c money.Currency, rules ...Rule) *Tariff {
	t.Helper()
	for i := range rules {
		if rules[i].Condition == nil {
			rules[i].Condition = alwaysCondition
		}
		if rules[i].AppliesTo.isEmpty() {
			rules[i].AppliesTo = NewFullScope()
		}
	}
	tariff, err := New(rules, c)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

// alwaysCondition holds on every date.
var alwaysCondition = Season{From: parseDate("0001-01-01"), To: parseDate("9999-12-31")}

func (s Scope) isEmpty() bool {
	for _, sel := range s {
		if sel.All || len(sel.IDs) > 0 {
			return false
		}
	}
	return true
}

func TestPriceListLimitsAmountsLikePrice(t *testing.T) {
	t.Parallel()
	huge := make([]Rule, 40)
	for i := range huge {
		huge[i] = Rule{Key: strings.Repeat("r", i+1), Change: parsePercent("900")}
	}
	for name, rules := range map[string][]Rule{
		"far above": huge, "above": huge[:12], "below": {{Key: "less", Change: Amount(-5000)}},
		"half a minor unit": {{Key: "half", Change: parsePercent("-50")}},
	} {
		tariff := newTariff(t, eur, rules...)
		item := Item{Kind: Service, ID: cut, ListPrice: 1001}
		if got, want := tariff.NewPriceList().Amount(item, Purchase{}),
			tariff.Price(item, Purchase{}).Amount; got != want {
			t.Errorf("%s: %d on a list, %d alone", name, got, want)
		}
	}
}

func intPointer(v int) *int { return &v }

func purchaseOn(date string) Purchase { return Purchase{Date: parseDate(date)} }

func purchaseDaysAhead(days int) Purchase {
	return Purchase{Moment: Moment{Today: parseDate("2026-11-21")}, Date: parseDate("2026-11-21") + timespan.Date(days)}
}

func newYearly(from, to string) Condition {
	return Yearly{From: NewMonthDay(parseDate("2000-" + from)), To: NewMonthDay(parseDate("2000-" + to))}
}

func newTimeOfDay(w string) Condition { return TimeOfDay(must(timespan.ParseWindow(w))) }

func TestConditionHolds(t *testing.T) {
	t.Parallel()
	summer, winter, leap := newYearly("06-01", "08-31"), newYearly("12-20", "01-05"), newYearly("02-29", "03-02")
	weekend := newDaysOfWeek(time.Saturday, time.Sunday)
	for _, c := range []struct {
		name string
		when Condition
		p    Purchase
		want bool
	}{
		{"yearly season, first day", summer, purchaseOn("2027-06-01"), true},
		{"yearly season, last day", summer, purchaseOn("2031-08-31"), true},
		{"yearly season, day before", summer, purchaseOn("2027-05-31"), false},
		{"yearly season, day after", summer, purchaseOn("2027-09-01"), false},
		{"over new year, first day", winter, purchaseOn("2026-12-20"), true},
		{"over new year, new year's eve", winter, purchaseOn("2026-12-31"), true},
		{"over new year, last day", winter, purchaseOn("2027-01-05"), true},
		{"over new year, day after", winter, purchaseOn("2027-01-06"), false},
		{"over new year, summer", winter, purchaseOn("2027-07-01"), false},
		{"from 29 February in a leap year", leap, purchaseOn("2028-02-29"), true},
		{"from 29 February in another year, the day before", leap, purchaseOn("2027-02-28"), false},
		{"from 29 February in another year", leap, purchaseOn("2027-03-01"), true},
		{"dated season, first day", Season{parseDate("2026-12-30"), parseDate("2027-01-02")}, purchaseOn("2026-12-30"),
			true},
		{"dated season, last day", Season{parseDate("2026-12-30"), parseDate("2027-01-02")}, purchaseOn("2027-01-02"),
			true},
		{"dated season, a year later", Season{parseDate("2026-12-30"), parseDate("2027-01-02")},
			purchaseOn("2027-12-30"), false},
		{"weekend, Saturday", weekend, purchaseOn("2026-11-21"), true},
		{"weekend, Sunday", weekend, purchaseOn("2026-11-22"), true},
		{"weekend, Monday", weekend, purchaseOn("2026-11-23"), false},
		{"evening, at its start", newTimeOfDay("18:00-22:00"), Purchase{Start: parseTimeOfDay("18:00")}, true},
		{"evening, at its end", newTimeOfDay("18:00-22:00"), Purchase{Start: parseTimeOfDay("22:00")}, false},
		{"evening, start not known", newTimeOfDay("18:00-22:00"), Purchase{}, false},
		{"night, before midnight", newTimeOfDay("22:00-02:00"), Purchase{Start: parseTimeOfDay("23:30")}, true},
		{"night, after midnight", newTimeOfDay("22:00-02:00"), Purchase{Start: parseTimeOfDay("01:59")}, true},
		{"night, at its end", newTimeOfDay("22:00-02:00"), Purchase{Start: parseTimeOfDay("02:00")}, false},
		{"night, at noon", newTimeOfDay("22:00-02:00"), Purchase{Start: parseTimeOfDay("12:00")}, false},
		{"whole day, midnight", newTimeOfDay("00:00-24:00"), Purchase{Start: parseTimeOfDay("00:00")}, true},
		{"early bird, exactly", EarlyBird(30), purchaseDaysAhead(30), true},
		{"early bird, one day short", EarlyBird(30), purchaseDaysAhead(29), false},
		{"last minute, today", LastMinute(1), purchaseDaysAhead(0), true},
		{"last minute, exactly", LastMinute(1), purchaseDaysAhead(1), true},
		{"last minute, one day more", LastMinute(1), purchaseDaysAhead(2), false},
		{"last minute, a date that has passed", LastMinute(1), purchaseDaysAhead(-1), false},
		{"party, smallest", PartySize{Min: intPointer(4)}, Purchase{PartySize: intPointer(4)}, true},
		{"party, too small", PartySize{Min: intPointer(4)}, Purchase{PartySize: intPointer(3)}, false},
		{"party, largest", PartySize{Max: intPointer(4)}, Purchase{PartySize: intPointer(4)}, true},
		{"party, too large", PartySize{Max: intPointer(4)}, Purchase{PartySize: intPointer(5)}, false},
		{"party, not known", PartySize{Max: intPointer(4)}, Purchase{}, false},
		{"first booking", FirstBooking{}, Purchase{FirstBooking: new(true)}, true},
		{"not the first booking", FirstBooking{}, Purchase{FirstBooking: new(false)}, false},
		{"first booking, not known", FirstBooking{}, Purchase{}, false},
		{"duration, shortest", Duration{Min: intPointer(4), Max: intPointer(8)}, Purchase{Units: intPointer(4)}, true},
		{"duration, longest", Duration{Min: intPointer(4), Max: intPointer(8)}, Purchase{Units: intPointer(8)}, true},
		{"duration, too long", Duration{Min: intPointer(4), Max: intPointer(8)}, Purchase{Units: intPointer(9)}, false},
		{"duration, not known", Duration{Min: intPointer(4)}, Purchase{}, false},
	} {
		if got := c.when.holds(c.p); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

func TestFlashSaleUsesLocalTime(t *testing.T) {
	t.Parallel()
	berlin := must(time.LoadLocation("Europe/Berlin"))
	for _, c := range []struct {
		name, from, to, bought string
		want                   bool
	}{
		{"at its start", "2026-11-27T00:00", "2026-11-28T00:00", "2026-11-26T23:00:00Z", true},
		{"a second earlier", "2026-11-27T00:00", "2026-11-28T00:00", "2026-11-26T22:59:59Z", false},
		{"a moment before its end", "2026-11-27T00:00", "2026-11-28T00:00", "2026-11-27T22:59:59.999Z", true},
		{"at its end", "2026-11-27T00:00", "2026-11-28T00:00", "2026-11-27T23:00:00Z", false},
		// On 2026-10-25 the clock repeats the hour from 02:00 to 03:00. The sale ends at the first 02:30.
		{"before the end within the hour that comes twice", "2026-10-25T01:00", "2026-10-25T02:30",
			"2026-10-25T00:29:59Z", true},
		{"the same wall clock an hour later", "2026-10-25T01:00", "2026-10-25T02:30", "2026-10-25T01:29:59Z", false},
		// On 2027-03-28 the clock skips the hour from 02:00 to 03:00. A sale from 02:30 begins right after the gap.
		{"from within a gap, right after it", "2027-03-28T02:30", "2027-03-28T04:00", "2027-03-28T01:00:00Z", true},
		{"from within a gap, right before it", "2027-03-28T02:30", "2027-03-28T04:00", "2027-03-28T00:59:59Z", false},
	} {
		purchaseAt := must(time.Parse(time.RFC3339Nano, c.bought))
		sale := NewFlashSale(parseLocalDateTime(c.from), parseLocalDateTime(c.to), berlin)
		if got := sale.holds(Purchase{Moment: NewMoment(purchaseAt, berlin)}); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

func TestNewMomentUsesLocalDate(t *testing.T) {
	t.Parallel()
	auckland := must(time.LoadLocation("Pacific/Auckland"))
	purchaseAt := must(time.Parse(time.RFC3339, "2026-11-20T11:30:00Z")) // in Auckland it is the 21st
	if got := NewMoment(purchaseAt, auckland).Today; got != parseDate("2026-11-21") {
		t.Errorf("today is %s, want 2026-11-21", got)
	}
}

func TestPriceRoundsOnceHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		currency money.Currency
		list     int64
		changes  []Change
		want     int64
	}{
		{"half a cent goes up", eur, 1050, []Change{parsePercent("-5")}, 998}, // 9.975
		{"below half goes down", eur, 1049, []Change{parsePercent("-5")}, 997},
		{"once, not after each rule", eur, 333, []Change{parsePercent("-50"), parsePercent("-50"), parsePercent("300")},
			333},
		{"a third of a percent stays exact", eur, 1000000, []Change{parsePercent("0.0001")}, 1000001},
		{"no decimals", jpy, 1501, []Change{parsePercent("-50")}, 751}, // 750.5
		{"no decimals, below half", jpy, 1001, []Change{parsePercent("-51")}, 490},
		{"three decimals", bhd, 1001, []Change{parsePercent("-50")}, 501}, // 0.5005
		{"three decimals, amount in its minor unit", bhd, 1001, []Change{Amount(250)}, 1251},
		// 1.265; 1.1*1.15 is 1.2649999… in binary
		{"what floats get wrong", eur, 110, []Change{parsePercent("15")}, 127},
	} {
		rules := make([]Rule, len(c.changes))
		for i, change := range c.changes {
			rules[i] = Rule{Key: string(rune('a' + i)), Change: change}
		}
		got := newTariff(t, c.currency, rules...).Price(Item{ListPrice: c.list},
			Purchase{Date: parseDate("2026-11-21")})
		if got.Amount != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got.Amount, c.want)
		}
	}
}

func TestNegativePriceBecomesZeroAfterAllRules(t *testing.T) {
	t.Parallel()
	off := Rule{Key: "a-off", Change: Amount(-5000)}
	if got := newTariff(t, eur, off).Price(Item{ListPrice: 4000}, Purchase{}).Amount; got != 0 {
		t.Errorf("a discount larger than the price gives %d, want 0", got)
	}
	later := Rule{Key: "b-surcharge", Change: Amount(2500)}
	if got := newTariff(t, eur, off, later).Price(Item{ListPrice: 4000}, Purchase{}).Amount; got != 1500 {
		t.Errorf("a surcharge after it gives %d, want 1500: the running price may lie below 0", got)
	}
	set := Rule{Key: "b-set", Change: Set(700)}
	if got := newTariff(t, eur, off, set).Price(Item{ListPrice: 4000}, Purchase{}).Amount; got != 700 {
		t.Errorf("a set price after it gives %d, want 700", got)
	}
}

func TestPriceKeepsFreeItems(t *testing.T) {
	t.Parallel()
	tariff := newTariff(t, eur, Rule{Key: "a", Change: Amount(500)}, Rule{Key: "b", Change: Set(900)})
	if got := tariff.Price(Item{ListPrice: 0}, Purchase{}); got.Amount != 0 || len(got.Steps) != 0 {
		t.Errorf("a free item got %+v", got)
	}
}

func TestPriceAppliesRulesByPriorityAndKey(t *testing.T) {
	t.Parallel()
	sunday := newDaysOfWeek(time.Sunday)
	tariff := newTariff(t, eur,
		Rule{Key: "z", Priority: -10, Change: parsePercent("-50")},
		Rule{Key: "b", Change: Amount(100)},
		Rule{Key: "a", Change: parsePercent("10")},
		Rule{Key: "c", Change: Set(0), Condition: sunday, Stop: true}, // does not apply, so it does not stop
		Rule{Key: "d", Change: Amount(1), Stop: true},
		Rule{Key: "e", Change: Set(1)},
	)
	got := tariff.Price(Item{ListPrice: 4000}, Purchase{Date: parseDate("2026-11-21")}) // a Saturday
	var steps []string
	for _, s := range got.Steps {
		steps = append(steps, s.Rule.Key+" "+eur.Exact(s.Before)+" → "+eur.Exact(s.After))
	}
	want := []string{"z 40.00 → 20.00", "a 20.00 → 22.00", "b 22.00 → 23.00", "d 23.00 → 23.01"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if got.Amount != 2301 {
		t.Errorf("price %d, want 2301", got.Amount)
	}
}

func TestPriceHasStepForRuleWithoutEffect(t *testing.T) {
	t.Parallel()
	got := newTariff(t, eur, Rule{Key: "same", Change: Set(4000)}).Price(Item{ListPrice: 4000}, Purchase{})
	if len(got.Steps) != 1 || got.Amount != 4000 {
		t.Errorf("got %+v, want one step and 4000", got)
	}
}

func TestPriceAppliesRulesWithinScope(t *testing.T) {
	t.Parallel()
	half := func(s Scope) Rule { return Rule{Key: "half", Change: parsePercent("-50"), AppliesTo: s} }
	for _, c := range []struct {
		name  string
		scope Scope
		item  Item
		want  int64
	}{
		{"everything, a service", NewFullScope(), Item{Kind: Service, ID: cut, ListPrice: 100}, 50},
		{"everything, an event", NewFullScope(), Item{Kind: Event, ID: cut, ListPrice: 100}, 50},
		{"everything, a rental", NewFullScope(), Item{Kind: Rental, ID: cut, ListPrice: 100}, 50},
		{"all services, a service", Scope{Service: {All: true}}, Item{Kind: Service, ID: cut, ListPrice: 100}, 50},
		{"all services, an event", Scope{Service: {All: true}}, Item{Kind: Event, ID: cut, ListPrice: 100}, 100},
		{"one rental, that", Scope{Rental: {IDs: []uuid.UUID{kayak}}}, Item{Kind: Rental, ID: kayak, ListPrice: 100},
			50},
		{"one rental, another", Scope{Rental: {IDs: []uuid.UUID{kayak}}}, Item{Kind: Rental, ID: cut, ListPrice: 100},
			100},
		{"one rental, a service of the same id", Scope{Rental: {IDs: []uuid.UUID{kayak}}},
			Item{Kind: Service, ID: kayak, ListPrice: 100}, 100},
		{"all, and one by name", Scope{Rental: {All: true, IDs: []uuid.UUID{kayak}}},
			Item{Kind: Rental, ID: cut, ListPrice: 100}, 50},
	} {
		if got := newTariff(t, eur, half(c.scope)).Price(c.item, Purchase{}).Amount; got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPriceDoesNotOverflow(t *testing.T) {
	t.Parallel()
	rules := make([]Rule, 20)
	for i := range rules {
		rules[i] = Rule{Key: string(rune('a' + i)), Change: parsePercent("100000")}
	}
	got := newTariff(t, eur, rules...).Price(Item{ListPrice: 99999999999999}, Purchase{}).Amount
	if got != 99999999999999 {
		t.Errorf("got %d, want the largest amount", got)
	}
}

func TestNewRejectsIncompleteRule(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{{Key: "no-condition", Change: Set(1)}, {Key: "no-change", Condition: alwaysCondition}} {
		if _, err := New([]Rule{r}, eur); err == nil || !strings.Contains(err.Error(), r.Key) {
			t.Errorf("%s: got error %v, want one that names the rule", r.Key, err)
		}
	}
}

func newDaysOfWeek(days ...time.Weekday) DaysOfWeek {
	return NewDaysOfWeek(ruleText{days: days}.convertDays())
}

func TestConditionsCoverAllKinds(t *testing.T) {
	t.Parallel()
	for _, spec := range rule.Kinds {
		if conditions[spec.Kind] == nil {
			t.Errorf("%s has no condition", spec.Kind)
		}
	}
	if len(conditions) != len(rule.Kinds) {
		t.Errorf("%d conditions for %d kinds", len(conditions), len(rule.Kinds))
	}
}

func TestValidUntilReturnsNextTurn(t *testing.T) {
	t.Parallel()
	lisbon := must(time.LoadLocation("Europe/Lisbon"))
	sale := NewFlashSale(parseLocalDateTime("2026-11-27T09:00"), parseLocalDateTime("2026-11-28T09:00"), lisbon)
	late, weekend := LastMinute(1), newDaysOfWeek(time.Saturday)
	for _, c := range []struct {
		name  string
		rules []Condition
		at    string
		until string // empty: no end
	}{
		{"no rules", nil, "2026-11-26T12:00:00Z", ""},
		{"a rule that time does not turn", []Condition{weekend}, "2026-11-26T12:00:00Z", ""},
		{"before a sale", []Condition{sale}, "2026-11-26T12:00:00Z", "2026-11-27T09:00:00Z"},
		{"when a sale begins", []Condition{sale}, "2026-11-27T09:00:00Z", "2026-11-28T09:00:00Z"},
		{"after a sale", []Condition{sale}, "2026-11-28T09:00:00Z", ""},
		{"days are counted", []Condition{late}, "2026-11-27T12:00:00Z", "2026-11-28T00:00:00Z"},
		{"what comes first", []Condition{late, sale, weekend}, "2026-11-28T01:00:00Z", "2026-11-28T09:00:00Z"},
		{"the day of a clock change", []Condition{EarlyBird(3)}, "2026-10-24T23:30:00Z", "2026-10-26T00:00:00Z"},
	} {
		rules := make([]Rule, len(c.rules))
		for i, when := range c.rules {
			rules[i] = Rule{Key: fmt.Sprint(i), Condition: when, Change: Amount(1), AppliesTo: NewFullScope()}
		}
		until, ends := must(New(rules, money.Currency{Code: "EUR", Digits: 2})).ValidUntil(NewMoment(must(time.Parse(time.RFC3339, c.at)), lisbon))
		if got := time.Unix(until, 0).UTC().Format(time.RFC3339); ends != (c.until != "") || ends && got != c.until {
			t.Errorf("%s: until %s (%t), want %q", c.name, got, ends, c.until)
		}
	}
}

// TestPriceIsConstantBeforeValidUntil checks that the price of a sale does not change before the
// instant that [Tariff.ValidUntil] returns.
func TestPriceIsConstantBeforeValidUntil(t *testing.T) {
	t.Parallel()
	euro, lisbon := money.Currency{Code: "EUR", Digits: 2}, must(time.LoadLocation("Europe/Lisbon"))
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfNDistinct(genRule(2), 0, 6, func(r ruleText) string { return r.key }).Draw(t, "rules")
		sold := genSale(lisbon, 2).Draw(t, "bought")
		tariff := buildTariff(rules, euro, lisbon)
		moment := NewMoment(sold.boughtAt, lisbon)
		until, ends := tariff.ValidUntil(moment)
		if until <= moment.Instant || ends != (until < endOfTime) {
			t.Fatalf("valid until %d, %t, at %d", until, ends, moment.Instant)
		}
		later := sold
		wait := rapid.Int64Range(0, min(until-moment.Instant, 800*86400)-1).Draw(t, "wait")
		later.boughtAt = sold.boughtAt.Add(time.Duration(wait) * time.Second)
		purchase, laterPurchase := sold.buildPurchase(lisbon), later.buildPurchase(lisbon)
		if a, b := tariff.Price(sold.buildItem(euro), purchase).Amount,
			tariff.Price(sold.buildItem(euro), laterPurchase).Amount; a != b {
			t.Errorf("%d at %s, %d at %s, though valid until %s", a, sold.boughtAt, b, later.boughtAt,
				time.Unix(until, 0).In(lisbon))
		}
	})
}

// With a price per person, the rules without party size give the rounded price of one person. The
// rules of the party size apply to this price times the number of persons.
func TestPriceMultipliesUnitPrice(t *testing.T) {
	t.Parallel()
	euro := money.Currency{Code: "EUR", Digits: 2}
	four := 4
	group := Rule{Key: "group", Kind: rule.PartySize, Condition: PartySize{Min: &four},
		Change: NewPercent(decimal.NewFromInt(-5)), AppliesTo: NewFullScope()}
	third := Rule{Key: "third", Kind: rule.DayOfWeek, Condition: newDaysOfWeek(time.Saturday),
		Change: NewPercent(decimal.RequireFromString("-33.3")), AppliesTo: NewFullScope()}
	last := Rule{Key: "a", Kind: rule.DayOfWeek, Condition: newDaysOfWeek(time.Saturday), Change: Amount(100),
		Stop:     true,
		Priority: -1, AppliesTo: NewFullScope()}
	for _, c := range []struct {
		name         string
		rules        []Rule
		units        int
		amount, unit int64
	}{
		{"no rules", nil, 3, 5250, 1750},
		{"one person", []Rule{group}, 1, 1750, 1750},
		{"a party below the rule", []Rule{group}, 3, 5250, 1750},
		{"a party of the rule", []Rule{group}, 4, 6650, 1750},
		// 11.6725 is 11.67; 46.68 less 5 % is 44.346
		{"the unit is rounded first", []Rule{third, group}, 4, 4435, 1167},
		{"a rule that stops keeps the rule of the party out", []Rule{last, group}, 4, 7400, 1850},
	} {
		purchase := Purchase{Date: parseDate("2026-11-28"), PartySize: &c.units}
		got := must(New(c.rules, euro)).Price(Item{Kind: Service, ListPrice: 1750, Units: c.units}, purchase)
		if got.Amount != c.amount || got.UnitPrice != c.unit {
			t.Errorf("%s: %d of %d each, want %d of %d", c.name, got.Amount, got.UnitPrice, c.amount, c.unit)
		}
	}
}
