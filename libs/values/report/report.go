// Package report defines the types that the reports of all services share: the dates
// of a report, and the periods over which it adds up values (pages.md, Reports).
package report

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// By is the grouping of a report: the length of its periods, or what its rows belong to. A report by [Location],
// [Service], [Staff] or [CustomerKind] has one period, which is the whole time of the report.
type By string

// These constants are the possible groupings. Weeks begin on Monday.
const (
	Day          By = "day"
	Week         By = "week"
	Month        By = "month"
	Location     By = "location"
	Service      By = "service"
	Staff        By = "staff"
	CustomerKind By = "customer_kind"
)

// All returns all groupings, those by time first.
func All() []By { return []By{Day, Week, Month, Location, Service, Staff, CustomerKind} }

// IsTime reports whether the rows of a report belong to periods.
func (by By) IsTime() bool { return by == Day || by == Week || by == Month }

// The values of [Group.CustomerKind].
const (
	NewCustomer       = "new"       // the customer has no earlier booking that is not cancelled
	ReturningCustomer = "returning" // the customer has such a booking
)

// Group is what a row belongs to in a report that is not by time. Only the fields of the report's grouping are set. All
// fields are zero for sales without such a group, such as tickets in a report by [Service].
type Group struct {
	LocationID   *uuid.UUID `json:"location_id,omitempty"`
	LocationName string     `json:"location_name,omitempty"`
	ServiceID    *uuid.UUID `json:"service_id,omitempty"`
	ServiceName  string     `json:"service_name,omitempty"`
	StaffID      *uuid.UUID `json:"staff_id,omitempty"`
	StaffName    string     `json:"staff_name,omitempty"`
	CustomerKind string     `json:"customer_kind,omitempty"` // NewCustomer, ReturningCustomer, or "" without an e-mail address
}

// NewGroup returns the group with the given id and name in a report by `by`. It returns the zero Group for a nil id.
func NewGroup(by By, id *uuid.UUID, name string) Group {
	switch {
	case id == nil:
		return Group{}
	case by == Location:
		return Group{LocationID: id, LocationName: name}
	case by == Service:
		return Group{ServiceID: id, ServiceName: name}
	}
	return Group{StaffID: id, StaffName: name}
}

// ID returns the id of the location, service or member, or nil.
func (g Group) ID() *uuid.UUID { return cmp.Or(g.LocationID, g.ServiceID, g.StaffID) }

// Name returns the name of the location, service or member, or the kind of customers.
func (g Group) Name() string {
	return cmp.Or(g.LocationName, g.ServiceName, g.StaffName, g.CustomerKind)
}

// Equals reports whether two rows belong to the same group. Their names can differ.
func (g Group) Equals(other Group) bool {
	a, b := g.ID(), other.ID()
	return g.CustomerKind == other.CustomerKind && (a == b || a != nil && b != nil && *a == *b)
}

// MaxDays is the maximal number of days that a report may cover: three years.
const MaxDays = 3*365 + 1

// MaxRows is the maximal number of rows of a report.
const MaxRows = 50_000

// TooManyRows returns the fault for a report with more than [MaxRows] rows.
func TooManyRows() error {
	return fault.Newf(fault.InvalidParameter,
		"by: there are more than %d rows; ask for fewer dates, or by week or month.", MaxRows)
}

// Query describes a report. The fields From and To are the first and the last date, both inclusive, in the time zone of
// the business. By is the length of the periods. The date of a row is the first date of its period. For the first row,
// this date may be before From, but the row counts no dates before From.
type Query struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
	By   By            `json:"by"`

	// DefaultLocation is the location of bookings without a stored location, for a report by [Location].
	DefaultLocation uuid.UUID `json:"-"`
}

// Check validates the query. Fault: invalid_parameter if By is unknown,
// To is before From, or the report would cover more than [MaxDays] days.
func (q Query) Check() error {
	switch {
	case !slices.Contains(All(), q.By):
		return fault.Newf(fault.InvalidParameter, "by: write day, week, month, location, service, staff or customer_kind.")
	case q.To < q.From:
		return fault.Newf(fault.InvalidParameter, "to: %s lies before from, %s; give a date on or after it.", q.To,
			q.From)
	case q.To-q.From >= MaxDays:
		return fault.Newf(fault.InvalidParameter, "Window too large (max %d days).", MaxDays)
	}
	return nil
}

// Values returns the query as the URL parameters "from", "to", "by" and, if it is set, "default_location".
func (q Query) Values() url.Values {
	values := url.Values{"from": {q.From.String()}, "to": {q.To.String()}, "by": {string(q.By)}}
	if q.DefaultLocation != uuid.Nil {
		values.Set("default_location", q.DefaultLocation.String())
	}
	return values
}

// Before returns the query for the period of the same length that ends before the first date.
func (q Query) Before() Query {
	q.From, q.To = q.From-(q.To-q.From)-1, q.From-1
	return q
}

// Start returns the first date of the period that contains `d`.
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

// Periods returns the first dates of all periods that contain a date of the query, in ascending order.
func (q Query) Periods() []timespan.Date {
	if !q.By.IsTime() {
		return []timespan.Date{q.From}
	}
	var all []timespan.Date
	for start := q.By.Start(q.From); start <= q.To; start = q.By.next(start) {
		all = append(all, start)
	}
	return all
}

// next returns the first date of the period that follows the period with the first date `start`.
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

// Report is a report about one business. The dates in the report are in the time zone of the business.
type Report[Row any] struct {
	Query
	Timezone string `json:"timezone"`
	Rows     []Row  `json:"rows"`
}

// Revenue is the revenue of a business from its sales. The date of
// a sale is the start date of the booking, event or reservation.
type Revenue struct {
	Rows []RevenueRow `json:"rows"` // ordered by date, kind and currency
}

// RevenueRow is the revenue from one kind of sale, in one currency and one period.
type RevenueRow struct {
	Date     timespan.Date `json:"date"` // first date of the period
	Kind     string        `json:"kind"` // booking, ticket or reservation
	Currency string        `json:"currency"`
	Sold     int64         `json:"sold"`     // number of bookings, ticket orders or reservations that are not cancelled
	Total    json.Number   `json:"total"`    // sum of the prices; a sale that the owner made without a price counts 0
	Paid     json.Number   `json:"paid"`     // amount that was paid online, including amounts that were refunded later
	Refunded json.Number   `json:"refunded"` // part of Paid that was refunded
	Group
}

// UtilisationRow compares the booked time of a staff member with the working time, for one period.
type UtilisationRow struct {
	Date          timespan.Date `json:"date"` // first date of the period
	StaffID       uuid.UUID     `json:"staff_id"`
	StaffName     string        `json:"staff_name"`     // "" if the business no longer has the staff member
	BookedMinutes int64         `json:"booked_minutes"` // with buffers; includes bookings outside working hours
	OpenMinutes   int64         `json:"open_minutes"`   // by the published working hours, without blocked time
	// Utilisation is BookedMinutes divided by OpenMinutes. It is null if the staff member has no
	// working hours in the period. It can be above 1 because of bookings outside working hours.
	Utilisation *float64 `json:"utilisation"`
}
