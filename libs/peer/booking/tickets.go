package booking

import (
	"time"

	"github.com/google/uuid"
)

// NewTicket orders tickets of one tier of an event.
type NewTicket struct {
	Slug         string    `json:"slug"` // of the business, whose offer says what there is to sell
	EventID      uuid.UUID `json:"event_id"`
	TierID       uuid.UUID `json:"tier_id"`
	Quantity     int       `json:"quantity"` // 1 to MaxTicketQuantity
	CustomerName string    `json:"customer_name"`
	// CustomerEmail is where messages go; null: nowhere.
	CustomerEmail *string `json:"customer_email"`
	// Locale is the customer's language, as semantics.md §6 matches it; what matches nothing is the business's default.
	Locale string `json:"locale"`
}

// MaxTicketQuantity bounds one order of tickets.
const MaxTicketQuantity = 1000

// Ticket is an order of tickets as the owner sees it.
type Ticket struct {
	ID            uuid.UUID  `json:"id"`
	Status        string     `json:"status"`
	EventID       uuid.UUID  `json:"event_id"`
	EventName     string     `json:"event_name"`
	TierID        uuid.UUID  `json:"tier_id"`
	TierName      string     `json:"tier_name"`
	Date          string     `json:"date"` // YYYY-MM-DD and start_time HH:MM:SS: the event's, as told to the customer
	StartTime     string     `json:"start_time"`
	Quantity      int        `json:"quantity"`
	CustomerName  string     `json:"customer_name"`
	CustomerEmail *string    `json:"customer_email"`
	Locale        string     `json:"locale"`
	CreatedAt     time.Time  `json:"created_at"`
	ManageURL     string     `json:"manage_url,omitempty"` // the customer's link; only in the answer to the order
	CancelledAt   *time.Time `json:"cancelled_at"`
}

// StatusSold is the status of an order of tickets until it is cancelled, when it is [StatusCancelled].
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
