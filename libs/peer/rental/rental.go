// Package rental is the peer side of the rental service: its internal API's types and client.
package rental

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Statuses of a reservation (semantics.md §4).
const (
	StatusPending   = "pending" // it waits for its payment
	StatusReserved  = "reserved"
	StatusPickedUp  = "picked_up"
	StatusReturned  = "returned"
	StatusCancelled = "cancelled"
)

// Statuses are all statuses of a reservation, in the order in which one comes to them.
func Statuses() []string {
	return []string{StatusPending, StatusReserved, StatusPickedUp, StatusReturned, StatusCancelled}
}

// Moves that the owner can make beside cancelling; each is the last part of its path.
const (
	MovePickup = "pickup"
	MoveReturn = "return"
)

// NewReservation asks for units of a rental, in the terms and texts of admin.md: rental checks them all. A rental by the
// day is held on its dates, both included, and ignores the times; one by the hour is held from start to end, or all day
// long on its dates where both times are left out.
type NewReservation struct {
	RentalID  string  `json:"rental_id"`  // UUID
	StartDate string  `json:"start_date"` // YYYY-MM-DD
	EndDate   string  `json:"end_date"`
	StartTime *string `json:"start_time"` // HH:MM
	EndTime   *string `json:"end_time"`
	Quantity  int     `json:"quantity"` // 1 to 1000
	// Extras are what goes with it, for the same time: on the booking page upsells of the rental, the required ones among them, at least one for
	// each of its units.
	Extras []NewExtra `json:"extras,omitempty"`
	// PaymentChoice is online or at_door, where the customer of the booking page may choose (payment_modes.rentals); "" is at the door.
	PaymentChoice string `json:"payment_choice,omitempty"`
	CustomerName  string `json:"customer_name"`
	// CustomerEmail is where messages go; null: nowhere.
	CustomerEmail *string `json:"customer_email"`
	CustomerPhone *string `json:"customer_phone,omitempty"`
	// FormData are answers to the business's own questions, an object. Members that begin with an underscore are the booking page's to set.
	FormData json.RawMessage `json:"form_data,omitempty"`
	// Locale is the customer's language, as semantics.md §6 matches it; what matches nothing is the business's default.
	Locale string `json:"locale"`
}

// Wanted asks from when on a date so many units of a rental can be reserved, with as many of each of the extras.
type Wanted struct {
	RentalID uuid.UUID
	Date     timespan.Date
	Quantity int
	Extras   []uuid.UUID
}

// Starts is from when all that is wanted can be reserved. Computed is false where nobody knows; then there are none.
type Starts struct {
	Computed bool    `json:"computed"`
	Starts   []Start `json:"starts"`
}

// Start is one of them: for each whole number of hours from Shortest to Longest, of a rental by the day of days. Time is null for whole days.
type Start struct {
	Time     *timespan.TimeOfDay `json:"time"`
	Shortest int                 `json:"shortest"`
	Longest  int                 `json:"longest"`
}

// NewExtra asks for units of a rental that goes with another one; each rental once, at most MaxExtras.
type NewExtra struct {
	RentalID string `json:"rental_id"` // UUID
	Quantity int    `json:"quantity"`
}

// MaxExtras bounds what goes with one reservation.
const MaxExtras = 20

// Extra is what goes with a reservation.
type Extra struct {
	RentalID   uuid.UUID    `json:"rental_id"`
	RentalName string       `json:"rental_name"`
	Quantity   int          `json:"quantity"`
	Price      *json.Number `json:"price"` // of all its units, for all of the time; null where the owner reserved
}

// Reservation is a reservation as the owner sees it: dates and times in business time, as told to the customer.
type Reservation struct {
	ID         uuid.UUID           `json:"id"`
	RentalID   uuid.UUID           `json:"rental_id"`
	RentalName string              `json:"rental_name"`
	Status     string              `json:"status"`
	Overdue    bool                `json:"overdue"`   // picked up and not back although its time has ended
	Withdrawn  bool                `json:"withdrawn"` // the business no longer offers what is reserved
	Quantity   int                 `json:"quantity"`
	StartDate  timespan.Date       `json:"start_date"`
	EndDate    timespan.Date       `json:"end_date"`
	StartTime  *timespan.TimeOfDay `json:"start_time"` // null: whole dates
	EndTime    *timespan.TimeOfDay `json:"end_time"`
	Extras     []Extra             `json:"extras"` // what goes with it, for the same time
	Units      []Unit              `json:"units"`  // with which it was handed out; empty before the pick-up
	// Price is that of the rental itself, all its units for all of the time; Total that of all. Null where the owner reserved, who agrees
	// with the customer.
	Price    *json.Number `json:"price"`
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency,omitempty"` // of the prices
	// PriceChanges are the pricing rules that changed a price of it, each once; left out where none did.
	PriceChanges  []booking.PriceChange `json:"price_changes,omitempty"`
	CustomerName  string                `json:"customer_name"`
	CustomerEmail *string               `json:"customer_email"`
	CustomerPhone *string               `json:"customer_phone"`
	// FormData are the customer's answers to the business's own questions, an object.
	FormData  json.RawMessage `json:"form_data"`
	Locale    string          `json:"locale"`
	Timezone  string          `json:"timezone"`             // of its dates and times; "": not known, and the business's of today
	ManageURL string          `json:"manage_url,omitempty"` // the customer's link; only in the answer to the request
	// Payment is what is paid online; null: nothing is.
	Payment     *booking.Payment `json:"payment"`
	CheckoutURL string           `json:"checkout_url,omitempty"` // the provider's page on which it is paid; only in the answer to the booking page
	// Warnings name the rules for customers that the owner's reservation breaks; only in the answer to the owner's request.
	Warnings  []booking.Warning `json:"warnings,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

// Unit is one unit of a rental, by the key that its owner gave it.
type Unit struct {
	RentalID uuid.UUID `json:"rental_id"`
	Unit     string    `json:"unit"`
}

// ReservationList is one page of reservations. NextCursor is empty on the last.
type ReservationList struct {
	Reservations []Reservation `json:"reservations"`
	NextCursor   string        `json:"next_cursor,omitempty"`
}

// AheadCount is how many reservations lie ahead.
type AheadCount struct {
	Count int `json:"count"`
}

// Ceilings holds max_bookable_online of every rental of a business, inactive ones included (semantics.md §4).
type Ceilings struct {
	Ceilings map[uuid.UUID]int `json:"ceilings"`
}
