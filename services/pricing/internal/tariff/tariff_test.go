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

func percent(p string) Change { return PercentOf(decimal.RequireFromString(p)) }

func newTariff(t *testing.T, c money.Currency, rules ...Rule) *Tariff {
	t.Helper()
	for i := range rules {
		if rules[i].When == nil {
			rules[i].When = always
		}
		if rules[i].AppliesTo.empty() {
			rules[i].AppliesTo = Everything()
		}
	}
	tariff, err := New(rules, c)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

// always holds on every date that a test can name.
var always = Season{From: day("0001-01-01"), To: day("9999-12-31")}

func (s Scope) empty() bool {
	for _, sel := range s {
		if sel.All || len(sel.IDs) > 0 {
			return false
		}
	}
	return true
}

func TestAListCutsAmountsAsThePriceOfOneItemIsCut(t *testing.T) {
	t.Parallel()
	huge := make([]Rule, 40)
	for i := range huge {
		huge[i] = Rule{Key: strings.Repeat("r", i+1), Change: percent("900")}
	}
	for name, rules := range map[string][]Rule{
		"far above": huge, "above": huge[:12], "below": {{Key: "less", Change: Amount(-5000)}},
		"half a minor unit": {{Key: "half", Change: percent("-50")}},
	} {
		tariff := newTariff(t, eur, rules...)
		item := Item{Kind: Service, ID: cut, List: 1001}
		if got, want := tariff.List().Amount(item, Purchase{}), tariff.Price(item, Purchase{}).Amount; got != want {
			t.Errorf("%s: %d on a list, %d alone", name, got, want)
		}
	}
}

func n(v int) *int { return &v }

func on(date string) Purchase { return Purchase{Date: day(date)} }

func ahead(days int) Purchase {
	return Purchase{Moment: Moment{Today: day("2026-11-21")}, Date: day("2026-11-21") + timespan.Date(days)}
}

func yearly(from, to string) Condition {
	return Yearly{From: MonthDayOf(day("2000-" + from)), To: MonthDayOf(day("2000-" + to))}
}

func hours(w string) Condition { return TimeOfDay(must(timespan.ParseWindow(w))) }

func TestConditions(t *testing.T) {
	t.Parallel()
	summer, winter, leap := yearly("06-01", "08-31"), yearly("12-20", "01-05"), yearly("02-29", "03-02")
	weekend := onDays(time.Saturday, time.Sunday)
	for _, c := range []struct {
		name string
		when Condition
		p    Purchase
		want bool
	}{
		{"yearly season, first day", summer, on("2027-06-01"), true},
		{"yearly season, last day", summer, on("2031-08-31"), true},
		{"yearly season, day before", summer, on("2027-05-31"), false},
		{"yearly season, day after", summer, on("2027-09-01"), false},
		{"over new year, first day", winter, on("2026-12-20"), true},
		{"over new year, new year's eve", winter, on("2026-12-31"), true},
		{"over new year, last day", winter, on("2027-01-05"), true},
		{"over new year, day after", winter, on("2027-01-06"), false},
		{"over new year, summer", winter, on("2027-07-01"), false},
		{"from 29 February in a leap year", leap, on("2028-02-29"), true},
		{"from 29 February in another year, the day before", leap, on("2027-02-28"), false},
		{"from 29 February in another year", leap, on("2027-03-01"), true},
		{"dated season, first day", Season{day("2026-12-30"), day("2027-01-02")}, on("2026-12-30"), true},
		{"dated season, last day", Season{day("2026-12-30"), day("2027-01-02")}, on("2027-01-02"), true},
		{"dated season, a year later", Season{day("2026-12-30"), day("2027-01-02")}, on("2027-12-30"), false},
		{"weekend, Saturday", weekend, on("2026-11-21"), true},
		{"weekend, Sunday", weekend, on("2026-11-22"), true},
		{"weekend, Monday", weekend, on("2026-11-23"), false},
		{"evening, at its start", hours("18:00-22:00"), Purchase{Start: at("18:00")}, true},
		{"evening, at its end", hours("18:00-22:00"), Purchase{Start: at("22:00")}, false},
		{"evening, start not known", hours("18:00-22:00"), Purchase{}, false},
		{"night, before midnight", hours("22:00-02:00"), Purchase{Start: at("23:30")}, true},
		{"night, after midnight", hours("22:00-02:00"), Purchase{Start: at("01:59")}, true},
		{"night, at its end", hours("22:00-02:00"), Purchase{Start: at("02:00")}, false},
		{"night, at noon", hours("22:00-02:00"), Purchase{Start: at("12:00")}, false},
		{"whole day, midnight", hours("00:00-24:00"), Purchase{Start: at("00:00")}, true},
		{"early bird, exactly", EarlyBird(30), ahead(30), true},
		{"early bird, one day short", EarlyBird(30), ahead(29), false},
		{"last minute, today", LastMinute(1), ahead(0), true},
		{"last minute, exactly", LastMinute(1), ahead(1), true},
		{"last minute, one day more", LastMinute(1), ahead(2), false},
		{"last minute, a date that has passed", LastMinute(1), ahead(-1), false},
		{"party, smallest", PartySize{Min: n(4)}, Purchase{PartySize: n(4)}, true},
		{"party, too small", PartySize{Min: n(4)}, Purchase{PartySize: n(3)}, false},
		{"party, largest", PartySize{Max: n(4)}, Purchase{PartySize: n(4)}, true},
		{"party, too large", PartySize{Max: n(4)}, Purchase{PartySize: n(5)}, false},
		{"party, not known", PartySize{Max: n(4)}, Purchase{}, false},
		{"first booking", FirstBooking{}, Purchase{FirstBooking: new(true)}, true},
		{"not the first booking", FirstBooking{}, Purchase{FirstBooking: new(false)}, false},
		{"first booking, not known", FirstBooking{}, Purchase{}, false},
		{"duration, shortest", Duration{Min: n(4), Max: n(8)}, Purchase{Units: n(4)}, true},
		{"duration, longest", Duration{Min: n(4), Max: n(8)}, Purchase{Units: n(8)}, true},
		{"duration, too long", Duration{Min: n(4), Max: n(8)}, Purchase{Units: n(9)}, false},
		{"duration, not known", Duration{Min: n(4)}, Purchase{}, false},
	} {
		if got := c.when.holds(c.p); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

func TestFlashSaleGoesByTheBusinesssClock(t *testing.T) {
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
		// On 2026-10-25 the hour from 02:00 to 03:00 comes twice; the sale ends at the first 02:30.
		{"before the end within the hour that comes twice", "2026-10-25T01:00", "2026-10-25T02:30",
			"2026-10-25T00:29:59Z", true},
		{"the same wall clock an hour later", "2026-10-25T01:00", "2026-10-25T02:30", "2026-10-25T01:29:59Z", false},
		// On 2027-03-28 the clock goes from 02:00 to 03:00; a start at 02:30 is the instant after the gap.
		{"from within a gap, right after it", "2027-03-28T02:30", "2027-03-28T04:00", "2027-03-28T01:00:00Z", true},
		{"from within a gap, right before it", "2027-03-28T02:30", "2027-03-28T04:00", "2027-03-28T00:59:59Z", false},
	} {
		bought := must(time.Parse(time.RFC3339Nano, c.bought))
		sale := FlashSaleBetween(moment(c.from), moment(c.to), berlin)
		if got := sale.holds(Purchase{Moment: MomentAt(bought, berlin)}); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

func TestTodayIsTheBusinesssDate(t *testing.T) {
	t.Parallel()
	auckland := must(time.LoadLocation("Pacific/Auckland"))
	bought := must(time.Parse(time.RFC3339, "2026-11-20T11:30:00Z")) // already the 21st there
	if got := MomentAt(bought, auckland).Today; got != day("2026-11-21") {
		t.Errorf("today is %s, want 2026-11-21", got)
	}
}

func TestPriceIsRoundedOnceHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		currency money.Currency
		list     int64
		changes  []Change
		want     int64
	}{
		{"half a cent goes up", eur, 1050, []Change{percent("-5")}, 998}, // 9.975
		{"below half goes down", eur, 1049, []Change{percent("-5")}, 997},
		{"once, not after each rule", eur, 333, []Change{percent("-50"), percent("-50"), percent("300")}, 333},
		{"a third of a percent stays exact", eur, 1000000, []Change{percent("0.0001")}, 1000001},
		{"no decimals", jpy, 1501, []Change{percent("-50")}, 751}, // 750.5
		{"no decimals, below half", jpy, 1001, []Change{percent("-51")}, 490},
		{"three decimals", bhd, 1001, []Change{percent("-50")}, 501}, // 0.5005
		{"three decimals, amount in its minor unit", bhd, 1001, []Change{Amount(250)}, 1251},
		{"what floats get wrong", eur, 110, []Change{percent("15")}, 127}, // 1.265; 1.1*1.15 is 1.2649999… in binary
	} {
		rules := make([]Rule, len(c.changes))
		for i, change := range c.changes {
			rules[i] = Rule{Key: string(rune('a' + i)), Change: change}
		}
		got := newTariff(t, c.currency, rules...).Price(Item{List: c.list}, Purchase{Date: day("2026-11-21")})
		if got.Amount != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got.Amount, c.want)
		}
	}
}

