package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewBooking requests a booking that the owner makes for a customer. Its fields are those of POST /book
// (interface.md §2). The booking service validates them, and stores the booking with the source dashboard.
type NewBooking struct {
	ServiceIDs        []string        `json:"service_ids"`
	Date              string          `json:"date"`
	Time              string          `json:"time"`
	CustomerName      string          `json:"customer_name"`
	CustomerEmail     string          `json:"customer_email"` // "" if the address is unknown
	CustomerPhone     *string         `json:"customer_phone,omitempty"`
	StaffID           *string         `json:"staff_id,omitempty"`
	PartySize         *int            `json:"party_size,omitempty"`
	ClassScheduleID   *string         `json:"class_schedule_id,omitempty"`
	IsPackage         bool            `json:"is_package,omitempty"`
	StaffingMode      *string         `json:"staffing_mode,omitempty"`
	Variants          []string        `json:"variants,omitempty"` // entries "service id:variant id"
	PaymentChoice     *string         `json:"payment_choice,omitempty"`
	PreferredProvider *string         `json:"preferred_provider,omitempty"`
	FormData          json.RawMessage `json:"form_data,omitempty"`
	Locale            *string         `json:"locale,omitempty"`
	LocationID        *string         `json:"location_id,omitempty"`
	// CustomerAddress is required if the booking takes place at a location of the kind customer_address.
	CustomerAddress *CustomerAddress `json:"customer_address,omitempty"`

	// Override permits a booking outside working hours, but never in occupied time. With or without
	// Override, the rules for minimum notice, advance limit, pause and slot grid do not apply to the owner.
	Override bool `json:"override,omitempty"`
}

// Reschedule requests a new time for a booking (lifecycle.md §3). If StaffID is nil, the booking
// keeps its staff member, provided that this member is free. If ClassScheduleID is nil, the booking
// keeps its class session, provided that the session takes place at the new time and has free seats.
type Reschedule struct {
	Date            string  `json:"date"` // date of the new start, YYYY-MM-DD
	Time            string  `json:"time"` // time of the new start, HH:MM
	StaffID         *string `json:"staff_id,omitempty"`
	ClassScheduleID *string `json:"class_schedule_id,omitempty"`
	// LocationID is the new location. If it is nil, the booking keeps its location.
	LocationID *string `json:"location_id,omitempty"`
	// Address is the customer's address, as in [Relocate].
	Address *CustomerAddress `json:"address,omitempty"`

	// Override permits a time outside working hours, but never occupied time. Only the owner may set it. With
	// or without Override, the rules for minimum notice, advance limit and slot grid do not apply to the owner.
	Override bool `json:"override,omitempty"`
}

// BookedTime is the time of a booking and its staff member.
type BookedTime struct {
	Date            string     `json:"date"` // as in [Booking]
	StartTime       string     `json:"start_time"`
	EndTime         string     `json:"end_time"`
	StartsAt        time.Time  `json:"starts_at"`
	EndsAt          time.Time  `json:"ends_at"`
	StaffID         *uuid.UUID `json:"staff_id"`
	StaffName       *string    `json:"staff_name"`
	ClassScheduleID *uuid.UUID `json:"class_schedule_id"`
	// Location is the location of the booking. It is omitted if the booking has none.
	Location *BookedLocation `json:"location,omitempty"`
}

// Relocate requests a new location for a booking, at the same time. A location of the kind
// customer_address needs Address, unless the booking already has an address.
type Relocate struct {
	LocationID string           `json:"location_id"`
	Address    *CustomerAddress `json:"address,omitempty"`
}

// Rescheduled is the payload of the events that report a reschedule or a relocation. It holds
// the booking after the change, its old time and location, and its new time and location.
type Rescheduled struct {
	Booking
	From BookedTime `json:"from"`
	To   BookedTime `json:"to"`
}
