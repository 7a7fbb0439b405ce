package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (a *Admin) sellTickets(c *fiber.Ctx) error {
	var body bookingclient.TicketOrder
	if err := decode(c, &body); err != nil {
		return err
	}
	order, err := body.Read()
	if err != nil {
		return err
	}
	if order.Slug, err = server.Slug(c); err != nil {
		return err
	}
	ticket, err := a.Rooms.Sales.SellTickets(c.UserContext(), principal(c), order)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(ticket)
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
	list, err := a.Rooms.Sales.ListTickets(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
