package tariff

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Purchase contains the data of a purchase that are known when the price is computed.
// A nil field is unknown. A rule that needs an unknown field does not apply.
type Purchase struct {
	Moment       Moment
	Date         timespan.Date       // the booking date
	Start        *timespan.TimeOfDay // local start time, 00:00 to 23:59
	PartySize    *int
	FirstBooking *bool // whether the customer has no earlier booking with the business
	Units        *int  // number of hours or days for which the customer rents
}

// Moment is the time of a purchase: the instant, and the date that the business has at this instant.
type Moment struct {
	Instant  int64 // the instant, in seconds since the Unix epoch
	Today    timespan.Date
	Tomorrow int64 // the instant at which Today ends
}

// NewMoment returns the moment of the instant t for a business in the time zone loc.
func NewMoment(t time.Time, loc *time.Location) Moment {
	today := timespan.DateOf(t, loc)
	return Moment{Instant: t.Unix(), Today: today, Tomorrow: timespan.Instant(today+1, 0, loc)}
}

// countDaysAhead returns the number of days from the date of the purchase to the booking date.
func (p Purchase) countDaysAhead() int { return int(p.Date) - int(p.Moment.Today) }

// Condition decides whether a pricing rule applies to a purchase.
type Condition interface {
	holds(p Purchase) bool
}

// timedCondition is a condition that depends on the time of the purchase. For example, the
// condition may hold for a purchase now, and not hold for the same purchase at a later time.
type timedCondition interface {
	// nextTurn returns the first instant after m at which the result of the condition
	// may change. It returns [endOfTime] if the result does not change any more.
	nextTurn(m Moment) int64
}

// endOfTime is the latest instant. It is used if there is no next instant.
const endOfTime = math.MaxInt64

// conditions maps each kind of rule to a function that creates a rule's condition from [rule.When]. The functions
// use the fields that [rule.SpecOf] requires for the kind without checking for nil. Optional fields may be nil.
var conditions = map[rule.Kind]func(w rule.When, loc *time.Location) Condition{
	rule.Seasonal: func(w rule.When, _ *time.Location) Condition {
		if w.From.Form == rule.MonthDayForm {
			return Yearly{From: NewMonthDay(w.From.Date), To: NewMonthDay(w.To.Date)}
		}
		return Season{From: w.From.Date, To: w.To.Date}
	},
	rule.DayOfWeek: func(w rule.When, _ *time.Location) Condition { return NewDaysOfWeek(w.Days) },
	rule.TimeOfDay: func(w rule.When, _ *time.Location) Condition { return TimeOfDay(w.From.Until(*w.To)) },
	rule.FlashSale: func(w rule.When, loc *time.Location) Condition {
		return NewFlashSale(w.From.DateTime(), w.To.DateTime(), loc)
	},
	rule.EarlyBird:    func(w rule.When, _ *time.Location) Condition { return EarlyBird(*w.MinDaysBefore) },
	rule.LastMinute:   func(w rule.When, _ *time.Location) Condition { return LastMinute(*w.MaxDaysBefore) },
	rule.PartySize:    func(w rule.When, _ *time.Location) Condition { return PartySize{Min: w.Min, Max: w.Max} },
	rule.FirstBooking: func(rule.When, *time.Location) Condition { return FirstBooking{} },
	rule.Duration: func(w rule.When, _ *time.Location) Condition {
		return Duration{Min: w.MinUnits, Max: w.MaxUnits}
	},
}

// NewCondition returns the condition of a rule of this kind, for a business in the time zone loc. NewCondition returns
// an error if the kind is unknown or a required field is missing, because a wrong price would be worse than no price.
func NewCondition(kind rule.Kind, when rule.When, loc *time.Location) (Condition, error) {
	spec, isKnown := rule.SpecOf(kind)
	if !isKnown {
		return nil, fmt.Errorf("the kind %q is not known", kind)
	}
	writtenFields := when.FieldNames()
	for _, field := range spec.All {
		if !slices.Contains(writtenFields, field) {
			return nil, fmt.Errorf("kind %s lacks %s", kind, field)
		}
	}
	return conditions[kind](when, loc), nil
}

// Season holds for booking dates from From to To, both included.
type Season struct{ From, To timespan.Date }

func (s Season) holds(p Purchase) bool { return s.From <= p.Date && p.Date <= s.To }

