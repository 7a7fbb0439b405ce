package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// MountWebhooks adds a path for the notices of each provider, such as /api/public/stripe/webhook.
// The path cannot conflict with that of a business whose slug is stripe. The answer is 200 even
// for a notice that is ignored, because providers repeat a notice that gets another status.
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
			if err := payments.Notice(c.UserContext(), name, notice); err != nil {
				return err
			}
			return c.JSON(fiber.Map{"received": true})
		})
	}
}
