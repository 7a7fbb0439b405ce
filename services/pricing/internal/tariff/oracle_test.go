package tariff

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The oracle computes prices in a second, simple way, from the rules in charts/slotmesh/files/demo.yaml and
// semantics.md §5. It uses the text fields of the manifest, time.Time for dates and big.Rat for money.

// ruleText is a rule with the fields of the manifest as text. Fields that the kind does not have are
// unused.
type ruleText struct {
	key, kind string
	priority  int
	change    string // percent, amount or set
	changeBy  string // a decimal
	stop      bool
	appliesTo map[Kind][]string // nil: everything; "all" or ids

	from, to string // seasonal: MM-DD or YYYY-MM-DD; time_of_day: HH:MM; flash_sale: YYYY-MM-DDTHH:MM
	days     []time.Weekday
	min, max *int
}

// sale is an item that is bought at some time, with its data as text.
type sale struct {
	kind         Kind
	id           string
	list         string
	boughtAt     time.Time // in the business's zone
	date         time.Time // midnight UTC of the booking date
	start        string    // HH:MM, or empty
	partySize    *int
	firstBooking *bool
	units        *int
}

// computeOraclePrice returns the price and the keys of the rules that applied.
func computeOraclePrice(rules []ruleText, s sale, decimals int) (*big.Rat, []string) {
	price := parseRat(s.list)
	if price.Sign() == 0 {
		return price, nil // free: not priced
	}
	var applied []string
	for _, r := range sortRules(rules) {
		if !r.appliesToItem(s) || !r.holdsFor(s) {
			continue
		}
		applied = append(applied, r.key)
		switch r.change {
		case "percent":
			part := new(big.Rat).Quo(parseRat(r.changeBy), big.NewRat(100, 1))
			price = new(big.Rat).Add(price, new(big.Rat).Mul(price, part))
		case "amount":
			price = new(big.Rat).Add(price, parseRat(r.changeBy))
		case "set":
			price = parseRat(r.changeBy)
		}
		if r.stop {
			break
		}
	}
	if price.Sign() < 0 {
		return new(big.Rat), applied
	}
	return roundHalfUp(price, decimals), applied
}

// sortRules sorts rules by priority, lowest first, and then by key.
func sortRules(rules []ruleText) []ruleText {
	remaining := slices.Clone(rules)
	var sorted []ruleText
	for len(remaining) > 0 {
		first := 0
		for i, r := range remaining {
			f := remaining[first]
			if r.priority < f.priority || r.priority == f.priority && r.key < f.key {
				first = i
			}
		}
		sorted = append(sorted, remaining[first])
		remaining = slices.Delete(remaining, first, first+1)
	}
	return sorted
}

func (r ruleText) appliesToItem(s sale) bool {
	if r.appliesTo == nil {
		return true
	}
	named := r.appliesTo[s.kind]
	return slices.Contains(named, "all") || slices.Contains(named, s.id)
}

func (r ruleText) holdsFor(s sale) bool {
	bought := s.boughtAt.Format("2006-01-02T15:04")
	today, _ := time.Parse(time.DateOnly, s.boughtAt.Format(time.DateOnly))
	daysBefore := int(s.date.Sub(today).Hours() / 24)
	switch r.kind {
	case "seasonal":
		if len(r.from) == len("MM-DD") {
			day := s.date.Format("01-02")
			if r.from > r.to { // the season includes the change of the year
				return r.from <= day && day <= "12-31" || "01-01" <= day && day <= r.to
			}
			return r.from <= day && day <= r.to
		}
		day := s.date.Format(time.DateOnly)
		return r.from <= day && day <= r.to
	case "day_of_week":
		return slices.Contains(r.days, s.date.Weekday())
	case "time_of_day":
		if s.start == "" {
			return false
		}
		if r.from < r.to {
			return r.from <= s.start && s.start < r.to
		}
		return r.from <= s.start || s.start < r.to // the window ends on the next day
	case "flash_sale":
		return r.from <= bought && bought < r.to
	case "early_bird":
		return daysBefore >= *r.min
	case "last_minute":
		return daysBefore >= 0 && daysBefore <= *r.max
	case "party_size":
		return isBetween(r.min, s.partySize, r.max)
	case "first_booking":
		return s.firstBooking != nil && *s.firstBooking
	case "duration":
		return isBetween(r.min, s.units, r.max)
	}
	panic(r.kind)
}