// Yearly holds for booking dates in a part of every year, from one day of the year to another,
// both included. If From is after To, the part includes the turn of the year. February 29 can be
// From or To. In a year without February 29, it counts as a day between February 28 and March 1.
type Yearly struct{ From, To MonthDay }

func (y Yearly) holds(p Purchase) bool {
	day := NewMonthDay(p.Date)
	if y.From <= y.To {
		return y.From <= day && day <= y.To
	}
	return day >= y.From || day <= y.To
}

// MonthDay is a day of the year without the year, as month·100 + day. Therefore its values are in calendar order.
type MonthDay int

// NewMonthDay returns the month and day of d.
func NewMonthDay(d timespan.Date) MonthDay {
	_, month, day := d.YMD()
	return MonthDay(int(month)*100 + day)
}

// DaysOfWeek holds for booking dates on certain days of the week. Bit n is set if the [time.Weekday] n is one of them.
type DaysOfWeek uint8

// NewDaysOfWeek returns the condition that holds for booking dates on the given days of the week.
func NewDaysOfWeek(days []timespan.Weekday) DaysOfWeek {
	var set DaysOfWeek
	for _, d := range days {
		set |= 1 << d
	}
	return set
}

func (d DaysOfWeek) holds(p Purchase) bool { return d&(1<<p.Date.Weekday()) != 0 }

// TimeOfDay holds if the booking starts at a local time in [From, To), on any date. If the window
// lasts beyond midnight, TimeOfDay also holds for starts in the part after midnight, on any date.
type TimeOfDay timespan.Window

func (w TimeOfDay) holds(p Purchase) bool {
	if p.Start == nil {
		return false
	}
	start := *p.Start
	return w.From <= start && start < w.To || start+timespan.MinutesPerDay < w.To
}

// FlashSale holds for purchases at an instant from Start, up to but excluding End.
type FlashSale timespan.Span

// NewFlashSale returns the sale between two local times in the time zone loc. If a clock change skips or repeats
// a local time, semantics.md §1 determines the instant. Therefore a sale that has ended does not begin again.
func NewFlashSale(from, to timespan.LocalDateTime, loc *time.Location) FlashSale {
	return FlashSale{
		Start: timespan.Instant(from.Date, from.Time, loc),
		End:   timespan.Instant(to.Date, to.Time, loc),
	}
}

func (s FlashSale) holds(p Purchase) bool {
	return s.Start <= p.Moment.Instant && p.Moment.Instant < s.End
}

func (s FlashSale) nextTurn(m Moment) int64 {
	switch {
	case m.Instant < s.Start:
		return s.Start
	case m.Instant < s.End:
		return s.End
	}
	return endOfTime
}

// EarlyBird holds if the booking date is at least this number of days after the date of the purchase.
type EarlyBird int

func (least EarlyBird) holds(p Purchase) bool { return p.countDaysAhead() >= int(least) }
func (EarlyBird) nextTurn(m Moment) int64     { return m.Tomorrow }

// LastMinute holds if the booking date is at most this number of days after the date of
// the purchase. It does not hold if the booking date is before the date of the purchase.
type LastMinute int

func (most LastMinute) holds(p Purchase) bool {
	days := p.countDaysAhead()
	return 0 <= days && days <= int(most)
}

func (LastMinute) nextTurn(m Moment) int64 { return m.Tomorrow }

// Range is a range of whole numbers that includes Min and Max.
// If Min or Max is nil, the range has no limit on that side.
type Range struct{ Min, Max *int }

// includes reports whether n is in the range r. If n is nil, the number is unknown and the result is false.
func (r Range) includes(n *int) bool {
	return n != nil && (r.Min == nil || *r.Min <= *n) && (r.Max == nil || *n <= *r.Max)
}

// PartySize holds if the size of the party is known and in the range.
type PartySize Range

func (r PartySize) holds(p Purchase) bool { return Range(r).includes(p.PartySize) }

// FirstBooking holds if it is known that the customer has no earlier booking with the business.
type FirstBooking struct{}

func (FirstBooking) holds(p Purchase) bool { return p.FirstBooking != nil && *p.FirstBooking }

// Duration holds if the length of a rental is known and in the range. The
// length is in hours if the rental has a price per hour, otherwise in days.
type Duration Range

func (r Duration) holds(p Purchase) bool { return Range(r).includes(p.Units) }
