package booking

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BookingsReport is the number of bookings for each period and source. Bookings belong
// to the period in which they start. Periods and sources without bookings have no row.
type BookingsReport struct {
	Rows []BookingsRow `json:"rows"` // by date, then by source
}

// BookingsRow is the number of bookings of one source that start in one period.
type BookingsRow struct {
	Date      timespan.Date `json:"date"` // first date of the period
	Source    string        `json:"source"`
	Bookings  int64         `json:"bookings"` // of any status
	Pending   int64         `json:"pending"`
	Confirmed int64         `json:"confirmed"`
	Completed int64         `json:"completed"`
	NoShow    int64         `json:"no_show"`
	Cancelled int64         `json:"cancelled"`
	Guests    int64         `json:"guests"` // people in bookings that are not cancelled
	report.Group
}

// StaffTimeReport is the booked time of staff members in each period. The periods are in the time zone of the business.
type StaffTimeReport struct {
	Rows []StaffTimeRow `json:"rows"` // by date, then by staff member
}

// StaffTimeRow is the booked time of one staff member in one period.
type StaffTimeRow struct {
	Date    timespan.Date `json:"date"` // first date of the period
	StaffID uuid.UUID     `json:"staff_id"`
	Minutes int64         `json:"minutes"` // booked time with buffers; a session counts once for all guests
}