func isBetween(least, n, most *int) bool {
	return n != nil && (least == nil || *n >= *least) && (most == nil || *n <= *most)
}

func roundHalfUp(r *big.Rat, decimals int) *big.Rat {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(scale))
	// Rounding half up is the integer part of the number plus a half, because the number is not negative.
	scaled.Add(scaled, big.NewRat(1, 2))
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return new(big.Rat).SetFrac(whole, scale)
}

func parseRat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// TestPriceMatchesOracle generates tariffs and sales. It compares the price and the applied rules with
// the oracle.
func TestPriceMatchesOracle(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/St_Johns") // its offset has half an hour, which shows a wrong zone
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		currency := money.Currency{Code: "XXX", Digits: rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "decimals")}
		rules := rapid.SliceOfNDistinct(genRule(currency.Digits), 0, 8, func(r ruleText) string {
			return r.key
		}).Draw(t, "rules")
		s := genSale(zone, currency.Digits).Draw(t, "sale")

		tariff := buildTariff(rules, currency, zone)
		got := tariff.Price(s.buildItem(currency), s.buildPurchase(zone))

		want, applied := computeOraclePrice(rules, s, currency.Digits)
		if currency.Decimal(got.Amount).Rat().Cmp(want) != 0 {
			t.Fatalf("price %s, want %s\n%+v\n%+v", currency.Decimal(got.Amount), want.FloatString(6), rules, s)
		}
		if keys := collectKeys(got.Steps); !slices.Equal(keys, applied) {
			t.Fatalf("applied %v, want %v\n%+v\n%+v", keys, applied, rules, s)
		}
		checkChain(t, got.Steps, currency.Decimal(parseMinor(currency, s.list)))
		checkList(t, tariff, append(rapid.SliceOfN(genSale(zone, currency.Digits), 0, 3).Draw(t, "others"), s, s),
			currency, zone)
	})
}

// checkList checks that a price list gives each sale the same price as [Tariff.Price].
func checkList(t *rapid.T, tariff *Tariff, all []sale, currency money.Currency, zone *time.Location) {
	list := tariff.NewPriceList()
	for _, s := range all {
		item, purchase := s.buildItem(currency), s.buildPurchase(zone)
		if got, want := list.Amount(item, purchase), tariff.Price(item, purchase).Amount; got != want {
			t.Fatalf("the price in a list is %d, the single price %d: %+v", got, want, s)
		}
	}
}

// checkChain checks that each step begins with the price with which the previous step ends.
func checkChain(t *rapid.T, steps []Step, list decimal.Decimal) {
	running := list
	for _, s := range steps {
		if !s.Before.Equal(running) {
			t.Fatalf("step %s starts at %s, but the price was %s", s.Rule.Key, s.Before, running)
		}
		running = s.After
	}
}

func collectKeys(steps []Step) []string {
	var keys []string
	for _, s := range steps {
		keys = append(keys, s.Rule.Key)
	}
	return keys
}

// buildTariff builds the tariff of rules.
func buildTariff(rules []ruleText, c money.Currency, zone *time.Location) *Tariff {
	built := make([]Rule, len(rules))
	for i, r := range rules {
		built[i] = r.buildRule(c, zone)
	}
	return must(New(built, c))
}

func (r ruleText) buildRule(c money.Currency, zone *time.Location) Rule {
	built := Rule{Key: r.key, Kind: rule.Kind(r.kind), Priority: r.priority, Stop: r.stop,
		Condition: r.buildCondition(zone),
		AppliesTo: NewFullScope()}
	switch r.change {
	case "percent":
		built.Change = NewPercent(decimal.RequireFromString(r.changeBy))
	case "amount":
		built.Change = Amount(parseMinor(c, r.changeBy))
	case "set":
		built.Change = Set(parseMinor(c, r.changeBy))
	}
	if r.appliesTo != nil {
		built.AppliesTo = Scope{}
		for kind, named := range r.appliesTo {
			built.AppliesTo[kind] = buildSelection(named)
		}
	}
	return built
}

