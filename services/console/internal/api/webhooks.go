package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/server"
)

func (a *Admin) mountWebhooks(business fiber.Router) {
	business.Post("/webhooks", create(a.Owner.CreateWebhook))
	business.Get("/webhooks", listBySlug(a.Owner.Webhooks))
	business.Patch("/webhooks/:id", change("Webhook", a.Owner.ChangeWebhook))
	business.Delete("/webhooks/:id", discard("Webhook", a.Owner.DeleteWebhook))
	business.Post("/webhooks/:id/rotate", ofID("Webhook", fiber.StatusOK, a.Owner.RotateWebhook))
	business.Post("/webhooks/:id/test", ofID("Webhook", fiber.StatusAccepted, a.Owner.TestWebhook))
	business.Get("/webhooks/:id/deliveries", a.listDeliveries)
	business.Post("/deliveries/:id/retry", ofID("Delivery", fiber.StatusAccepted, a.Owner.RetryDelivery))
}

func (a *Admin) listDeliveries(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Webhook")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Owner.Deliveries(c.UserContext(), slug, id, c.Query("status"), page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
