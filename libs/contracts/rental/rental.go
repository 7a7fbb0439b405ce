// Package rental is the client of the internal API of the rental
// service. It defines the types of requests and responses.
package rental

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The statuses of a reservation (semantics.md §4).
const (
	StatusPending   = "pending" // the online payment is not complete
	StatusReserved  = "reserved"
	StatusPickedUp  = "picked_up"
	StatusReturned  = "returned"
	StatusCancelled = "cancelled"
)

// Statuses returns all statuses of a reservation, from pending to the final ones.
func Statuses() []string {
	return []string{StatusPending, StatusReserved, StatusPickedUp, StatusReturned, StatusCancelled}
}

// The transitions of a reservation that the owner can request, besides its
// cancellation. Each is the last segment of the URL path of its request.
const (
	TransitionPickup = "pickup"
	TransitionReturn = "return"
)

// NewReservation requests a reservation of units of a rental.
// admin.md describes its fields. The rental service validates them.
//
// A daily rental is reserved for its dates, both included; the times are ignored. An hourly rental is reserved
// from its start to its end. Without both times, an hourly rental is reserved for the whole of its dates.
type NewReservation struct {
	RentalID  string  `json:"rental_id"`  // UUID
	StartDate string  `json:"start_date"` // YYYY-MM-DD
	EndDate   string  `json:"end_date"`
	StartTime *string `json:"start_time"` // HH:MM
	EndTime   *string `json:"end_time"`
	Quantity  int     `json:"quantity"` // 1 to 1000
	// Extras are other rentals to reserve for the same time. On the booking page, they must be upsells of the
	// rental. Each required upsell must be among them, with at least as many units as are reserved of the rental.
	Extras []NewExtra `json:"extras,omitempty"`
	// PaymentChoice is online or at_door if the customer of the booking
	// page may choose (payment_modes.rentals). "" means at the door.
	PaymentChoice string `json:"payment_choice,omitempty"`
	CustomerName  string `json:"customer_name"`
	// CustomerEmail is the customer's address for messages. If it is null, the customer gets no messages.
	CustomerEmail *string `json:"customer_email"`
	CustomerPhone *string `json:"customer_phone,omitempty"`
	// FormData is a JSON object with the answers to the business's own questions.
	// Only the booking page may set members that begin with an underscore.
	FormData json.RawMessage `json:"form_data,omitempty"`
	// Locale is the language of the customer. It is matched with the business's languages
	// as in semantics.md §6. Without a match, the business's default language is used.
	Locale string `json:"locale"`
}

// Wanted requests the starts on a date at which Quantity units of a rental can be
// reserved. Quantity units of each rental in Extras must be free at the same time, too.
type Wanted struct {
	RentalID uuid.UUID
	Date     timespan.Date
	Quantity int
	Extras   []uuid.UUID
}

// Starts lists the possible starts. If the free units could not be read, Computed is false and the list is empty.
type Starts struct {
	Computed bool    `json:"computed"`
	Starts   []Start `json:"starts"`
}

// Start is a time at which a reservation can start. Shortest and Longest are the limits of its length: a number of
// hours or, for a daily rental, of days. Every whole number between them is possible. Time is null for whole days.
type Start struct {
	Time     *timespan.TimeOfDay `json:"time"`
	Shortest int                 `json:"shortest"`
	Longest  int                 `json:"longest"`
}

// NewExtra requests units of another rental for the same time as a
// [NewReservation]. A rental may occur only once among at most MaxExtras extras.
type NewExtra struct {
	RentalID string `json:"rental_id"` // UUID
	Quantity int    `json:"quantity"`
}

// MaxQuantity is the maximal number of units of one rental in a reservation.
const MaxQuantity = 1000

// MaxExtras is the maximal number of extras of one reservation.
const MaxExtras = 20

// Extra is another rental that is reserved for the same time as a [Reservation].
type Extra struct {
	RentalID   uuid.UUID `json:"rental_id"`
	RentalName string    `json:"rental_name"`
	Quantity   int       `json:"quantity"`
	// Price is the price of all units for the whole time. It is null if the owner made the reservation.
	Price *json.Number `json:"price"`
}

// Reservation is a reservation as the owner sees it. Dates and
// times are local, as the messages to the customer state them.
type Reservation struct {
	ID         uuid.UUID           `json:"id"`
	RentalID   uuid.UUID           `json:"rental_id"`
	RentalName string              `json:"rental_name"`
	Status     string              `json:"status"`
	Overdue    bool                `json:"overdue"`   // picked up and not returned, although its time has ended
	Withdrawn  bool                `json:"withdrawn"` // the business no longer offers the rental
	Quantity   int                 `json:"quantity"`
	StartDate  timespan.Date       `json:"start_date"`
	EndDate    timespan.Date       `json:"end_date"`
	StartTime  *timespan.TimeOfDay `json:"start_time"` // null: reserved for whole dates
	EndTime    *timespan.TimeOfDay `json:"end_time"`
	Extras     []Extra             `json:"extras"` // other rentals, reserved for the same time
	Units      []Unit              `json:"units"`  // the assigned units; empty before the pick-up
	// Price is the price of all units of the rental for the whole time. Total is the sum of Price
	// and the prices of the extras. Price and Total are null if the owner made the reservation,
	// because the owner then agrees on the price with the customer outside Slotmesh.
	Price    *json.Number `json:"price"`
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency,omitempty"` // currency of all prices
	// PriceChanges are the pricing rules that changed a price of the
	// reservation, each once. The field is omitted if no rule changed a price.
	PriceChanges  []booking.PriceChange `json:"price_changes,omitempty"`
	CustomerName  string                `json:"customer_name"`
	CustomerEmail *string               `json:"customer_email"`
	CustomerPhone *string               `json:"customer_phone"`
	// FormData is a JSON object with the customer's answers to the business's own questions.
	FormData json.RawMessage `json:"form_data"`
	Locale   string          `json:"locale"`
	// Timezone is the time zone of the dates and times. If it is "", the current zone of the business applies.
	Timezone string `json:"timezone"`
	// ManageURL is the customer's link to the reservation. It is
	// present only in the response to the request that reserved.
	ManageURL string `json:"manage_url,omitempty"`
	// Payment is the online payment. It is null if the reservation has no online payment.
	Payment *booking.Payment `json:"payment"`
	// CheckoutURL is the payment page of the provider. It is present
	// only in the response to a request of the booking page.
	CheckoutURL string `json:"checkout_url,omitempty"`
	// Warnings are the rules for customers that this reservation by the owner
	// breaks. They are present only in the response to the request that reserved.
	Warnings  []booking.Warning `json:"warnings,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

// Unit is one physical unit of a rental. The field Unit is the key of the unit in the manifest.
type Unit struct {
	RentalID uuid.UUID `json:"rental_id"`
	Unit     string    `json:"unit"`
}

// ReservationList is one page of reservations. NextCursor is empty on the last page.
type ReservationList struct {
	Reservations []Reservation `json:"reservations"`
	NextCursor   string        `json:"next_cursor,omitempty"`
}

// AheadCount is the number of future reservations.
type AheadCount struct {
	Count int `json:"count"`
}

// Ceilings holds max_bookable_online of every rental of a business, including inactive rentals (semantics.md §4).
type Ceilings struct {
	Ceilings map[uuid.UUID]int `json:"ceilings"`
}