func TestPriceIsCutToZeroAtTheEndOnly(t *testing.T) {
	t.Parallel()
	off := Rule{Key: "a-off", Change: Amount(-5000)}
	if got := newTariff(t, eur, off).Price(Item{List: 4000}, Purchase{}).Amount; got != 0 {
		t.Errorf("a discount larger than the price gives %d, want 0", got)
	}
	later := Rule{Key: "b-surcharge", Change: Amount(2500)}
	if got := newTariff(t, eur, off, later).Price(Item{List: 4000}, Purchase{}).Amount; got != 1500 {
		t.Errorf("a surcharge after it gives %d, want 1500: the running price may lie below 0", got)
	}
	set := Rule{Key: "b-set", Change: Set(700)}
	if got := newTariff(t, eur, off, set).Price(Item{List: 4000}, Purchase{}).Amount; got != 700 {
		t.Errorf("a set price after it gives %d, want 700", got)
	}
}

func TestFreeItemsAreNotPriced(t *testing.T) {
	t.Parallel()
	tariff := newTariff(t, eur, Rule{Key: "a", Change: Amount(500)}, Rule{Key: "b", Change: Set(900)})
	if got := tariff.Price(Item{List: 0}, Purchase{}); got.Amount != 0 || len(got.Steps) != 0 {
		t.Errorf("a free item got %+v", got)
	}
}

