// Package rental is the client of rental's internal API, with its types.
package rental

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Statuses of a reservation (semantics.md §4).
const (
	StatusPending   = "pending" // its payment is not complete
	StatusReserved  = "reserved"
	StatusPickedUp  = "picked_up"
	StatusReturned  = "returned"
	StatusCancelled = "cancelled"
)

// Statuses returns all statuses of a reservation, in the order of its life.
func Statuses() []string {
	return []string{StatusPending, StatusReserved, StatusPickedUp, StatusReturned, StatusCancelled}
}

// Transitions that the owner can request, besides cancelling; each is the last segment of its path.
const (
	MovePickup = "pickup"
	MoveReturn = "return"
)

// NewReservation requests units of a rental. Its fields are those in admin.md; rental validates them.
// A daily rental is reserved for its dates, both inclusive, and the times are ignored. An hourly
// rental is reserved from start to end; without both times, it is reserved for the whole dates.
type NewReservation struct {
	RentalID  string  `json:"rental_id"`  // UUID
	StartDate string  `json:"start_date"` // YYYY-MM-DD
	EndDate   string  `json:"end_date"`
	StartTime *string `json:"start_time"` // HH:MM
	EndTime   *string `json:"end_time"`
	Quantity  int     `json:"quantity"` // 1 to 1000
	// Extras are other rentals that are reserved for the same time. On the booking page they must be
	// upsells of the rental. Each required upsell must be included at least once per unit of the rental.
	Extras []NewExtra `json:"extras,omitempty"`
	// PaymentChoice is online or at_door, if the customer of the booking
	// page may choose (payment_modes.rentals). "" means at the door.
	PaymentChoice string `json:"payment_choice,omitempty"`
	CustomerName  string `json:"customer_name"`
	// CustomerEmail is the address for messages; null: no messages.
	CustomerEmail *string `json:"customer_email"`
	CustomerPhone *string `json:"customer_phone,omitempty"`
	// FormData is an object of the answers to the business's own questions.
	// Only the booking page may set members that begin with an underscore.
	FormData json.RawMessage `json:"form_data,omitempty"`
	// Locale is the customer's language, matched as in semantics.md §6; without a match it is the business's default.
	Locale string `json:"locale"`
}

// Wanted requests the starts on a date at which a rental can be reserved:
// Quantity units of the rental, and for each extra the same number of its units.
type Wanted struct {
	RentalID uuid.UUID
	Date     timespan.Date
	Quantity int
	Extras   []uuid.UUID
}

// Starts lists the possible starts. Computed is false if availability is unknown; then the list is empty.
type Starts struct {
	Computed bool    `json:"computed"`
	Starts   []Start `json:"starts"`
}

// Start is a time at which a reservation can begin. A reservation from then can last any whole number
// of hours, or of days for a daily rental, from Shortest to Longest. Time is null for whole days.
type Start struct {
	Time     *timespan.TimeOfDay `json:"time"`
	Shortest int                 `json:"shortest"`
	Longest  int                 `json:"longest"`
}

// NewExtra requests units of a rental that is reserved with another
// one. Each rental may occur once, and there are at most MaxExtras.
type NewExtra struct {
	RentalID string `json:"rental_id"` // UUID
	Quantity int    `json:"quantity"`
}

// MaxQuantity bounds the units of one rental in a reservation.
const MaxQuantity = 1000

// MaxExtras bounds the extras of one reservation.
const MaxExtras = 20

// Extra is a rental that is reserved with another one.
type Extra struct {
	RentalID   uuid.UUID    `json:"rental_id"`
	RentalName string       `json:"rental_name"`
	Quantity   int          `json:"quantity"`
	Price      *json.Number `json:"price"` // for all units and all of the time; null if the owner reserved it
}

// Reservation is a reservation as the owner sees it. Dates and times are local, as sent to the customer.
type Reservation struct {
	ID         uuid.UUID           `json:"id"`
	RentalID   uuid.UUID           `json:"rental_id"`
	RentalName string              `json:"rental_name"`
	Status     string              `json:"status"`
	Overdue    bool                `json:"overdue"`   // picked up, not returned, and its time has ended
	Withdrawn  bool                `json:"withdrawn"` // the business no longer offers the rental
	Quantity   int                 `json:"quantity"`
	StartDate  timespan.Date       `json:"start_date"`
	EndDate    timespan.Date       `json:"end_date"`
	StartTime  *timespan.TimeOfDay `json:"start_time"` // null: whole dates
	EndTime    *timespan.TimeOfDay `json:"end_time"`
	Extras     []Extra             `json:"extras"` // reserved with it for the same time
	Units      []Unit              `json:"units"`  // assigned units; empty before the pick-up
	// Price is the price of the rental itself, for all units and the whole time. Total includes the extras. Both
	// are null if the owner made the reservation, because the owner and the customer agree on the price themselves.
	Price    *json.Number `json:"price"`
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency,omitempty"` // of the prices
	// PriceChanges are the pricing rules that changed a price of the reservation, each once; omitted if none did.
	PriceChanges  []booking.PriceChange `json:"price_changes,omitempty"`
	CustomerName  string                `json:"customer_name"`
	CustomerEmail *string               `json:"customer_email"`
	CustomerPhone *string               `json:"customer_phone"`
	// FormData are the customer's answers to the business's own questions, an object.
	FormData json.RawMessage `json:"form_data"`
	Locale   string          `json:"locale"`
	// Timezone is the zone of the dates and times; if it is "", the current zone of the business applies.
	Timezone string `json:"timezone"`
	// ManageURL is the customer's link. It is set only in the response to the request for the reservation.
	ManageURL string `json:"manage_url,omitempty"`
	// Payment is the online payment; null if nothing is paid online.
	Payment *booking.Payment `json:"payment"`
	// CheckoutURL is the provider's payment page. It is set only in the response to the booking page.
	CheckoutURL string `json:"checkout_url,omitempty"`
	// Warnings are the rules for customers that the owner's reservation
	// breaks. Only the response to the owner's request has them.
	Warnings  []booking.Warning `json:"warnings,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

// Unit is one unit of a rental, identified by the owner's key.
type Unit struct {
	RentalID uuid.UUID `json:"rental_id"`
	Unit     string    `json:"unit"`
}

// ReservationList is one page of reservations. NextCursor is empty on the last.
type ReservationList struct {
	Reservations []Reservation `json:"reservations"`
	NextCursor   string        `json:"next_cursor,omitempty"`
}

// AheadCount is the number of future reservations.
type AheadCount struct {
	Count int `json:"count"`
}

// Ceilings holds max_bookable_online of every rental of a business, including inactive ones (semantics.md §4).
type Ceilings struct {
	Ceilings map[uuid.UUID]int `json:"ceilings"`
}
