package booking

import (
	"context"
	"net/http"
	"net/url"
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
}

// MaxTicketQuantity bounds one order of tickets.
const MaxTicketQuantity = 1000

// Ticket is an order of tickets as the owner sees it.
type Ticket struct {
	ID           uuid.UUID  `json:"id"`
	Status       string     `json:"status"`
	EventID      uuid.UUID  `json:"event_id"`
	EventName    string     `json:"event_name"`
	TierID       uuid.UUID  `json:"tier_id"`
	TierName     string     `json:"tier_name"`
	Date         string     `json:"date"` // YYYY-MM-DD and start_time HH:MM:SS: the event's, as told to the customer
	StartTime    string     `json:"start_time"`
	Quantity     int        `json:"quantity"`
	CustomerName string     `json:"customer_name"`
	CreatedAt    time.Time  `json:"created_at"`
	CancelledAt  *time.Time `json:"cancelled_at"`
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

// SellTicket sells tickets under the capacities that the offer has now, all of the order or none. Faults:
// invalid_parameter; not_found for an event or tier that is not offered; conflict where it does not fit or the event is
// over; what catalog answers about the business.
func (c *Client) SellTicket(ctx context.Context, businessID uuid.UUID, order NewTicket) (*Ticket, error) {
	var out Ticket
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "tickets"), order, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Tickets lists orders of one event, or of all where eventID is nil, oldest first and cancelled ones included. Faults:
// invalid_parameter for a bad page.
func (c *Client) Tickets(ctx context.Context, businessID uuid.UUID, eventID *uuid.UUID, page Page) (*TicketList, error) {
	query := page.values()
	if eventID != nil {
		query.Set("event_id", eventID.String())
	}
	var out TicketList
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, "tickets")+"?"+query.Encode(), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// CancelTicket cancels an order, whose tickets are free again at once. Faults: not_found; conflict where it is
// cancelled already.
func (c *Client) CancelTicket(ctx context.Context, businessID, ticketID uuid.UUID) (*Ticket, error) {
	var out Ticket
	if err := c.peer.Call(ctx, http.MethodPost, path(businessID, "tickets/"+ticketID.String()+"/cancel"), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// TicketsAhead counts the tickets, not cancelled, of events that begin today or later in business time, those included
// that the offer has no more. Faults: business_not_found; invalid_parameter where the slug names another business.
func (c *Client) TicketsAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	var out AheadCount
	at := path(businessID, "tickets/ahead") + "?" + url.Values{"slug": {slug}}.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Sales returns what is sold of many events in one call. Faults: invalid_parameter for too many.
func (c *Client) Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) (*Sales, error) {
	var out Sales
	if err := c.peer.Ask(ctx, path(businessID, "tickets/sales"), SalesRequest{EventIDs: eventIDs}, &out); err != nil {
		return nil, err
	}
	return &out, nil
}
