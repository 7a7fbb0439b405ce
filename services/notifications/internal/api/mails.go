package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Mails serves the sending of mails about accounts under /internal.
type Mails struct{ Account *usecase.Mails }

// Mount registers the route.
func (a *Mails) Mount(router fiber.Router) {
	router.Post("/internal/mails", func(c *fiber.Ctx) error {
		var wanted notifications.Mail
		if err := server.JSON(c, &wanted); err != nil {
			return err
		}
		if err := a.Account.Send(c.UserContext(), wanted); err != nil {
			return err
		}
		return c.JSON(struct{}{})
	})
}
