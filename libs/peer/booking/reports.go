package booking

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// BookingsReport counts bookings by the date of their start. Stretches and sources of which there are none have no row.
type BookingsReport struct {
	Rows []BookingsRow `json:"rows"` // by date, then source
}

// BookingsRow counts the bookings of one source that begin in one stretch.
type BookingsRow struct {
	Date      timespan.Date `json:"date"` // the first of the stretch
	Source    string        `json:"source"`
	Bookings  int64         `json:"bookings"` // of whatever status
	Pending   int64         `json:"pending"`
	Confirmed int64         `json:"confirmed"`
	Completed int64         `json:"completed"`
	NoShow    int64         `json:"no_show"`
	Cancelled int64         `json:"cancelled"`
	Guests    int64         `json:"guests"` // of what is not cancelled
}

// StaffTimeReport is how long members were occupied, by the business's calendar.
type StaffTimeReport struct {
	Rows []StaffTimeRow `json:"rows"` // by date, then member
}

// StaffTimeRow is one member in one stretch.
type StaffTimeRow struct {
	Date    timespan.Date `json:"date"` // the first of the stretch
	StaffID uuid.UUID     `json:"staff_id"`
	Minutes int64         `json:"minutes"` // booked, buffers included; time that guests of a class share counts once
}
