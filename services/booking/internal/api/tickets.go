package api

import (
	"cmp"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

func (in *Internal) sellTickets(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	order, err := newTicket(body)
	if err != nil {
		return err
	}
	sold, err := in.owner.SellTickets(c.UserContext(), businessID, order)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(in.showSold(sold))
}

// newTicket reads an order.
func newTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		Slug          string  `json:"slug"`
		EventID       string  `json:"event_id"`
		TierID        string  `json:"tier_id"`
		Quantity      int     `json:"quantity"`
		CustomerName  string  `json:"customer_name"`
		CustomerEmail *string `json:"customer_email"`
		Locale        string  `json:"locale"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, quantity a whole number and the rest text: %s.", jsonReason(err))
	}
	eventID, event := request.ID("event_id", wire.EventID)
	tierID, tier := request.ID("tier_id", wire.TierID)
	return booking.NewTicket{
		Slug: wire.Slug, EventID: eventID, TierID: tierID, Quantity: wire.Quantity, CustomerName: wire.CustomerName,
		CustomerEmail: wire.CustomerEmail, Locale: wire.Locale,
	}, cmp.Or(event, tier)
}

func (in *Internal) tickets(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	query := server.Query(c)
	page, err := query.Page()
	if err != nil {
		return err
	}
	eventID, err := query.OptionalID("event_id")
	if err != nil {
		return err
	}
	tickets, next, err := in.records.Tickets(c.UserContext(), businessID, eventID, page)
	if err != nil {
		return err
	}
	return c.JSON(booking.TicketList{Tickets: all(tickets, showTicket), NextCursor: next})
}

func (in *Internal) ticketsAhead(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.owner.TicketsAhead(c.UserContext(), businessID, c.Query("slug"))
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (in *Internal) sales(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var asked booking.SalesRequest
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.EventIDs) > booking.MaxSalesEvents {
		return fault.Newf(fault.InvalidParameter, "event_ids: send at most %d UUIDs of events.", booking.MaxSalesEvents)
	}
	events, err := in.records.Sales(c.UserContext(), businessID, asked.EventIDs)
	if err != nil {
		return err
	}
	return c.JSON(booking.Sales{Events: events})
}

func (in *Internal) cancelTickets(c *fiber.Ctx) error {
	businessID, ticketID, err := businessAnd(c, "ticket")
	if err != nil {
		return err
	}
	cancelled, err := in.owner.CancelTickets(c.UserContext(), businessID, ticketID)
	if err != nil {
		return err
	}
	return c.JSON(showTicket(cancelled))
}
