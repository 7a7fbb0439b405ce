package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

func (a *Admin) listReservations(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	filter, err := sales.ReadReservationFilter(server.Query(c))
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Rooms.Sales.ListReservations(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
