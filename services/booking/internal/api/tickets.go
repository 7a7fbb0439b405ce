package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
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
	return c.Status(fiber.StatusCreated).JSON(sold)
}

// newTicket reads an order.
func newTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		Slug         string `json:"slug"`
		EventID      string `json:"event_id"`
		TierID       string `json:"tier_id"`
		Quantity     int    `json:"quantity"`
		CustomerName string `json:"customer_name"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, quantity a whole number and the rest text: %s.", jsonReason(err))
	}
	order := booking.NewTicket{Slug: wire.Slug, Quantity: wire.Quantity, CustomerName: wire.CustomerName}
	var err error
	if order.EventID, err = uuid.Parse(wire.EventID); err != nil {
		return order, fault.New(fault.InvalidParameter, "event_id: send the UUID of an event of the business.")
	}
	if order.TierID, err = uuid.Parse(wire.TierID); err != nil {
		return order, fault.New(fault.InvalidParameter, "tier_id: send the UUID of a tier of the event.")
	}
	return order, nil
}

func (in *Internal) tickets(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	eventID, err := optionalID(c, "event_id")
	if err != nil {
		return err
	}
	tickets, next, err := in.records.Tickets(c.UserContext(), businessID, eventID, limit, c.Query("cursor"))
	if err != nil {
		return asFault(err)
	}
	return c.JSON(booking.TicketList{Tickets: notNil(tickets), NextCursor: next})
}

func optionalID(c *fiber.Ctx, name string) (*uuid.UUID, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "%s: send a UUID, or leave it out.", name)
	}
	return &id, nil
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
	return c.JSON(booking.Sales{Events: notNil(events)})
}

func (in *Internal) cancelTickets(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	ticketID, err := pathID(c, "ticket")
	if err != nil {
		return err
	}
	cancelled, err := in.owner.CancelTickets(c.UserContext(), businessID, ticketID)
	if err != nil {
		return err
	}
	return c.JSON(cancelled)
}
