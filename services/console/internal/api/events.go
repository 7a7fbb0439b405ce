package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (a *Admin) listEvents(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	filter, err := eventclient.ReadFilter(server.Query(c))
	if err != nil {
		return err
	}
	list, err := a.Rooms.ListAuditLog(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
