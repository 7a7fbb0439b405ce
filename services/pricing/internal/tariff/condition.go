package tariff

import (
	"time"

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
	Instant int64 // seconds since the Unix epoch
	Today   timespan.Date
}

// MomentAt returns the moment that the instant t is for a business in loc.
func MomentAt(t time.Time, loc *time.Location) Moment {
	return Moment{Instant: t.Unix(), Today: timespan.DateOf(t, loc)}
}

// daysBefore counts the days from the business's today to the booking date.
func (p Purchase) daysBefore() int { return int(p.Date) - int(p.Moment.Today) }

// Condition says when a rule applies. The conditions are the kinds of rules of the manifest.
type Condition interface {
	holds(p Purchase) bool
}

var (
	_ Condition = Season{}
	_ Condition = Yearly{}
	_ Condition = DaysOfWeek(0)
	_ Condition = TimeOfDay{}
	_ Condition = FlashSale{}
	_ Condition = EarlyBird(0)
	_ Condition = LastMinute(0)
	_ Condition = PartySize{}
	_ Condition = FirstBooking{}
	_ Condition = Duration{}
)

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
func DaysOfWeekOf(days []time.Weekday) DaysOfWeek {
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

// EarlyBird holds when the booking date is at least so many days ahead.
type EarlyBird int

func (least EarlyBird) holds(p Purchase) bool { return p.daysBefore() >= int(least) }

// LastMinute holds when the booking date is today or ahead by at most so many days. It does not hold for dates that
// have passed: nothing is bought at the last minute after it.
type LastMinute int

func (most LastMinute) holds(p Purchase) bool {
	days := p.daysBefore()
	return 0 <= days && days <= int(most)
}

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
