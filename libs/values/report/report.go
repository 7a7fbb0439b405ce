// Package report holds the common types of all services' reports: their
// dates, and the periods by which they add up (pages.md, Reports).
package report

import (
	"encoding/json"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// By is the length of the periods of a report. Each row of a report is about one period.
type By string

// The lengths of periods; weeks begin on Mondays.
const (
	Day   By = "day"
	Week  By = "week"
	Month By = "month"
)

// MaxDays is the maximal number of dates of a report: three years.
const MaxDays = 3*365 + 1

// MaxRows is the maximal number of rows of a report.
const MaxRows = 50_000

// TooManyRows returns the fault of a report with more than [MaxRows].
func TooManyRows() error {
	return fault.Newf(fault.InvalidParameter,
		"by: there are more than %d rows; ask for fewer dates, or by week or month.", MaxRows)
}

// Query requests a report about the dates From to To of the business, both inclusive. The date of a row is the
// first date of its period. For the first row it can be before From, but dates before From are not counted.
type Query struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
	By   By            `json:"by"`
}

// Check validates a query. Faults: invalid_parameter.
func (q Query) Check() error {
	switch {
	case q.By != Day && q.By != Week && q.By != Month:
		return fault.Newf(fault.InvalidParameter, "by: write day, week or month.")
	case q.To < q.From:
		return fault.Newf(fault.InvalidParameter, "to: %s lies before from, %s; give a date on or after it.", q.To,
			q.From)
	case q.To-q.From >= MaxDays:
		return fault.Newf(fault.InvalidParameter, "Window too large (max %d days).", MaxDays)
	}
	return nil
}

// Values returns the query parameters of a request for the report.
func (q Query) Values() url.Values {
	return url.Values{"from": {q.From.String()}, "to": {q.To.String()}, "by": {string(q.By)}}
}

// Start returns the first date of the period that contains d.
func (by By) Start(d timespan.Date) timespan.Date {
	switch by {
	case Week:
		const week = 7
		return d - timespan.Date((int(d.Weekday())+week-1)%week)
	case Month:
		year, month, _ := d.YMD()
		return timespan.NewDate(year, month, 1)
	default: // a day is its own period
	}
	return d
}

// Periods returns the first dates of all periods with a date in the query, in order.
func (q Query) Periods() []timespan.Date {
	var all []timespan.Date
	for start := q.By.Start(q.From); start <= q.To; start = q.By.next(start) {
		all = append(all, start)
	}
	return all
}

// next returns the first date of the period after the one that begins at start.
func (by By) next(start timespan.Date) timespan.Date {
	switch by {
	case Week:
		return start + 7
	case Month:
		year, month, _ := start.YMD()
		return timespan.NewDate(year, month+1, 1)
	default: // a day is its own period
	}
	return start + 1
}

// Report is a report about a business, with dates in the business's time zone.
type Report[Row any] struct {
	Query
	Timezone string `json:"timezone"`
	Rows     []Row  `json:"rows"`
}

// Revenue is the revenue from sales. A sale counts on the start date of the booking, event or reservation.
type Revenue struct {
	Rows []RevenueRow `json:"rows"` // by date, kind and currency
}

// RevenueRow is the revenue of one kind of sale, in one currency and period.
type RevenueRow struct {
	Date     timespan.Date `json:"date"` // first date of the period
	Kind     string        `json:"kind"` // booking, ticket or reservation
	Currency string        `json:"currency"`
	Sold     int64         `json:"sold"`     // bookings, orders of tickets or reservations that are not cancelled
	Total    json.Number   `json:"total"`    // sum of their prices; sales of the owner without a price count 0
	Paid     json.Number   `json:"paid"`     // paid online, including later refunds
	Refunded json.Number   `json:"refunded"` // refunded part of Paid
}

// UtilisationRow is the booked part of a member's working time in one period.
type UtilisationRow struct {
	Date          timespan.Date `json:"date"` // first date of the period
	StaffID       uuid.UUID     `json:"staff_id"`
	StaffName     string        `json:"staff_name"`     // "" if the offer no longer has the member
	BookedMinutes int64         `json:"booked_minutes"` // with buffers, also outside working hours
	OpenMinutes   int64         `json:"open_minutes"`   // by the currently published hours, without blocked time
	// Utilisation is BookedMinutes divided by OpenMinutes; null if the member has no
	// working hours in the period. Bookings outside working hours can raise it above 1.
	Utilisation *float64 `json:"utilisation"`
}
