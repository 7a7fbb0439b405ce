package bookingclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// SellTicket sells tickets under the capacities that the offer has now, all of the order or none. Faults:
// invalid_parameter; not_found for an event or tier that is not offered; conflict where it does not fit or the event is
// over; what catalog answers about the business.
func (c *Client) SellTicket(ctx context.Context, businessID uuid.UUID, order booking.NewTicket) (*booking.Ticket, error) {
	return typed.Call[booking.Ticket](ctx, c.peer, http.MethodPost, path(businessID, "tickets"), order)
}

// AskedTier is a tier of an order as it is asked for.
type AskedTier struct {
	TierID   string `json:"tier_id"`
	Quantity int    `json:"quantity"`
}

// TicketOrder is the body that orders tickets, of the admin API and, with more beside it, of booking's own.
type TicketOrder struct {
	EventID       string          `json:"event_id"`
	TierID        string          `json:"tier_id"`
	Quantity      int             `json:"quantity"`
	Tiers         []AskedTier     `json:"tiers"`
	CustomerName  string          `json:"customer_name"`
	CustomerEmail *string         `json:"customer_email"`
	CustomerPhone *string         `json:"customer_phone"`
	FormData      json.RawMessage `json:"form_data"`
	Locale        string          `json:"locale"`
}

// Read reads the ids of an order: of tiers, or of one tier and its quantity where there are none. Which events, quantities and names are right,
// booking judges. Faults: invalid_parameter.
func (o *TicketOrder) Read() (booking.NewTicket, error) {
	eventID, err := request.ID("event_id", o.EventID)
	if err != nil {
		return booking.NewTicket{}, err
	}
	order := booking.NewTicket{
		EventID: eventID, CustomerName: o.CustomerName, CustomerEmail: o.CustomerEmail, CustomerPhone: o.CustomerPhone,
		FormData: o.FormData, Locale: o.Locale,
	}
	if o.Tiers == nil {
		order.Quantity = o.Quantity
		order.TierID, err = request.ID("tier_id", o.TierID)
		return order, err
	}
	if o.TierID != "" || o.Quantity != 0 || len(o.Tiers) == 0 {
		return booking.NewTicket{}, fault.New(fault.InvalidParameter, "tiers: send at least one tier here, and then neither tier_id nor quantity beside it.")
	}
	for i, tier := range o.Tiers {
		id, err := request.ID(fmt.Sprintf("tiers[%d].tier_id", i), tier.TierID)
		if err != nil {
			return booking.NewTicket{}, err
		}
		order.Tiers = append(order.Tiers, booking.OrderedTier{TierID: id, Quantity: tier.Quantity})
	}
	return order, nil
}

// Ticket returns an order of tickets as it is now. Faults: not_found.
func (c *Client) Ticket(ctx context.Context, businessID, ticketID uuid.UUID) (*booking.Ticket, error) {
	return typed.Call[booking.Ticket](ctx, c.peer, http.MethodGet, path(businessID, "tickets/"+ticketID.String()), nil)
}

// Tickets lists the orders that the filter leaves, oldest first and cancelled ones included. Faults: invalid_parameter for a bad filter or
// page.
func (c *Client) Tickets(ctx context.Context, businessID uuid.UUID, filter booking.TicketFilter, page request.Page) (*booking.TicketList, error) {
	query := page.Values()
	maps.Copy(query, filter.Values())
	return typed.Call[booking.TicketList](ctx, c.peer, http.MethodGet, path(businessID, "tickets")+"?"+query.Encode(), nil)
}

// TicketCancellation says what cancelling an order would refund now, by its policy. Faults: not_found.
func (c *Client) TicketCancellation(ctx context.Context, businessID, ticketID uuid.UUID) (*booking.Cancellation, error) {
	return typed.Call[booking.Cancellation](ctx, c.peer, http.MethodGet, path(businessID, "tickets/"+ticketID.String()+"/cancellation"), nil)
}

// CancelTicket cancels an order, whose tickets are free again at once, and refunds what is wanted of what was paid online. Faults:
// not_found; conflict where it is cancelled already, or more is wanted than was paid; invalid_parameter for what is no amount.
func (c *Client) CancelTicket(ctx context.Context, businessID, ticketID uuid.UUID, wanted booking.Cancel) (*booking.Ticket, error) {
	return typed.Call[booking.Ticket](ctx, c.peer, http.MethodPost, path(businessID, "tickets/"+ticketID.String()+"/cancel"), wanted)
}

// RefundTicket refunds an order that is cancelled, as after a refusal. Faults: not_found; conflict where it is not, a refund is on its way,
// or more is wanted than is left; invalid_parameter for what is no amount.
func (c *Client) RefundTicket(ctx context.Context, businessID, ticketID uuid.UUID, wanted booking.NewRefund) (*booking.Ticket, error) {
	return typed.Call[booking.Ticket](ctx, c.peer, http.MethodPost, path(businessID, "tickets/"+ticketID.String()+"/refund"), wanted)
}

// Link returns the customer's link to a booking or an order of tickets; "" where there is none to show. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID uuid.UUID, kind event.SubjectKind, id uuid.UUID) (string, error) {
	var out link.Shown
	if err := c.peer.Call(ctx, http.MethodGet, path(businessID, string(kind)+"s/"+id.String()+"/link"), nil, &out); err != nil {
		return "", err
	}
	return out.URL, nil
}

// TicketsAhead counts the tickets, not cancelled, of events that begin today or later in business time, those included
// that the offer has no more. Faults: business_not_found; invalid_parameter where the slug names another business.
func (c *Client) TicketsAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	var out booking.AheadCount
	at := path(businessID, "tickets/ahead") + "?" + url.Values{"slug": {slug}}.Encode()
	if err := c.peer.Call(ctx, http.MethodGet, at, nil, &out); err != nil {
		return 0, err
	}
	return out.Count, nil
}

// Sales returns what is sold of many events in one call. Faults: invalid_parameter for too many.
func (c *Client) Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) (*booking.Sales, error) {
	return typed.Ask[booking.Sales](ctx, c.peer, path(businessID, "tickets/sales"), booking.SalesRequest{EventIDs: eventIDs})
}
