// Package occupancy counts how many units of a rental are free (semantics.md §4). It is pure.
//
// The units free at a moment are max(0, min(quantity, units in service − units under maintenance) − units
// booked). The busiest moment of a span decides, not the sum of the reservations in it. One sweep over the
// sorted edges of reservations and maintenance finds that moment, for one span or for each day of a calendar.
//
// All times are instants (seconds since the epoch), so whole dates, hours over midnight and clock changes
// need no special case. A date lasts from its 00:00 to the 00:00 of the next date in the business's zone.
package occupancy

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
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

// Ceiling returns the most units that can ever be free: the smaller of Quantity and InService.
func (s Stock) Ceiling() int { return max(0, min(s.Quantity, s.InService)) }

// free returns the number of free units by the formula of semantics.md §4.
func (s Stock) free(maintained, booked int) int {
	return max(0, min(s.Quantity, s.InService-maintained)-booked)
}

// Reservation occupies units for the span During, or for the whole Dates if During is empty.
type Reservation struct {
	Units  int
	Dates  Dates
	During timespan.Span
	// Out reports that the units were picked up and are not returned yet. They
	// then also occupy the rest of the business's current date, before and after
	// the reservation's own time. They do not occupy later dates beyond that time.
	Out bool
}

// Calendar is a range of dates in one business's zone, seen at
// one moment. All rentals of a request share it; it is immutable.
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

// Days returns, for each date of the calendar, how many units are free
// all day. It returns 0 for a date that the zone skipped altogether.
func (c *Calendar) Days(s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, c.midnights)
}

// Between returns, for each two neighbouring cuts, how many units are free at every
// moment between them. The cuts are sorted and lie within the calendar's dates.
func (c *Calendar) Between(cuts []int64, s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, cuts)
}

// During returns how many units are free at every moment of span,
// which must not be empty and must lie within the calendar's dates.
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
