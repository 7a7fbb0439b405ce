package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// MountWebhooks adds one route, such as /api/public/stripe/webhook, for each provider that sends notices to a
// webhook. The route cannot conflict with the routes of a business, because no route of a business ends in webhook.
//
// The status of the answer is 200 even if booking ignores the notice,
// because a provider sends the notice again after any other status.
func MountWebhooks(app fiber.Router, providers payment.Providers, payments *usecase.Payments) {
	for name, provider := range providers {
		notifier, tells := provider.(payment.Notifier)
		if !tells {
			continue
		}
		app.Post("/api/public/"+name+"/webhook", func(c *fiber.Ctx) error {
			body, err := server.Body(c)
			if err != nil {
				return err
			}
			notice, err := notifier.ReadNotice(body, func(name string) string { return c.Get(name) })
			if err != nil {
				return err
			}
			if err := payments.HandleNotice(c.UserContext(), name, notice); err != nil {
				return err
			}
			return c.JSON(fiber.Map{"received": true})
		})
	}
}
