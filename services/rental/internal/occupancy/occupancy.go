// Package occupancy counts how many units of a rental are free (semantics.md §4). It is pure.
//
// Units free at a moment are max(0, min(quantity, units in service − units under maintenance then) − units booked then).
// The busiest moment of a stretch of time decides, never the total of the reservations that touch it. One sweep over the sorted edges of
// reservations and maintenance finds that moment, for one stretch or for each day of a calendar.
//
// Everything is counted in instants (seconds since the epoch), so that whole dates, hours over midnight and clock
// changes are one calculation; a date lasts from its 00:00 to the 00:00 of the next in the business's zone.
package occupancy

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Dates is a stretch of whole dates, both included.
type Dates struct{ From, To timespan.Date }

// Stock is what there is of a rental.
type Stock struct {
	Quantity  int // what the owner offers; 0 offers nothing
	InService int
	// Maintenance has an entry for each stretch in which a unit in service is away. The stretches of one unit share no
	// date.
	Maintenance []Dates
}

// Ceiling is the most that can ever be free: the smaller of quantity and the units in service.
func (s Stock) Ceiling() int { return max(0, min(s.Quantity, s.InService)) }

// free is the formula of semantics.md §4.
func (s Stock) free(maintained, booked int) int {
	return max(0, min(s.Quantity, s.InService-maintained)-booked)
}

// Reservation holds units: on whole Dates, or for hours During, where During is not empty.
type Reservation struct {
	Units  int
	Dates  Dates
	During timespan.Span
	// Out says that the units were picked up and have not come back: they are held for the rest of the business's today
	// too, before and after the reservation's own time. Later dates are held by its own time alone.
	Out bool
}

// Calendar is a stretch of dates in one business's zone, seen from one moment. It is shared by all rentals asked about
// and never changed.
type Calendar struct {
	first     timespan.Date
	midnights []int64       // 00:00 of each date, and of the date after the last
	rest      timespan.Span // of today
}

// NewCalendar returns the calendar of dates, which are not empty, at the instant now.
func NewCalendar(zone *time.Location, now time.Time, dates Dates) *Calendar {
	c := &Calendar{first: dates.From, midnights: make([]int64, 0, dates.To-dates.From+2)}
	for d := dates.From; d <= dates.To+1; d++ {
		c.midnights = append(c.midnights, timespan.Instant(d, 0, zone))
	}
	tonight := timespan.Instant(timespan.DateOf(now, zone)+1, 0, zone)
	c.rest = timespan.Span{Start: now.Unix(), End: tonight}
	return c
}

// Span is all of the calendar's dates.
func (c *Calendar) Span() timespan.Span {
	return timespan.Span{Start: c.midnights[0], End: c.midnights[len(c.midnights)-1]}
}

// Days returns, for each date of the calendar, how many units are free all day. A date that the zone skipped altogether
// has none.
func (c *Calendar) Days(s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, c.midnights)
}

// Between returns how many units are free at every moment between each two neighbouring cuts, which are sorted and lie within the
// calendar's dates.
func (c *Calendar) Between(cuts []int64, s Stock, reservations []Reservation) []int {
	return c.least(s, reservations, cuts)
}

// During returns how many units are free at every moment of span, which is not empty and lies within the calendar's
// dates.
func (c *Calendar) During(span timespan.Span, s Stock, reservations []Reservation) int {
	return c.least(s, reservations, []int64{span.Start, span.End})[0]
}

// span is a stretch of dates as instants, cut to the calendar.
func (c *Calendar) span(d Dates) timespan.Span {
	return timespan.Span{Start: c.midnight(d.From), End: c.midnight(d.To + 1)}
}

func (c *Calendar) midnight(d timespan.Date) int64 {
	last := len(c.midnights) - 1
	return c.midnights[min(max(int(d)-int(c.first), 0), last)]
}
