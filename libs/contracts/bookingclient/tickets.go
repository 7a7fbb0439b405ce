package bookingclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// SellTicket sells either all tickets of an order or none. An order must not exceed the capacities in the
// current offer. Faults: invalid_parameter; not_found if the offer does not contain the event or tier;
// conflict if a capacity is exceeded or the event is over; the faults of catalog about the business.
func (c *Client) SellTicket(ctx context.Context, businessID uuid.UUID,
	order booking.NewTicket) (*booking.Ticket, error) {
	return SellTickets.Call(ctx, c.peer, endpoints.About(businessID, order))
}

// AskedTier is the number of ordered tickets of one tier in a [TicketOrder].
type AskedTier struct {
	TierID   string `json:"tier_id"`
	Quantity int    `json:"quantity"`
}

// TicketOrder is the body of a request of the admin API that orders tickets.
// The corresponding [booking.NewTicket] of the internal API has further fields.
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

// Read parses the ids in an order. The order must have either Tiers, or TierID with Quantity. The booking
// service, not Read, validates the event, the quantities and the name. Faults: invalid_parameter.
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
		return booking.NewTicket{}, fault.New(fault.InvalidParameter,
			"tiers: send at least one tier here, and then neither tier_id nor quantity beside it.")
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

// Ticket returns the current state of an order of tickets. Faults: not_found.
func (c *Client) Ticket(ctx context.Context, businessID, ticketID uuid.UUID) (*booking.Ticket, error) {
	return ReadTicket.Call(ctx, c.peer, TicketID{businessID, ticketID})
}

// Tickets lists the orders of tickets that match the filter, oldest first, including
// cancelled ones. Faults: invalid_parameter for an invalid filter or page.
func (c *Client) Tickets(ctx context.Context, businessID uuid.UUID, filter booking.TicketFilter,
	page request.Page) (*booking.TicketList, error) {
	return ListTickets.Call(ctx, c.peer,
		TicketsRequest{endpoints.OfBusiness{Business: businessID}, page, TicketFilter{filter}})
}

// TicketCancellation returns the effect that cancelling an order would have now,
// with the refund that the cancellation policy of the order gives. Faults: not_found.
func (c *Client) TicketCancellation(ctx context.Context,
	businessID, ticketID uuid.UUID) (*booking.Cancellation, error) {
	return PreviewTicketCancellation.Call(ctx, c.peer, TicketID{businessID, ticketID})
}

// CancelTicket cancels an order of tickets and refunds the requested amount of its online payment.
// The tickets can be sold again immediately. Faults: not_found; conflict if the order is already
// cancelled, or if the amount exceeds the payment; invalid_parameter if the amount is invalid.
func (c *Client) CancelTicket(ctx context.Context, businessID, ticketID uuid.UUID,
	wanted booking.Cancel) (*booking.Ticket, error) {
	return CancelTickets.Call(ctx, c.peer, endpoints.Request(TicketID{businessID, ticketID}, wanted))
}

// RefundTicket refunds a cancelled order of tickets, for example after the provider refused an earlier
// refund. Faults: not_found; conflict if the order is not cancelled, if a refund is pending, or if the
// amount exceeds the part of the payment that is left; invalid_parameter if the amount is invalid.
func (c *Client) RefundTicket(ctx context.Context, businessID, ticketID uuid.UUID,
	wanted booking.NewRefund) (*booking.Ticket, error) {
	return RefundTickets.Call(ctx, c.peer, endpoints.Request(TicketID{businessID, ticketID}, wanted))
}

// Link returns the customer's link to a booking or an order of tickets. It returns "" if
// the link cannot be shown, for example because the data is anonymized. Faults: not_found.
func (c *Client) Link(ctx context.Context, businessID uuid.UUID, kind event.SubjectKind, id uuid.UUID) (string, error) {
	read := ReadBookingLink
	if kind == event.Ticket {
		read = ReadTicketLink
	}
	out, err := read.Call(ctx, c.peer, SaleID{businessID, id})
	if err != nil {
		return "", err
	}
	return out.URL, nil
}

// TicketsAhead returns the number of sold tickets for events that start today or later, in the time
// zone of the business. Events that the business no longer offers count, too. Faults:
// business_not_found; invalid_parameter if the argument `slug` is the slug of another business.
func (c *Client) TicketsAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	return count(CountTicketsAhead.Call(ctx, c.peer, AheadRequest{endpoints.OfBusiness{Business: businessID}, slug}))
}

// Sales returns the ticket sales of many events in one call. Faults:
// invalid_parameter for more than booking.MaxSalesEvents events.
func (c *Client) Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) (*booking.Sales, error) {
	return CountSales.Call(ctx, c.peer, endpoints.About(businessID, booking.SalesRequest{EventIDs: eventIDs}))
}
