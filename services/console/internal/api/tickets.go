package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// newTickets is the body that orders tickets.
type newTickets struct {
	EventID       string                    `json:"event_id"`
	TierID        string                    `json:"tier_id"`
	Quantity      int                       `json:"quantity"`
	Tiers         []bookingclient.AskedTier `json:"tiers"`
	CustomerName  string                    `json:"customer_name"`
	CustomerEmail *string                   `json:"customer_email"`
	CustomerPhone *string                   `json:"customer_phone"`
	FormData      json.RawMessage           `json:"form_data"`
	Locale        string                    `json:"locale"`
}

func (a *Admin) sellTickets(c *fiber.Ctx) error {
	order, err := ticketsOf(c)
	if err != nil {
		return err
	}
	if order.Slug, err = server.Slug(c); err != nil {
		return err
	}
	sold, err := a.Owner.SellTickets(c.UserContext(), principal(c), order)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(sold)
}

// ticketsOf reads the ids of the body; which events, quantities and names are right, booking judges.
func ticketsOf(c *fiber.Ctx) (booking.NewTicket, error) {
	var body newTickets
	if err := decode(c, &body); err != nil {
		return booking.NewTicket{}, err
	}
	eventID, err := request.ID("event_id", body.EventID)
	if err != nil {
		return booking.NewTicket{}, err
	}
	order := booking.NewTicket{
		EventID: eventID, CustomerName: body.CustomerName, CustomerEmail: body.CustomerEmail, CustomerPhone: body.CustomerPhone,
		FormData: body.FormData, Locale: body.Locale,
	}
	err = bookingclient.ReadTiers(&order, body.TierID, body.Quantity, body.Tiers)
	return order, err
}

func (a *Admin) listTickets(c *fiber.Ctx) error {
	query := server.Query(c)
	filter, err := bookingclient.ReadTicketFilter(query)
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	list, err := a.Owner.ListTickets(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
