// Package occupancy counts how many units of a rental are free (semantics.md §4). It is pure.
//
// At each moment, the number of free units is max(0, min(quantity, units in service
// − units under maintenance) − units booked). For a span, the smallest number in it
// decides. Reservations that follow one another in the span therefore do not add up.
//
// The edges of a reservation are the moments at which it begins and ends. The package
// sorts the edges of all reservations and maintenance periods, and goes through them
// once (a sweep). One sweep gives the result for one span or for each day of a calendar.
//
// All times are instants (seconds since the epoch), so whole dates, hours over midnight and clock changes
// need no special case. A date lasts from its 00:00 to the 00:00 of the next date in the business's zone.
package occupancy

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Dates is a range of whole dates, both ends included.
type Dates struct{ From, To timespan.Date }

// Stock is the number of units of a rental and their maintenance.
type Stock struct {
	Quantity  int // the number that the owner offers; 0 offers nothing
	InService int
	// Maintenance has an entry for each period in which a unit
	// in service is away. The periods of one unit share no date.
	Maintenance []Dates
}

// Ceiling returns the largest number of units that can ever be free: the smaller one of Quantity and InService.
func (s Stock) Ceiling() int { return max(0, min(s.Quantity, s.InService)) }

// free returns the number of free units by the formula of semantics.md §4.
func (s Stock) free(maintained, booked int) int {
	return max(0, min(s.Quantity, s.InService-maintained)-booked)
}

// Reservation is a number of units that are occupied for the span During.
// If During is empty, the units are occupied for the whole Dates.
type Reservation struct {
	Units  int
	Dates  Dates
	During timespan.Span
	// Out means that the units were picked up and are not returned yet. Then they also occupy the current date of
	// the business, in addition to the reservation's own time. They do not occupy later dates beyond that time.
	Out bool
}

// Calendar is a range of dates in a business's time zone, together with the
// current time. All rentals of a request share one Calendar. It is immutable.
type Calendar struct {
	first     timespan.Date
	midnights []int64       // 00:00 of each date, and of the date after the last
	rest      timespan.Span // the rest of today, from now on
}

// NewCalendar returns the calendar of the dates, which must not be empty, at the instant now.
func NewCalendar(zone *time.Location, now time.Time, dates Dates) *Calendar {
	c := &Calendar{first: dates.From, midnights: make([]int64, 0, dates.To-dates.From+2)}
	for d := dates.From; d <= dates.To+1; d++ {
		c.midnights = append(c.midnights, timespan.Instant(d, 0, zone))
	}
	tonight := timespan.Instant(timespan.DateOf(now, zone)+1, 0, zone)
	c.rest = timespan.Span{Start: now.Unix(), End: tonight}
	return c
}

// Span returns the time from the calendar's first midnight to the end of its last date.
func (c *Calendar) Span() timespan.Span {
	return timespan.Span{Start: c.midnights[0], End: c.midnights[len(c.midnights)-1]}
}

// Days returns, for each date of the calendar, how many units are free during the
// whole day. The number is 0 for a date that the zone skipped at the date line.
func (c *Calendar) Days(s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, c.midnights)
}

// Between returns, for each pair of neighbouring cuts, how many units are free during the whole
// time between them. Cuts are instants; they must be sorted and lie within the calendar's dates.
func (c *Calendar) Between(cuts []int64, s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, cuts)
}

// During returns how many units are free during the whole span. The
// span must not be empty and must lie within the calendar's dates.
func (c *Calendar) During(span timespan.Span, s Stock, reservations []Reservation) int {
	return c.least(s, reservations, []int64{span.Start, span.End})[0]
}

// span returns the dates as instants, cut to the calendar.
func (c *Calendar) span(d Dates) timespan.Span {
	return timespan.Span{Start: c.midnight(d.From), End: c.midnight(d.To + 1)}
}

func (c *Calendar) midnight(d timespan.Date) int64 {
	last := len(c.midnights) - 1
	return c.midnights[min(max(int(d)-int(c.first), 0), last)]
}
