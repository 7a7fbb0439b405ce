package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
)

func (a *Admin) mountMessages(business *authorize.Router) {
	business.Get("/messages", access.SeeCustomers, a.listMessages)
	business.Post("/messages/test", access.Integrate, a.sendTestMessage)
	business.Get("/messages/:id", access.SeeCustomers, newReadHandler("Message", a.Rooms.Sales.FindMessage))
	business.Post("/messages/:id/retry", access.Sell,
		newIDHandler("Message", fiber.StatusAccepted, a.Rooms.Sales.RetryMessage))
}

// listMessages lists a business's messages to customers. It does not check the filters in the query, because the
// notifications service validates them.
func (a *Admin) listMessages(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	about, err := server.Query(c).OptionalID("about")
	if err != nil {
		return err
	}
	filter := notifications.MessageFilter{Status: c.Query("status"), Kind: c.Query("kind")}
	if about != nil {
		filter.About = *about
	}
	list, err := a.Rooms.Sales.ListMessages(c.UserContext(), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

// sendTestMessage mails the caller a message with sample facts.
func (a *Admin) sendTestMessage(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var sample notifications.SampleMessage
	if err := decode(c, &sample); err != nil {
		return err
	}
	result, err := a.Rooms.Sales.SendTestMessage(c.UserContext(), principal(c), slug, sample)
	if err != nil {
		return err
	}
	return c.JSON(result)
}
