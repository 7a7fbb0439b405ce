package tariff

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/rule"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Purchase is what is known of a purchase when it is priced. Rules that need what is nil do not apply.
type Purchase struct {
	Moment       Moment
	Date         timespan.Date       // the booking date
	Start        *timespan.TimeOfDay // 00:00 to 23:59
	PartySize    *int
	FirstBooking *bool // the customer has no earlier booking with the business
	Units        *int  // hours or days of a rental
}

// Moment is when something is bought: the instant, and the business's date at it.
type Moment struct {
	Instant  int64 // seconds since the Unix epoch
	Today    timespan.Date
	Tomorrow int64 // the instant at which the business's date is no longer Today
}

// MomentAt returns the moment that the instant t is for a business in loc.
func MomentAt(t time.Time, loc *time.Location) Moment {
	today := timespan.DateOf(t, loc)
	return Moment{Instant: t.Unix(), Today: today, Tomorrow: timespan.Instant(today+1, 0, loc)}
}

// daysBefore counts the days from the business's today to the booking date.
func (p Purchase) daysBefore() int { return int(p.Date) - int(p.Moment.Today) }

// Condition says when a rule applies.
type Condition interface {
	holds(p Purchase) bool
}

// timed is a condition that time turns: for one purchase it may hold at a moment and not at a later one.
type timed interface {
	// turns returns the first instant after m at which the condition may hold where it did not, or the other way round.
	turns(m Moment) int64
}

// never is after all instants.
const never = math.MaxInt64

// conditions make the condition of each kind of what its rule says. Of its fields, those are written that [rule.Kinds]
// says it needs.
var conditions = map[rule.Kind]func(w rule.When, loc *time.Location) Condition{
	rule.Seasonal: func(w rule.When, _ *time.Location) Condition {
		if w.From.Form == rule.MonthDayForm {
			return Yearly{From: MonthDayOf(w.From.Date), To: MonthDayOf(w.To.Date)}
		}
		return Season{From: w.From.Date, To: w.To.Date}
	},
	rule.DayOfWeek: func(w rule.When, _ *time.Location) Condition { return DaysOfWeekOf(w.Days) },
	rule.TimeOfDay: func(w rule.When, _ *time.Location) Condition { return TimeOfDay(w.From.Until(*w.To)) },
	rule.FlashSale: func(w rule.When, loc *time.Location) Condition {
		return FlashSaleBetween(w.From.DateTime(), w.To.DateTime(), loc)
	},
	rule.EarlyBird:    func(w rule.When, _ *time.Location) Condition { return EarlyBird(*w.MinDaysBefore) },
	rule.LastMinute:   func(w rule.When, _ *time.Location) Condition { return LastMinute(*w.MaxDaysBefore) },
	rule.PartySize:    func(w rule.When, _ *time.Location) Condition { return PartySize{Min: w.Min, Max: w.Max} },
	rule.FirstBooking: func(rule.When, *time.Location) Condition { return FirstBooking{} },
	rule.Duration:     func(w rule.When, _ *time.Location) Condition { return Duration{Min: w.MinUnits, Max: w.MaxUnits} },
}

// ConditionOf returns the condition of a rule of a kind, for a business in loc. It refuses a kind that this build does not
// know and a rule that lacks what its kind needs: no price is better than a wrong one.
func ConditionOf(kind rule.Kind, when rule.When, loc *time.Location) (Condition, error) {
	spec, known := rule.SpecOf(kind)
	if !known {
		return nil, fmt.Errorf("the kind %q is not known", kind)
	}
	written := when.Written()
	for _, field := range spec.All {
		if !slices.Contains(written, field) {
			return nil, fmt.Errorf("kind %s lacks %s", kind, field)
		}
	}
	return conditions[kind](when, loc), nil
}

// Season holds on booking dates from From to To, both included.
type Season struct{ From, To timespan.Date }

func (s Season) holds(p Purchase) bool { return s.From <= p.Date && p.Date <= s.To }

