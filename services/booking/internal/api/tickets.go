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
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	order, err := parseNewTicket(body)
	if err != nil {
		return err
	}
	result, err := in.tickets.Sell(c.UserContext(), server.Actor(c), businessID, order)
	if err != nil {
		return err
	}
	return in.sendOrder(c, result)
}

// answerRepeatedSale answers a repeated request to sell tickets with the order that the first request made.
func (in *Internal) answerRepeatedSale(c *fiber.Ctx, answer []byte) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	var order store.Ticket
	if err := json.Unmarshal(answer, &order); err != nil {
		return err
	}
	result, err := in.tickets.AnswerRetry(c.UserContext(), server.Actor(c), businessID, order)
	if err != nil {
		return err
	}
	return in.sendOrder(c, result)
}

func (in *Internal) sendOrder(c *fiber.Ctx, result usecase.Order) error {
	order := in.showNewOrder(result.Ticket)
	order.CheckoutURL = result.CheckoutURL
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(order)
}

// parseNewTicket parses the body of a request to sell tickets. Fault: invalid_parameter.
func parseNewTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		bookingclient.TicketOrder
		Slug          string `json:"slug"`
		PaymentChoice string `json:"payment_choice"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, or \"tiers\" "+
				"of {\"tier_id\", \"quantity\"}, quantity a whole number and the rest text: %s.", describeJSONError(err))
	}
	order, err := wire.Read()
	order.Slug, order.PaymentChoice = wire.Slug, wire.PaymentChoice
	return order, err
}

func (in *Internal) listTickets(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
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
	return c.JSON(booking.TicketList{Tickets: convertAll(tickets, showTicket), NextCursor: next})
}

func (in *Internal) serveTicket(c *fiber.Ctx) error {
	businessID, ticketID, err := parsePathIDs(c, "ticket")
	if err != nil {
		return err
	}
	order, err := in.records.Ticket(c.UserContext(), businessID, ticketID)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such tickets.")
	}
	if err != nil {
		return err
	}
	return c.JSON(showTicket(order))
}

func (in *Internal) serveTicketsAhead(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.tickets.CountAhead(c.UserContext(), businessID, c.Query("slug"))
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (in *Internal) serveSales(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var req booking.SalesRequest
	if err := json.Unmarshal(body, &req); err != nil || len(req.EventIDs) > booking.MaxSalesEvents {
		return fault.Newf(fault.InvalidParameter, "event_ids: send at most %d UUIDs of events.", booking.MaxSalesEvents)
	}
	events, err := in.records.Sales(c.UserContext(), businessID, req.EventIDs)
	if err != nil {
		return err
	}
	return c.JSON(booking.Sales{Events: events})
}

func (in *Internal) cancelTickets(c *fiber.Ctx) error {
	businessID, ticketID, err := parsePathIDs(c, "ticket")
	if err != nil {
		return err
	}
	var req booking.Cancel
	if err := parseOptionalBody(c, &req); err != nil {
		return err
	}
	cancelled, err := in.cancellations.Tickets.Cancel(c.UserContext(), server.Actor(c), businessID, ticketID,
		req.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showTicket(cancelled))
}

func (in *Internal) serveTicketCancellation(c *fiber.Ctx) error {
	businessID, ticketID, err := parsePathIDs(c, "ticket")
	if err != nil {
		return err
	}
	preview, err := in.cancellations.Tickets.Preview(c.UserContext(), businessID, ticketID)
	if err != nil {
		return err
	}
	return c.JSON(preview.Render())
}

func (in *Internal) refundTickets(c *fiber.Ctx) error {
	businessID, ticketID, err := parsePathIDs(c, "ticket")
	if err != nil {
		return err
	}
	var req booking.NewRefund
	if err := parseOptionalBody(c, &req); err != nil {
		return err
	}
	refunded, err := in.cancellations.Tickets.Refund(c.UserContext(), server.Actor(c), businessID, ticketID,
		req.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showTicket(refunded))
}
