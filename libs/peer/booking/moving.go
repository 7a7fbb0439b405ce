package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewBooking is what the owner books for a customer, in the terms of POST /book (interface.md §2). The booking service judges its
// fields. Its source is dashboard.
type NewBooking struct {
	ServiceIDs        []string        `json:"service_ids"`
	Date              string          `json:"date"`
	Time              string          `json:"time"`
	CustomerName      string          `json:"customer_name"`
	CustomerEmail     string          `json:"customer_email"` // "" where the owner books for somebody who gave none
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

	// Override books also outside working hours, never what is taken. Notice, advance limit, pause and grid do not bind the owner anyway.
	Override bool `json:"override,omitempty"`
}

// Reschedule is where a booking is to be moved (lifecycle.md §3). Without StaffID it stays with its member where that one is free, and
// without ClassScheduleID in its session where that happens then and has seats.
type Reschedule struct {
	Date            string  `json:"date"` // YYYY-MM-DD, of the new start
	Time            string  `json:"time"` // HH:MM
	StaffID         *string `json:"staff_id,omitempty"`
	ClassScheduleID *string `json:"class_schedule_id,omitempty"`

	// Override moves also outside working hours, never to what is taken. It is the owner's, whom notice, advance limit and grid do not bind.
	Override bool `json:"override,omitempty"`
}

// BookedTime is when a booking is, and with whom.
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

// Rescheduled is what the event of a move tells: the booking after it, where it was and where it is.
type Rescheduled struct {
	Booking
	From BookedTime `json:"from"`
	To   BookedTime `json:"to"`
}
