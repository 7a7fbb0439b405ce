// Package occupancy counts how many units of a rental are free (semantics.md §4). Its functions are pure.
//
// At each moment, the number of free units is max(0, min(quantity, units in service − units under
// maintenance) − units booked). The quantity is the number of units that the owner offers. For a span
// of time, the result is the smallest number of free units at any moment of the span. Therefore, if
// one reservation in the span ends before another begins, the units of both are not added up.
//
// The edges of a reservation are the moments at which it begins and ends. The package
// sorts the edges of all reservations and maintenance periods, and goes through them
// once (a sweep). One sweep gives the result for one span or for each day of a calendar.
//
// All times are instants (seconds since the epoch), so whole dates, hours over midnight and clock changes need
// no special case. A date lasts from its 00:00 to the 00:00 of the next date in the business's time zone.
package occupancy

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Dates is a range of dates. It includes both From and To.
type Dates struct{ From, To timespan.Date }

// Stock describes the units of a rental: how many there are, and when they are under maintenance.
type Stock struct {
	Quantity  int // the number of units that the owner offers; 0 if the owner has set no number
	InService int
	// Maintenance has an entry for each maintenance period of a unit
	// in service. Two periods of the same unit have no date in common.
	Maintenance []Dates
}

// Ceiling returns the largest number of units that can ever be free: the minimum of Quantity and InService.
func (s Stock) Ceiling() int { return max(0, min(s.Quantity, s.InService)) }

// countFree returns the number of free units according to the formula of semantics.md §4. The argument `maintained` is
// the number of units under maintenance, and `booked` is the number of booked units.
func (s Stock) countFree(maintained, booked int) int {
	return max(0, min(s.Quantity, s.InService-maintained)-booked)
}

// Reservation is a number of units that are occupied during the span Span. If
// Span is the zero value, the units are occupied all day on each date of Dates.
type Reservation struct {
	Units int
	Dates Dates
	Span  timespan.Span
	// IsOut means that the customer picked up the units and has not returned them yet. Such units
	// are also occupied from now to the end of the business's current date, even if the reservation
	// has ended. After the reservation's end, they do not occupy dates after the current date.
	IsOut bool
}

// Calendar is a range of dates in a business's time zone, together with the
// current time. One Calendar serves all rentals of a request. It is immutable.
type Calendar struct {
	first       timespan.Date
	midnights   []int64       // 00:00 of each date, and of the date after the last date
	restOfToday timespan.Span // from now to the end of the current date
}

// NewCalendar returns the calendar of a range of dates, which
// must not be empty. The argument `now` is the current time.
func NewCalendar(zone *time.Location, now time.Time, dates Dates) *Calendar {
	c := &Calendar{first: dates.From, midnights: make([]int64, 0, dates.To-dates.From+2)}
	for d := dates.From; d <= dates.To+1; d++ {
		c.midnights = append(c.midnights, timespan.Instant(d, 0, zone))
	}
	tonight := timespan.Instant(timespan.DateOf(now, zone)+1, 0, zone)
	c.restOfToday = timespan.Span{Start: now.Unix(), End: tonight}
	return c
}

// Span returns the time from the calendar's first midnight to the end of its last date.
func (c *Calendar) Span() timespan.Span {
	return timespan.Span{Start: c.midnights[0], End: c.midnights[len(c.midnights)-1]}
}

// CountFreeByDay returns, for each date of the calendar, how many units are free during the whole
// day. The number is 0 for a date that the time zone skipped when it crossed the date line.
func (c *Calendar) CountFreeByDay(s Stock, reservations []Reservation) []int {
	return c.findMinimums(s, reservations, c.midnights)
}

// CountFreeBetween returns, for each pair of neighbouring instants in the argument `cuts`, how many units are free
// during the whole time between these two instants. The instants must be sorted and lie within the calendar's dates.
func (c *Calendar) CountFreeBetween(cuts []int64, s Stock, reservations []Reservation) []int {
	return c.findMinimums(s, reservations, cuts)
}

// CountFree returns how many units are free during the whole span. The
// span must not be empty and must lie within the calendar's dates.
func (c *Calendar) CountFree(span timespan.Span, s Stock, reservations []Reservation) int {
	return c.findMinimums(s, reservations, []int64{span.Start, span.End})[0]
}

// span returns the time from the beginning to the end of a range of dates. Time outside the calendar is cut off.
func (c *Calendar) span(d Dates) timespan.Span {
	return timespan.Span{Start: c.midnight(d.From), End: c.midnight(d.To + 1)}
}

func (c *Calendar) midnight(d timespan.Date) int64 {
	last := len(c.midnights) - 1
	return c.midnights[min(max(int(d)-int(c.first), 0), last)]
}
