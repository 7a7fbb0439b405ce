package api

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// Tickets sells tickets of events; *bookingclient.Client is the one outside tests. Errors are faults.
type Tickets interface {
	SellTicket(ctx context.Context, businessID uuid.UUID, order booking.NewTicket) (*booking.Ticket, error)
	Tickets(ctx context.Context, businessID uuid.UUID, eventID *uuid.UUID, page request.Page) (*booking.TicketList, error)
	TicketsAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error)
	CancelTicket(ctx context.Context, businessID, ticketID uuid.UUID) (*booking.Ticket, error)
}

var _ Tickets = (*bookingclient.Client)(nil)

func (a *Admin) mountTickets(business fiber.Router) {
	business.Post("/tickets", a.sellTickets)
	business.Get("/tickets", a.listTickets)
	business.Post("/tickets/:id/cancel", a.cancelTickets)
}

// newTickets is the body that orders tickets.
type newTickets struct {
	EventID      string `json:"event_id"`
	TierID       string `json:"tier_id"`
	Quantity     int    `json:"quantity"`
	CustomerName string `json:"customer_name"`
}

func (a *Admin) sellTickets(c *fiber.Ctx) error {
	order, err := ticketsOf(c)
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	order.Slug = business.Slug
	sold, err := a.Tickets.SellTicket(c.UserContext(), business.ID, *order)
	if err != nil {
		return err
	}
	a.changed(c, "sell tickets", business.Slug, slog.String("tickets_id", sold.ID.String()), slog.Int("quantity", sold.Quantity))
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(sold)
}

// ticketsOf reads the ids of the body; which events, quantities and names are right, booking judges.
func ticketsOf(c *fiber.Ctx) (*booking.NewTicket, error) {
	var body newTickets
	if err := decode(c, &body); err != nil {
		return nil, err
	}
	eventID, err := request.ID("event_id", body.EventID)
	if err != nil {
		return nil, err
	}
	tierID, err := request.ID("tier_id", body.TierID)
	if err != nil {
		return nil, err
	}
	return &booking.NewTicket{EventID: eventID, TierID: tierID, Quantity: body.Quantity, CustomerName: body.CustomerName}, nil
}

func (a *Admin) listTickets(c *fiber.Ctx) error {
	query := server.Query(c)
	eventID, err := query.OptionalID("event_id")
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	list, err := a.Tickets.Tickets(c.UserContext(), business.ID, eventID, page)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(list)
}

func (a *Admin) cancelTickets(c *fiber.Ctx) error {
	id, err := idOf(c, "Tickets")
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	cancelled, err := a.Tickets.CancelTicket(c.UserContext(), business.ID, id)
	if err != nil {
		return err
	}
	a.changed(c, "cancel tickets", business.Slug, slog.String("tickets_id", id.String()))
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(cancelled)
}
