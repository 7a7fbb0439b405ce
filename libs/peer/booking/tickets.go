package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewTicket orders tickets of an event: of one tier by TierID and Quantity, or of several by Tiers.
type NewTicket struct {
	Slug     string        `json:"slug"` // of the business, whose offer says what there is to sell
	EventID  uuid.UUID     `json:"event_id"`
	TierID   uuid.UUID     `json:"tier_id,omitzero"`
	Quantity int           `json:"quantity,omitzero"` // 1 to MaxTicketQuantity
	Tiers    []OrderedTier `json:"tiers,omitempty"`   // each tier once, at most MaxTicketTiers
	// PaymentChoice is online or at_door, where the customer of the booking page may choose (payment_modes.events); "" is at the door.
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

// OrderedTier is how many tickets of one tier are ordered.
type OrderedTier struct {
	TierID   uuid.UUID `json:"tier_id"`
	Quantity int       `json:"quantity"`
}

// Bounds of one order of tickets: tickets of all tiers together, and tiers.
const (
	MaxTicketQuantity = 1000
	MaxTicketTiers    = 20
)

// Ticket is an order of tickets as the owner sees it. TierID and TierName are those of an order of one tier; of several, TierID is left
// out, and TierName holds all their names.
type Ticket struct {
	ID        uuid.UUID  `json:"id"`
	Status    string     `json:"status"`
	EventID   uuid.UUID  `json:"event_id"`
	EventName string     `json:"event_name"`
	TierID    uuid.UUID  `json:"tier_id,omitzero"`
	TierName  string     `json:"tier_name"`
	Tiers     []SoldTier `json:"tiers"` // as the event lists them
	Date      string     `json:"date"`  // YYYY-MM-DD and start_time HH:MM:SS: the event's, as told to the customer
	StartTime string     `json:"start_time"`
	Timezone  string     `json:"timezone"`  // as of [Booking]
	Withdrawn bool       `json:"withdrawn"` // the business no longer offers the event
	// FormerStarts are the starts that the business has moved the event from since the sale.
	FormerStarts []time.Time `json:"former_starts,omitempty"`
	Quantity     int         `json:"quantity"` // of all tiers
	// Total is what the customer was asked for, in Currency; null where the owner sold, who agrees with the customer.
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency"`
	// PriceChanges are the pricing rules that changed a price of it, each once; left out where none did.
	PriceChanges  []PriceChange `json:"price_changes,omitempty"`
	CustomerName  string        `json:"customer_name"`
	CustomerEmail *string       `json:"customer_email"`
	CustomerPhone *string       `json:"customer_phone"`
	// FormData are the customer's answers to the business's own questions, an object.
	FormData    json.RawMessage `json:"form_data"`
	Locale      string          `json:"locale"`
	CreatedAt   time.Time       `json:"created_at"`
	ManageURL   string          `json:"manage_url,omitempty"` // the customer's link; only in the answer to the order
	CancelledAt *time.Time      `json:"cancelled_at"`
	Payment     *Payment        `json:"payment"`                // null: nothing of it is paid online
	CheckoutURL string          `json:"checkout_url,omitempty"` // the provider's page on which it is paid; only in the answer to the booking page
}

// TicketTime is when the event of an order of tickets is.
type TicketTime struct {
	Date      string    `json:"date"` // as of [Ticket]
	StartTime string    `json:"start_time"`
	StartsAt  time.Time `json:"starts_at"`
	EndsAt    time.Time `json:"ends_at"`
}

// RescheduledTicket is what the event of a reschedule tells: the order after it, when its event was and when it is.
type RescheduledTicket struct {
	Ticket
	From TicketTime `json:"from"`
	To   TicketTime `json:"to"`
}

// SoldTier is what an order holds of one tier.
type SoldTier struct {
	TierID   uuid.UUID    `json:"tier_id"`
	TierName string       `json:"tier_name"`
	Quantity int          `json:"quantity"`
	Price    *json.Number `json:"price"` // of one ticket; null where the owner sold
}

// StatusSold is the status of an order of tickets until it is cancelled, when it is [StatusCancelled]. One that is paid online is
// [StatusPending] before, until it is paid.
const StatusSold = "sold"

// TicketList is one page of orders. NextCursor is empty on the last.
type TicketList struct {
	Tickets    []Ticket `json:"tickets"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// SalesRequest names the events whose sales are asked for, at most [MaxSalesEvents].
type SalesRequest struct {
	EventIDs []uuid.UUID `json:"event_ids"`
}

// MaxSalesEvents bounds the events of one [SalesRequest].
const MaxSalesEvents = 10_000

// Sales holds the events asked for of which tickets were ever ordered; of all others none are sold.
type Sales struct {
	Events []EventSales `json:"events"`
}

// EventSales is how many tickets of an event, and of each of its tiers that any were ordered of, are sold and not
// cancelled. Sold counts tiers that the offer no longer has, too.
type EventSales struct {
	EventID uuid.UUID   `json:"event_id"`
	Sold    int         `json:"sold"`
	Tiers   []TierSales `json:"tiers"`
}

// TierSales is the part of one tier.
type TierSales struct {
	TierID uuid.UUID `json:"tier_id"`
	Sold   int       `json:"sold"`
}