// Yearly holds on booking dates from one day of the year to another, both included, in every year. Where From comes
// after To, it runs over the new year. 02-29 as a bound stands for its place between 02-28 and 03-01, also in years
// that lack it.
type Yearly struct{ From, To MonthDay }

func (y Yearly) holds(p Purchase) bool {
	day := MonthDayOf(p.Date)
	if y.From <= y.To {
		return y.From <= day && day <= y.To
	}
	return day >= y.From || day <= y.To
}

// MonthDay is a day of the year without the year; it compares in the order of the calendar.
type MonthDay int

// MonthDayOf returns the month and day of d.
func MonthDayOf(d timespan.Date) MonthDay {
	_, month, day := d.YMD()
	return MonthDay(int(month)*100 + day)
}

// DaysOfWeek holds on booking dates of some weekdays: bit n stands for [time.Weekday] n.
type DaysOfWeek uint8

// DaysOfWeekOf returns the condition that holds on days.
func DaysOfWeekOf(days []timespan.Weekday) DaysOfWeek {
	var set DaysOfWeek
	for _, d := range days {
		set |= 1 << d
	}
	return set
}

func (d DaysOfWeek) holds(p Purchase) bool { return d&(1<<p.Date.Weekday()) != 0 }

// TimeOfDay holds for starts in [From, To) on the wall clock of any day. Of a window over midnight, the part after
// midnight counts for starts of that hour, whatever their date.
type TimeOfDay timespan.Window

func (w TimeOfDay) holds(p Purchase) bool {
	if p.Start == nil {
		return false
	}
	start := *p.Start
	return w.From <= start && start < w.To || start+timespan.MinutesPerDay < w.To
}

// FlashSale holds for purchases within a half-open span of instants.
type FlashSale timespan.Span

// FlashSaleBetween returns the sale between two moments of the wall clock of loc. Where a clock change skips or
// repeats one, it is the instant that semantics.md §1 says; so a sale that has ended does not begin again.
func FlashSaleBetween(from, to timespan.LocalDateTime, loc *time.Location) FlashSale {
	return FlashSale{
		Start: timespan.Instant(from.Date, from.Time, loc),
		End:   timespan.Instant(to.Date, to.Time, loc),
	}
}

func (s FlashSale) holds(p Purchase) bool {
	return s.Start <= p.Moment.Instant && p.Moment.Instant < s.End
}

func (s FlashSale) turns(m Moment) int64 {
	switch {
	case m.Instant < s.Start:
		return s.Start
	case m.Instant < s.End:
		return s.End
	}
	return never
}

// EarlyBird holds when the booking date is at least so many days ahead.
type EarlyBird int

func (least EarlyBird) holds(p Purchase) bool { return p.daysBefore() >= int(least) }
func (EarlyBird) turns(m Moment) int64        { return m.Tomorrow }

// LastMinute holds when the booking date is today or ahead by at most so many days. It does not hold for dates that
// have passed: nothing is bought at the last minute after it.
type LastMinute int

func (most LastMinute) holds(p Purchase) bool {
	days := p.daysBefore()
	return 0 <= days && days <= int(most)
}

func (LastMinute) turns(m Moment) int64 { return m.Tomorrow }

// Range is a span of whole numbers, both ends included; nil leaves an end open.
type Range struct{ Min, Max *int }

// includes reports whether n is known and within r.
func (r Range) includes(n *int) bool {
	return n != nil && (r.Min == nil || *r.Min <= *n) && (r.Max == nil || *n <= *r.Max)
}

// PartySize holds for parties of a size within the range.
type PartySize Range

func (r PartySize) holds(p Purchase) bool { return Range(r).includes(p.PartySize) }

// FirstBooking holds when the customer is known to have no earlier booking with the business.
type FirstBooking struct{}

func (FirstBooking) holds(p Purchase) bool { return p.FirstBooking != nil && *p.FirstBooking }

// Duration holds for rentals of a number of units, hours or days as the rental is priced, within the range.
type Duration Range

func (r Duration) holds(p Purchase) bool { return Range(r).includes(p.Units) }
