// Package report is what the reports of all services share: which dates they are about, and by which stretches of time they add up
// (pages.md, Reports).
package report

import (
	"encoding/json"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// By is a stretch of time that a report has rows for.
type By string

// The stretches; weeks begin on Mondays.
const (
	Day   By = "day"
	Week  By = "week"
	Month By = "month"
)

// MaxDays bounds the dates of a report: three years.
const MaxDays = 3*365 + 1

// MaxRows bounds the rows of a report.
const MaxRows = 50_000

// TooManyRows refuses a report of more than [MaxRows].
func TooManyRows() error {
	return fault.Newf(fault.InvalidParameter, "by: there are more than %d rows; ask for fewer dates, or by week or month.", MaxRows)
}

// Query asks for a report about the dates From to To of the business, both included. Row by row its date is the first of the stretch,
// which for the first row may lie before From: what it counts does not.
type Query struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
	By   By            `json:"by"`
}

// Check bounds a query. Faults: invalid_parameter.
func (q Query) Check() error {
	switch {
	case q.By != Day && q.By != Week && q.By != Month:
		return fault.Newf(fault.InvalidParameter, "by: write day, week or month.")
	case q.To < q.From:
		return fault.Newf(fault.InvalidParameter, "to: %s lies before from, %s; give a date on or after it.", q.To, q.From)
	case q.To-q.From >= MaxDays:
		return fault.Newf(fault.InvalidParameter, "Window too large (max %d days).", MaxDays)
	}
	return nil
}

// Values are the parameters of a request for it.
func (q Query) Values() url.Values {
	return url.Values{"from": {q.From.String()}, "to": {q.To.String()}, "by": {string(q.By)}}
}

// Start is the first date of the stretch in which d lies.
func (by By) Start(d timespan.Date) timespan.Date {
	switch by {
	case Week:
		const week = 7
		return d - timespan.Date((int(d.Weekday())+week-1)%week)
	case Month:
		year, month, _ := d.YMD()
		return timespan.NewDate(year, month, 1)
	default: // a day is its own stretch
	}
	return d
}

// Stretches are the first dates of all stretches in which a date of the query lies, in their order.
func (q Query) Stretches() []timespan.Date {
	var all []timespan.Date
	for start := q.By.Start(q.From); start <= q.To; start = q.By.next(start) {
		all = append(all, start)
	}
	return all
}

// next is the first date of the stretch that follows the one which begins at start.
func (by By) next(start timespan.Date) timespan.Date {
	switch by {
	case Week:
		return start + 7
	case Month:
		year, month, _ := start.YMD()
		return timespan.NewDate(year, month+1, 1)
	default: // a day is its own stretch
	}
	return start + 1
}

// Report is a report about a business, in its time zone.
type Report[Row any] struct {
	Query
	Timezone string `json:"timezone"`
	Rows     []Row  `json:"rows"`
}

// Revenue is what was sold and paid, by the date on which it begins.
type Revenue struct {
	Rows []RevenueRow `json:"rows"` // by date, kind and currency
}

// RevenueRow is one kind of what is sold, in one currency and stretch.
type RevenueRow struct {
	Date     timespan.Date `json:"date"` // the first of the stretch
	Kind     string        `json:"kind"` // booking, ticket or reservation
	Currency string        `json:"currency"`
	Sold     int64         `json:"sold"`     // bookings, orders of tickets or reservations that are not cancelled
	Total    json.Number   `json:"total"`    // their prices; what the owner gave away without a price counts 0
	Paid     json.Number   `json:"paid"`     // online, whatever became of it
	Refunded json.Number   `json:"refunded"` // of that, what has gone back
}

// UtilisationRow says how much of a member's time is booked in one stretch.
type UtilisationRow struct {
	Date          timespan.Date `json:"date"` // the first of the stretch
	StaffID       uuid.UUID     `json:"staff_id"`
	StaffName     string        `json:"staff_name"`     // "" where the offer does not know the member any more
	BookedMinutes int64         `json:"booked_minutes"` // buffers included, also outside of hours
	OpenMinutes   int64         `json:"open_minutes"`   // of the hours published now, without blocked time
	// Utilisation is booked by open minutes; null where the member does not work. What is booked outside of hours may bring it above 1.
	Utilisation *float64 `json:"utilisation"`
}
