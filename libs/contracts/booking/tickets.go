package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewTicket orders tickets of an event: of one tier with TierID and Quantity, or of several tiers with Tiers.
type NewTicket struct {
	Slug     string        `json:"slug"` // of the business; its offer defines what is sold
	EventID  uuid.UUID     `json:"event_id"`
	TierID   uuid.UUID     `json:"tier_id,omitzero"`
	Quantity int           `json:"quantity,omitzero"` // 1 to MaxTicketQuantity
	Tiers    []OrderedTier `json:"tiers,omitempty"`   // each tier once, at most MaxTicketTiers
	// PaymentChoice is online or at_door, if the customer of the booking
	// page may choose (payment_modes.events). "" means at the door.
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

// OrderedTier is the number of ordered tickets of one tier.
type OrderedTier struct {
	TierID   uuid.UUID `json:"tier_id"`
	Quantity int       `json:"quantity"`
}

// Bounds of one order: the tickets of all tiers together, and the number of tiers.
const (
	MaxTicketQuantity = 1000
	MaxTicketTiers    = 20
)

// Ticket is an order of tickets as the owner sees it. TierID and TierName name the tier of an order
// of one tier. If the order has several tiers, TierID is omitted and TierName has all their names.
type Ticket struct {
	ID        uuid.UUID  `json:"id"`
	Status    string     `json:"status"`
	EventID   uuid.UUID  `json:"event_id"`
	EventName string     `json:"event_name"`
	TierID    uuid.UUID  `json:"tier_id,omitzero"`
	TierName  string     `json:"tier_name"`
	Tiers     []SoldTier `json:"tiers"` // in the order of the event
	// Date is YYYY-MM-DD and StartTime is HH:MM:SS. Both are local to the event, as sent to the customer.
	Date      string `json:"date"`
	StartTime string `json:"start_time"`
	Timezone  string `json:"timezone"`  // as in [Booking]
	Withdrawn bool   `json:"withdrawn"` // the business no longer offers the event
	// FormerStarts are the starts that the event had since the sale, before the business rescheduled it.
	FormerStarts []time.Time `json:"former_starts,omitempty"`
	Quantity     int         `json:"quantity"` // of all tiers
	// Total is the price for the customer, in Currency. It is null if the owner sold
	// the tickets, because the owner and the customer agree on the price themselves.
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency"`
	// PriceChanges are the pricing rules that changed a price of the order, each once; omitted if none did.
	PriceChanges  []PriceChange `json:"price_changes,omitempty"`
	CustomerName  string        `json:"customer_name"`
	CustomerEmail *string       `json:"customer_email"`
	CustomerPhone *string       `json:"customer_phone"`
	// FormData are the customer's answers to the business's own questions, an object.
	FormData    json.RawMessage `json:"form_data"`
	Locale      string          `json:"locale"`
	CreatedAt   time.Time       `json:"created_at"`
	ManageURL   string          `json:"manage_url,omitempty"` // the customer's link; only in the response to the order
	CancelledAt *time.Time      `json:"cancelled_at"`
	Payment     *Payment        `json:"payment"` // null: no part of it is paid online
	// CheckoutURL is the provider's payment page; only in the response to the booking page
	CheckoutURL string `json:"checkout_url,omitempty"`
}

// TicketTime is the time of the event of an order.
type TicketTime struct {
	Date      string    `json:"date"` // as in [Ticket]
	StartTime string    `json:"start_time"`
	StartsAt  time.Time `json:"starts_at"`
	EndsAt    time.Time `json:"ends_at"`
}

// RescheduledTicket is the payload of the webhook about a rescheduled event: the order after
// the reschedule, and the old and the new time of the event for which the tickets are.
type RescheduledTicket struct {
	Ticket
	From TicketTime `json:"from"`
	To   TicketTime `json:"to"`
}

// SoldTier is the part of an order that belongs to one tier.
type SoldTier struct {
	TierID   uuid.UUID    `json:"tier_id"`
	TierName string       `json:"tier_name"`
	Quantity int          `json:"quantity"`
	Price    *json.Number `json:"price"` // of one ticket; null if the owner sold it
}

// StatusSold is the status of an order that is not cancelled; a cancelled order is
// [StatusCancelled]. An order with online payment is [StatusPending] until it is paid.
const StatusSold = "sold"

// TicketList is one page of orders. NextCursor is empty on the last.
type TicketList struct {
	Tickets    []Ticket `json:"tickets"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// SalesRequest asks for the sales of events, at most [MaxSalesEvents].
type SalesRequest struct {
	EventIDs []uuid.UUID `json:"event_ids"`
}

// MaxSalesEvents bounds the events of one [SalesRequest].
const MaxSalesEvents = 10_000

// Sales lists the requested events that ever had an order. All other events have no sales.
type Sales struct {
	Events []EventSales `json:"events"`
}

// EventSales is the number of tickets of an event that are sold and not cancelled, in total and by
// tier. The tiers are those that were ever ordered, even if the business no longer offers them.
type EventSales struct {
	EventID uuid.UUID   `json:"event_id"`
	Sold    int         `json:"sold"`
	Tiers   []TierSales `json:"tiers"`
}

// TierSales is the number of sold tickets of one tier.
type TierSales struct {
	TierID uuid.UUID `json:"tier_id"`
	Sold   int       `json:"sold"`
}
