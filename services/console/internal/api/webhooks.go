package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/notifications"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

func (a *Admin) mountWebhooks(business fiber.Router) {
	business.Post("/webhooks", a.createWebhook)
	business.Get("/webhooks", a.listWebhooks)
	business.Patch("/webhooks/:id", a.changeWebhook)
	business.Delete("/webhooks/:id", a.deleteWebhook)
	business.Post("/webhooks/:id/rotate", ofID("Webhook", fiber.StatusOK, a.Owner.RotateWebhook))
	business.Post("/webhooks/:id/test", ofID("Webhook", fiber.StatusAccepted, a.Owner.TestWebhook))
	business.Get("/webhooks/:id/deliveries", a.listDeliveries)
	business.Post("/deliveries/:id/retry", ofID("Delivery", fiber.StatusAccepted, a.Owner.RetryDelivery))
}

// ofID is the handler of a write that needs no more than an id, and answers with this status.
func ofID[T any](what string, status int, write func(context.Context, usecase.Principal, string, uuid.UUID) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, what)
		if err != nil {
			return err
		}
		done, err := write(c.UserContext(), principal(c), slug, id)
		if err != nil {
			return err
		}
		return c.Status(status).JSON(done)
	}
}

// createWebhook hands the endpoint on as it is written: notifications says what is wrong with it.
func (a *Admin) createWebhook(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var wanted notifications.NewWebhook
	if err := decode(c, &wanted); err != nil {
		return err
	}
	made, err := a.Owner.CreateWebhook(c.UserContext(), principal(c), slug, wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(made)
}

func (a *Admin) listWebhooks(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Owner.Webhooks(c.UserContext(), slug, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) changeWebhook(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Webhook")
	if err != nil {
		return err
	}
	var change notifications.WebhookChange
	if err := decode(c, &change); err != nil {
		return err
	}
	changed, err := a.Owner.ChangeWebhook(c.UserContext(), principal(c), slug, id, change)
	if err != nil {
		return err
	}
	return c.JSON(changed)
}

func (a *Admin) deleteWebhook(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Webhook")
	if err != nil {
		return err
	}
	if err := a.Owner.DeleteWebhook(c.UserContext(), principal(c), slug, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
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