func buildSelection(named []string) Selection {
	var s Selection
	for _, id := range named {
		if id == "all" {
			s.All = true
		} else {
			s.IDs = append(s.IDs, uuid.NewSHA1(uuid.Nil, []byte(id)))
		}
	}
	return s
}

func (r ruleText) buildCondition(zone *time.Location) Condition {
	when := rule.When{From: parseBound(r.from), To: parseBound(r.to), Days: r.convertDays()}
	switch rule.Kind(r.kind) {
	case rule.EarlyBird:
		when.MinDaysBefore = r.min
	case rule.LastMinute:
		when.MaxDaysBefore = r.max
	case rule.PartySize:
		when.Min, when.Max = r.min, r.max
	case rule.Duration:
		when.MinUnits, when.MaxUnits = r.min, r.max
	default: // the other kinds have no bounds
	}
	return must(NewCondition(rule.Kind(r.kind), when, zone))
}

func (r ruleText) convertDays() []timespan.Weekday {
	var days []timespan.Weekday
	for _, d := range r.days {
		days = append(days, timespan.Weekday(d))
	}
	return days
}

func parseBound(s string) *rule.Bound {
	if s == "" {
		return nil
	}
	b := new(rule.Bound)
	if err := b.UnmarshalText([]byte(s)); err != nil {
		panic(err)
	}
	return b
}

func (s sale) buildItem(c money.Currency) Item {
	return Item{Kind: s.kind, ID: uuid.NewSHA1(uuid.Nil, []byte(s.id)), ListPrice: parseMinor(c, s.list)}
}

func (s sale) buildPurchase(zone *time.Location) Purchase {
	p := Purchase{
		Moment:       NewMoment(s.boughtAt, zone),
		Date:         parseDate(s.date.Format(time.DateOnly)),
		PartySize:    s.partySize,
		FirstBooking: s.firstBooking,
		Units:        s.units,
	}
	if s.start != "" {
		at := must(timespan.ParseTimeOfDay(s.start))
		p.Start = &at
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func parseDate(s string) timespan.Date                   { return must(timespan.ParseDate(s)) }
func parseLocalDateTime(s string) timespan.LocalDateTime { return must(timespan.ParseLocalDateTime(s)) }
func parseMinor(c money.Currency, s string) int64        { return must(c.Minor(decimal.RequireFromString(s))) }
func parseTimeOfDay(s string) *timespan.TimeOfDay        { t := must(timespan.ParseTimeOfDay(s)); return &t }
func formatDecimal(n int64, decimals int) string         { return decimal.New(n, -int32(decimals)).String() }

// The generators draw from few values, so that rules often apply and often do not.

func genRule(decimals int) *rapid.Generator[ruleText] {
	return rapid.Custom(func(t *rapid.T) ruleText {
		r := ruleText{
			key:      rapid.StringMatching(`[a-c]-?[0-9]`).Draw(t, "key"),
			priority: rapid.IntRange(-1, 1).Draw(t, "priority"),
			change:   rapid.SampledFrom([]string{"percent", "percent", "amount", "set"}).Draw(t, "change"),
			stop:     rapid.IntRange(0, 5).Draw(t, "stop") == 0,
			kind:     rapid.SampledFrom(rule.Names()).Draw(t, "kind"),
		}
		r.changeBy = genBy(t, r.change, decimals)
		r.appliesTo = genScope(t)
		r.drawCondition(t)
		return r
	})
}

func genBy(t *rapid.T, change string, decimals int) string {
	switch change {
	case "percent":
		return formatDecimal(rapid.Int64Range(-1200, 2000).Draw(t, "percent"), 1)
	case "set":
		return formatDecimal(rapid.Int64Range(0, 20000).Draw(t, "set"), decimals)
	default:
		return formatDecimal(rapid.Int64Range(-9000, 9000).Draw(t, "amount"), decimals)
	}
}

func genScope(t *rapid.T) map[Kind][]string {
	if rapid.Bool().Draw(t, "everything") {
		return nil
	}
	scope := map[Kind][]string{}
	for _, kind := range []Kind{Service, Event, Rental} {
		if named := rapid.SampledFrom([][]string{nil, {"all"}, {"x"}, {"x", "y"}}).Draw(t, "named"); named != nil {
			scope[kind] = named
		}
	}
	return scope
}

func (r *ruleText) drawCondition(t *rapid.T) {
	switch r.kind {
	case "seasonal":
		days := rapid.SampledFrom([][]string{{"06-01", "08-31"}, {"12-20", "01-05"}, {"02-29", "02-29"},
			{"02-29", "03-01"},
			{"12-31", "12-31"}, {"2026-12-30", "2027-01-02"}, {"2028-02-29", "2028-02-29"}}).Draw(t, "season")
		r.from, r.to = days[0], days[1]
	case "day_of_week":
		r.days = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) time.Weekday {
			return time.Weekday(rapid.IntRange(0, 6).Draw(t, "day"))
		}), 1, 4, rapid.ID[time.Weekday]).Draw(t, "days")
	case "time_of_day":
		hours := rapid.SampledFrom([][]string{{"18:00", "22:00"}, {"22:00", "02:00"}, {"00:00", "24:00"},
			{"20:00", "00:00"}}).Draw(t, "hours")
		r.from, r.to = hours[0], hours[1]
	case "flash_sale":
		sale := rapid.SampledFrom([][]string{{"2026-12-30T00:00", "2026-12-31T00:00"},
			{"2026-12-31T22:00", "2027-01-01T02:00"}}).Draw(t, "sale")
		r.from, r.to = sale[0], sale[1]
	default:
		least := rapid.IntRange(0, 4).Draw(t, "min")
		most := least + rapid.IntRange(0, 3).Draw(t, "span")
		r.min, r.max = &least, &most
		if r.kind == "party_size" || r.kind == "duration" {
			open := rapid.IntRange(0, 2).Draw(t, "open")
			if open == 0 {
				r.min = nil
			} else if open == 1 {
				r.max = nil
			}
		}
	}
}

