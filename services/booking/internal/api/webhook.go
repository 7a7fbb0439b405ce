package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// MountWebhooks adds one path for each provider, such as /api/public/stripe/webhook, to which the
// provider sends its notices. The path cannot conflict with the paths of a business whose slug is stripe.
//
// The answer is 200 even if the notice is ignored, because providers send a notice again after any other status.
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