func TestRulesGoByPriorityThenKeyUntilOneStops(t *testing.T) {
	t.Parallel()
	sunday := onDays(time.Sunday)
	tariff := newTariff(t, eur,
		Rule{Key: "z", Priority: -10, Change: percent("-50")},
		Rule{Key: "b", Change: Amount(100)},
		Rule{Key: "a", Change: percent("10")},
		Rule{Key: "c", Change: Set(0), When: sunday, Stop: true}, // does not apply, so it does not stop
		Rule{Key: "d", Change: Amount(1), Stop: true},
		Rule{Key: "e", Change: Set(1)},
	)
	got := tariff.Price(Item{List: 4000}, Purchase{Date: day("2026-11-21")}) // a Saturday
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

func TestARuleThatChangesNothingIsAStepToo(t *testing.T) {
	t.Parallel()
	got := newTariff(t, eur, Rule{Key: "same", Change: Set(4000)}).Price(Item{List: 4000}, Purchase{})
	if len(got.Steps) != 1 || got.Amount != 4000 {
		t.Errorf("got %+v, want one step and 4000", got)
	}
}

func TestScopeNarrowsByKindAndID(t *testing.T) {
	t.Parallel()
	half := func(s Scope) Rule { return Rule{Key: "half", Change: percent("-50"), AppliesTo: s} }
	for _, c := range []struct {
		name  string
		scope Scope
		item  Item
		want  int64
	}{
		{"everything, a service", Everything(), Item{Kind: Service, ID: cut, List: 100}, 50},
		{"everything, an event", Everything(), Item{Kind: Event, ID: cut, List: 100}, 50},
		{"everything, a rental", Everything(), Item{Kind: Rental, ID: cut, List: 100}, 50},
		{"all services, a service", Scope{Service: {All: true}}, Item{Kind: Service, ID: cut, List: 100}, 50},
		{"all services, an event", Scope{Service: {All: true}}, Item{Kind: Event, ID: cut, List: 100}, 100},
		{"one rental, that", Scope{Rental: {IDs: []uuid.UUID{kayak}}}, Item{Kind: Rental, ID: kayak, List: 100}, 50},
		{"one rental, another", Scope{Rental: {IDs: []uuid.UUID{kayak}}}, Item{Kind: Rental, ID: cut, List: 100}, 100},
		{"one rental, a service of the same id", Scope{Rental: {IDs: []uuid.UUID{kayak}}},
			Item{Kind: Service, ID: kayak, List: 100}, 100},
		{"all, and one by name", Scope{Rental: {All: true, IDs: []uuid.UUID{kayak}}},
			Item{Kind: Rental, ID: cut, List: 100}, 50},
	} {
		if got := newTariff(t, eur, half(c.scope)).Price(c.item, Purchase{}).Amount; got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPricesBeyondWhatMoneyHoldsDoNotOverflow(t *testing.T) {
	t.Parallel()
	rules := make([]Rule, 20)
	for i := range rules {
		rules[i] = Rule{Key: string(rune('a' + i)), Change: percent("100000")}
	}
	got := newTariff(t, eur, rules...).Price(Item{List: 99999999999999}, Purchase{}).Amount
	if got != 99999999999999 {
		t.Errorf("got %d, want the largest amount", got)
	}
}

func TestNewRefusesARuleThatSaysNothing(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{{Key: "no-condition", Change: Set(1)}, {Key: "no-change", When: always}} {
		if _, err := New([]Rule{r}, eur); err == nil || !strings.Contains(err.Error(), r.Key) {
			t.Errorf("%s: got error %v, want one that names the rule", r.Key, err)
		}
	}
}

func onDays(days ...time.Weekday) DaysOfWeek { return DaysOfWeekOf(words{days: days}.weekdays()) }

func TestEveryKindOfRuleHasItsCondition(t *testing.T) {
	t.Parallel()
	for _, spec := range rule.Kinds {
		if conditions[spec.Kind] == nil {
			t.Errorf("%s has none", spec.Kind)
		}
	}
	if len(conditions) != len(rule.Kinds) {
		t.Errorf("%d conditions for %d kinds", len(conditions), len(rule.Kinds))
	}
}

func TestAPriceIsValidUntilARuleTurns(t *testing.T) {
	t.Parallel()
	lisbon := must(time.LoadLocation("Europe/Lisbon"))
	sale := FlashSaleBetween(moment("2026-11-27T09:00"), moment("2026-11-28T09:00"), lisbon)
	late, weekend := LastMinute(1), onDays(time.Saturday)
	for _, c := range []struct {
		name  string
		rules []Condition
		at    string
		until string // empty: for good
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
			rules[i] = Rule{Key: fmt.Sprint(i), When: when, Change: Amount(1), AppliesTo: Everything()}
		}
		until, ends := must(New(rules, money.Currency{Code: "EUR", Digits: 2})).ValidUntil(MomentAt(must(time.Parse(time.RFC3339, c.at)), lisbon))
		if got := time.Unix(until, 0).UTC().Format(time.RFC3339); ends != (c.until != "") || ends && got != c.until {
			t.Errorf("%s: until %s (%t), want %q", c.name, got, ends, c.until)
		}
	}
}

// TestNothingChangesWhileAPriceIsValid looks at later moments before [Tariff.ValidUntil].
func TestNothingChangesWhileAPriceIsValid(t *testing.T) {
	t.Parallel()
	euro, lisbon := money.Currency{Code: "EUR", Digits: 2}, must(time.LoadLocation("Europe/Lisbon"))
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfNDistinct(genRule(2), 0, 6, func(r words) string { return r.key }).Draw(t, "rules")
		bought := genSale(lisbon, 2).Draw(t, "bought")
		tariff := tariffOf(rules, euro, lisbon)
		moment := MomentAt(bought.boughtAt, lisbon)
		until, ends := tariff.ValidUntil(moment)
		if until <= moment.Instant || ends != (until < never) {
			t.Fatalf("valid until %d, %t, at %d", until, ends, moment.Instant)
		}
		later := bought
		wait := rapid.Int64Range(0, min(until-moment.Instant, 800*86400)-1).Draw(t, "wait")
		later.boughtAt = bought.boughtAt.Add(time.Duration(wait) * time.Second)
		now, then := bought.purchase(lisbon), later.purchase(lisbon)
		if a, b := tariff.Price(bought.item(euro), now).Amount, tariff.Price(bought.item(euro), then).Amount; a != b {
			t.Errorf("%d at %s, %d at %s, though valid until %s", a, bought.boughtAt, b, later.boughtAt,
				time.Unix(until, 0).In(lisbon))
		}
	})
}

