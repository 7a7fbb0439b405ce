package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
)

func (a *Admin) mountWebhooks(business *authorize.Router) {
	business.Post("/webhooks", access.Integrate, newCreateHandler(a.Rooms.Integrations.CreateWebhook))
	business.Get("/webhooks", access.Integrate, newSlugListHandler(a.Rooms.Integrations.ListWebhooks))
	business.Patch("/webhooks/:id", access.Integrate, newChangeHandler("Webhook", a.Rooms.Integrations.ChangeWebhook))
	business.Delete("/webhooks/:id", access.Integrate, newDiscardHandler("Webhook", a.Rooms.Integrations.DeleteWebhook))
	business.Post("/webhooks/:id/rotate", access.Integrate, newIDHandler("Webhook", fiber.StatusOK,
		a.Rooms.Integrations.RotateWebhook))
	business.Post("/webhooks/:id/test", access.Integrate, newIDHandler("Webhook", fiber.StatusAccepted,
		a.Rooms.Integrations.TestWebhook))
	business.Get("/webhooks/:id/deliveries", access.Integrate, a.listDeliveries)
	business.Post("/deliveries/:id/retry", access.Integrate,
		newIDHandler("Delivery", fiber.StatusAccepted, a.Rooms.Integrations.RetryDelivery))
}

func (a *Admin) listDeliveries(c *fiber.Ctx) error {
	slug, id, err := parseID(c, "Webhook")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Rooms.Integrations.ListDeliveries(c.UserContext(), slug, id, c.Query("status"), page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
