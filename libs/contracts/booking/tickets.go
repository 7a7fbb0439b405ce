package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// NewTicket requests an order of tickets for an event. For tickets of one
// tier, TierID and Quantity are set; for several tiers, Tiers is set.
type NewTicket struct {
	Slug     string        `json:"slug"` // slug of the business that offers the event
	EventID  uuid.UUID     `json:"event_id"`
	TierID   uuid.UUID     `json:"tier_id,omitzero"`
	Quantity int           `json:"quantity,omitzero"` // 1 to MaxTicketQuantity
	Tiers    []OrderedTier `json:"tiers,omitempty"`   // no tier twice, at most MaxTicketTiers
	// PaymentChoice is online or at_door if the customer of the booking
	// page may choose (payment_modes.events). "" means at the door.
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

// OrderedTier is the number of tickets of one tier in a [NewTicket].
type OrderedTier struct {
	TierID   uuid.UUID `json:"tier_id"`
	Quantity int       `json:"quantity"`
}

// The limits of one order: the number of tickets of all tiers together, and the number of tiers.
const (
	MaxTicketQuantity = 1000
	MaxTicketTiers    = 20
)

// Ticket is an order of tickets as the owner sees it. For an order of one tier, TierID and TierName are those
// of the tier. For an order of several tiers, TierID is omitted and TierName contains the names of all tiers.
type Ticket struct {
	ID        uuid.UUID  `json:"id"`
	Status    string     `json:"status"`
	EventID   uuid.UUID  `json:"event_id"`
	EventName string     `json:"event_name"`
	TierID    uuid.UUID  `json:"tier_id,omitzero"`
	TierName  string     `json:"tier_name"`
	Tiers     []SoldTier `json:"tiers"` // in the order of the tiers of the event
	// Date is YYYY-MM-DD and StartTime is HH:MM:SS. Both are in the time
	// zone of the event, as the messages to the customer state them.
	Date      string `json:"date"`
	StartTime string `json:"start_time"`
	Timezone  string `json:"timezone"`  // as in [Booking]
	Withdrawn bool   `json:"withdrawn"` // the business no longer offers the event
	// FormerStarts are the earlier starts of the event, if the business has rescheduled it since the sale.
	FormerStarts []time.Time `json:"former_starts,omitempty"`
	Quantity     int         `json:"quantity"` // number of tickets of all tiers
	// Total is the price for the customer, in Currency. It is null if the owner sold the
	// tickets, because the owner then agrees on the price with the customer outside Slotmesh.
	Total    *json.Number `json:"total"`
	Currency string       `json:"currency"`
	// PriceChanges are the pricing rules that changed a price of the
	// order, each once. The field is omitted if no rule changed a price.
	PriceChanges  []PriceChange `json:"price_changes,omitempty"`
	CustomerName  string        `json:"customer_name"`
	CustomerEmail *string       `json:"customer_email"`
	CustomerPhone *string       `json:"customer_phone"`
	// FormData is a JSON object with the customer's answers to the business's own questions.
	FormData  json.RawMessage `json:"form_data"`
	Locale    string          `json:"locale"`
	CreatedAt time.Time       `json:"created_at"`
	// ManageURL is the customer's link to the order. It is present only in the response to the request that ordered.
	ManageURL   string     `json:"manage_url,omitempty"`
	CancelledAt *time.Time `json:"cancelled_at"`
	Payment     *Payment   `json:"payment"` // null: the order has no online payment
	// CheckoutURL is the payment page of the provider. It is present
	// only in the response to a request of the booking page.
	CheckoutURL string `json:"checkout_url,omitempty"`
}

// TicketTime is the time of the event whose tickets were ordered.
type TicketTime struct {
	Date      string    `json:"date"` // as in [Ticket]
	StartTime string    `json:"start_time"`
	StartsAt  time.Time `json:"starts_at"`
	EndsAt    time.Time `json:"ends_at"`
}

// RescheduledTicket is the payload of the webhook that reports a rescheduled event.
// It holds the order after the reschedule, and the old and the new time of the event.
type RescheduledTicket struct {
	Ticket
	From TicketTime `json:"from"`
	To   TicketTime `json:"to"`
}

// SoldTier is the part of an order that consists of tickets of one tier.
type SoldTier struct {
	TierID   uuid.UUID    `json:"tier_id"`
	TierName string       `json:"tier_name"`
	Quantity int          `json:"quantity"`
	Price    *json.Number `json:"price"` // price of one ticket; null if the owner sold the order
}

// StatusSold is the status of an order that is valid: it is neither cancelled nor waiting for its online
// payment. A cancelled order has [StatusCancelled]; an order that waits for its payment has [StatusPending].
const StatusSold = "sold"

// TicketList is one page of orders of tickets. NextCursor is empty on the last page.
type TicketList struct {
	Tickets    []Ticket `json:"tickets"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// SalesRequest requests the ticket sales of at most [MaxSalesEvents] events.
type SalesRequest struct {
	EventIDs []uuid.UUID `json:"event_ids"`
}

// MaxSalesEvents is the maximal number of events in one [SalesRequest].
const MaxSalesEvents = 10_000

// Sales lists those requested events for which tickets were ever ordered. The other requested events have no sales.
type Sales struct {
	Events []EventSales `json:"events"`
}

// EventSales is the number of sold tickets of an event, in total and by tier. Tickets of cancelled orders do not
// count. Tiers lists all tiers of which tickets were ever ordered, even those that the business no longer offers.
type EventSales struct {
	EventID uuid.UUID   `json:"event_id"`
	Sold    int         `json:"sold"`
	Tiers   []TierSales `json:"tiers"`
}

// TierSales is the number of sold tickets of one tier. Tickets of cancelled orders do not count.
type TierSales struct {
	TierID uuid.UUID `json:"tier_id"`
	Sold   int       `json:"sold"`
}