// A price per person: the rules make the price of one, rounded; the party pays that for each, and then the rules of its
// size hold.
func TestPricePerPersonMultipliesTheUnitPrice(t *testing.T) {
	t.Parallel()
	euro := money.Currency{Code: "EUR", Digits: 2}
	four := 4
	group := Rule{Key: "group", Kind: rule.PartySize, When: PartySize{Min: &four},
		Change: PercentOf(decimal.NewFromInt(-5)), AppliesTo: Everything()}
	third := Rule{Key: "third", Kind: rule.DayOfWeek, When: onDays(time.Saturday),
		Change: PercentOf(decimal.RequireFromString("-33.3")), AppliesTo: Everything()}
	last := Rule{Key: "a", Kind: rule.DayOfWeek, When: onDays(time.Saturday), Change: Amount(100), Stop: true,
		Priority: -1, AppliesTo: Everything()}
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
		bought := Purchase{Date: day("2026-11-28"), PartySize: &c.units}
		got := must(New(c.rules, euro)).Price(Item{Kind: Service, List: 1750, Units: c.units}, bought)
		if got.Amount != c.amount || got.Unit != c.unit {
			t.Errorf("%s: %d of %d each, want %d of %d", c.name, got.Amount, got.Unit, c.amount, c.unit)
		}
	}
}
