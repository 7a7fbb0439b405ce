package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
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

// listAffected answers with the bookings that the present offer would no longer accept.
func (a *Admin) listAffected(c *fiber.Ctx) error {
	filter, err := offer.ReadAffectedFilter(server.Query(c))
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
	list, err := a.Rooms.Offer.ListAffected(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
