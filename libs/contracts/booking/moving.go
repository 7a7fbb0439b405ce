package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewBooking is a booking that the owner makes for a customer, with the fields of POST /book
// (interface.md §2). The booking service validates them. The source of the booking is dashboard.
type NewBooking struct {
	ServiceIDs        []string        `json:"service_ids"`
	Date              string          `json:"date"`
	Time              string          `json:"time"`
	CustomerName      string          `json:"customer_name"`
	CustomerEmail     string          `json:"customer_email"` // "" if the customer has given no address
	CustomerPhone     *string         `json:"customer_phone,omitempty"`
	StaffID           *string         `json:"staff_id,omitempty"`
	PartySize         *int            `json:"party_size,omitempty"`
	ClassScheduleID   *string         `json:"class_schedule_id,omitempty"`
	IsPackage         bool            `json:"is_package,omitempty"`
	StaffingMode      *string         `json:"staffing_mode,omitempty"`
	Variants          []string        `json:"variants,omitempty"` // "service id:variant id"
	PaymentChoice     *string         `json:"payment_choice,omitempty"`
	PreferredProvider *string         `json:"preferred_provider,omitempty"`
	FormData          json.RawMessage `json:"form_data,omitempty"`
	Locale            *string         `json:"locale,omitempty"`

	// Override permits a booking outside working hours, but never in occupied
	// time. Notice, advance limit, pause and grid never apply to the owner.
	Override bool `json:"override,omitempty"`
}

// Reschedule is the new time of a booking (lifecycle.md §3). Without StaffID the
// booking keeps its staff member, if the member is free. Without ClassScheduleID
// the booking keeps its class, if the class has a session then and has seats.
type Reschedule struct {
	Date            string  `json:"date"` // YYYY-MM-DD, of the new start
	Time            string  `json:"time"` // HH:MM
	StaffID         *string `json:"staff_id,omitempty"`
	ClassScheduleID *string `json:"class_schedule_id,omitempty"`

	// Override permits a time outside working hours, but never occupied time. Only
	// the owner may set it; notice, advance limit and grid never apply to the owner.
	Override bool `json:"override,omitempty"`
}

// BookedTime is the time and the member of a booking.
type BookedTime struct {
	Date            string     `json:"date"` // as in [Booking]
	StartTime       string     `json:"start_time"`
	EndTime         string     `json:"end_time"`
	StartsAt        time.Time  `json:"starts_at"`
	EndsAt          time.Time  `json:"ends_at"`
	StaffID         *uuid.UUID `json:"staff_id"`
	StaffName       *string    `json:"staff_name"`
	ClassScheduleID *uuid.UUID `json:"class_schedule_id"`
}

// Rescheduled is the payload of the event of a reschedule: the booking after it, its old time and its new time.
type Rescheduled struct {
	Booking
	From BookedTime `json:"from"`
	To   BookedTime `json:"to"`
}
