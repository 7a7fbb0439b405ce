package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (a *Admin) listBookings(c *fiber.Ctx) error {
	filter, err := bookingclient.ReadFilter(server.Query(c))
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	list, err := a.Rooms.Sales.ListBookings(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
