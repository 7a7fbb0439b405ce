package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/server"
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
	business, err := a.business(c)
	if err != nil {
		return err
	}
	list, err := a.Owner.Bookings.Bookings(c.UserContext(), business.ID, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