func genSale(zone *time.Location, decimals int) *rapid.Generator[sale] {
	return rapid.Custom(func(t *rapid.T) sale {
		firstDay := rapid.SampledFrom([]string{"2026-12-30", "2027-02-27", "2028-02-27", "2026-08-30"}).Draw(t,
			"around")
		base := must(time.Parse(time.DateOnly, firstDay))
		s := sale{
			kind: rapid.SampledFrom([]Kind{Service, Event, Rental}).Draw(t, "kind"),
			id:   rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "id"),
			list: formatDecimal(rapid.SampledFrom([]int64{0, 1, 5, 333, 4000, 123457}).Draw(t, "list"), decimals),
			date: base.AddDate(0, 0, rapid.IntRange(-1, 4).Draw(t, "ahead")),
			boughtAt: time.Date(base.Year(), base.Month(), base.Day(), rapid.IntRange(0, 60).Draw(t, "hour"),
				rapid.SampledFrom([]int{0, 1, 59}).Draw(t, "minute"), 0, 0, zone),
			start: rapid.SampledFrom([]string{"", "00:00", "01:59", "02:00", "17:59", "18:00", "21:59", "22:00",
				"23:59"}).Draw(t, "start"),
		}
		s.partySize = genMaybe(rapid.IntRange(1, 6)).Draw(t, "party_size")
		s.units = genMaybe(rapid.IntRange(1, 6)).Draw(t, "units")
		s.firstBooking = genMaybe(rapid.Bool()).Draw(t, "first_booking")
		return s
	})
}

func genMaybe[T any](g *rapid.Generator[T]) *rapid.Generator[*T] { return rapid.Ptr(g, true) }

func (r ruleText) String() string {
	return fmt.Sprintf("{%s %s prio %d %s %s stop=%t to=%v %s..%s %v}", r.key, r.kind, r.priority, r.change, r.changeBy,
		r.stop,
		r.appliesTo, r.from, r.to, r.days)
}
