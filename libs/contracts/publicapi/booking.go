package publicapi

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// BookingConfirmation is the response 201 to POST /book (interface.md §2, semantics.md §3).
type BookingConfirmation struct {
	Success         bool    `json:"success"`
	Booking         Booking `json:"booking"`
	PaymentRequired bool    `json:"paymentRequired" jsonschema:"true: payment says how the customer pays"`
	// Payment is omitted if PaymentRequired is false.
	Payment   Payment `json:"payment,omitzero" jsonschema:"what is to be paid now, and by which provider"`
	ManageURL string  `json:"manage_url,omitempty" jsonschema:"the customer's own page of this booking, with which they can move and cancel it: for them alone"`
}

// Payment holds the data with which the customer pays at the payment provider.
type Payment struct {
	Provider     string      `json:"provider"`
	Amount       json.Number `json:"amount"`
	Currency     string      `json:"currency"`
	Reference    string      `json:"reference"`
	ClientSecret string      `json:"client_secret" jsonschema:"what the provider's own form takes; for the customer alone"`
}

// Booking is the booking in a [BookingConfirmation]. StaffID is nil if the services need no staff member.
type Booking struct {
	ID        uuid.UUID       `json:"id"`
	Date      string          `json:"date"`
	StartTime string          `json:"start_time" jsonschema:"HH:MM:SS"`
	EndTime   string          `json:"end_time" jsonschema:"HH:MM:SS"`
	Status    string          `json:"status"`
	Source    string          `json:"source"`
	Services  []BookedService `json:"services"`
	Total     json.Number     `json:"total" jsonschema:"what the customer owes"`
	Currency  string          `json:"currency"`
	PartySize int             `json:"party_size"`
	StaffID   *uuid.UUID      `json:"staff_id"`
	StaffName *string         `json:"staff_name"`
	// ClassScheduleID is the id of the booked class session. It is omitted for an appointment.
	ClassScheduleID *uuid.UUID `json:"class_schedule_id,omitempty"`
	// Location is where the booking takes place. It is omitted if the business does not offer several locations.
	Location *BookedLocation `json:"location,omitempty"`
}

// BookedLocation is the location of a [Booking]. GET /info lists the address of the location.
type BookedLocation struct {
	ID   uuid.UUID `json:"id"`
	Kind string    `json:"kind" jsonschema:"place, link, phone or customer_address"`
	Name string    `json:"name"`
}

// BookedService is one service of a [Booking].
type BookedService struct {
	Name            string      `json:"name"`
	VariantName     string      `json:"variant_name,omitempty"`
	DurationMinutes int         `json:"duration_minutes"`
	Price           json.Number `json:"price"`
	// Quantity and UnitPrice are omitted if the price is for one person or for the whole booking.
	Quantity     int                   `json:"quantity,omitempty" jsonschema:"how many people price is of"`
	UnitPrice    json.Number           `json:"unit_price,omitempty" jsonschema:"of one of them"`
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty" jsonschema:"the pricing rules that changed the price"`
}
