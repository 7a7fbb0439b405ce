package api

import (
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
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
	sold, err := in.tickets.Sell(c.UserContext(), server.Actor(c), businessID, order)
	if err != nil {
		return err
	}
	return in.sendSold(c, sold)
}

// soldAgain answers a repeated request to sell tickets with the order that the first request made.
func (in *Internal) soldAgain(c *fiber.Ctx, answer []byte) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	var made store.Ticket
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	sold, err := in.tickets.Again(c.UserContext(), server.Actor(c), businessID, made)
	if err != nil {
		return err
	}
	return in.sendSold(c, sold)
}

func (in *Internal) sendSold(c *fiber.Ctx, sold usecase.Order) error {
	shown := in.showSold(sold.Ticket)
	shown.CheckoutURL = sold.CheckoutURL
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(shown)
}

// newTicket parses the body of a request to sell tickets. Fault: invalid_parameter.
func newTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		bookingclient.TicketOrder
		Slug          string `json:"slug"`
		PaymentChoice string `json:"payment_choice"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, or \"tiers\" "+
				"of {\"tier_id\", \"quantity\"}, quantity a whole number and the rest text: %s.", jsonReason(err))
	}
	order, err := wire.Read()
	order.Slug, order.PaymentChoice = wire.Slug, wire.PaymentChoice
	return order, err
}

func (in *Internal) listTickets(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	query := server.Query(c)
	page, err := query.Page()
	if err != nil {
		return err
	}
	filter, err := bookingclient.ReadTicketFilter(query)
	if err != nil {
		return err
	}
	tickets, next, err := in.records.Tickets(c.UserContext(), businessID, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(booking.TicketList{Tickets: all(tickets, showTicket), NextCursor: next})
}

func (in *Internal) ticket(c *fiber.Ctx) error {
	businessID, ticketID, err := businessAnd(c, "ticket")
	if err != nil {
		return err
	}
	found, err := in.records.Ticket(c.UserContext(), businessID, ticketID)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such tickets.")
	}
	if err != nil {
		return err
	}
	return c.JSON(showTicket(found))
}

func (in *Internal) ticketsAhead(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.tickets.Ahead(c.UserContext(), businessID, c.Query("slug"))
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
	var asked booking.Cancel
	if err := optionalBody(c, &asked); err != nil {
		return err
	}
	cancelled, err := in.cancellations.Tickets.Cancel(c.UserContext(), server.Actor(c), businessID, ticketID,
		asked.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showTicket(cancelled))
}

func (in *Internal) ticketCancellation(c *fiber.Ctx) error {
	businessID, ticketID, err := businessAnd(c, "ticket")
	if err != nil {
		return err
	}
	preview, err := in.cancellations.Tickets.Preview(c.UserContext(), businessID, ticketID)
	if err != nil {
		return err
	}
	return c.JSON(preview.Shown())
}

func (in *Internal) refundTickets(c *fiber.Ctx) error {
	businessID, ticketID, err := businessAnd(c, "ticket")
	if err != nil {
		return err
	}
	var asked booking.NewRefund
	if err := optionalBody(c, &asked); err != nil {
		return err
	}
	refunded, err := in.cancellations.Tickets.Refund(c.UserContext(), server.Actor(c), businessID, ticketID,
		asked.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showTicket(refunded))
}
