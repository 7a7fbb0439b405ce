package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// MountWebhooks adds, for each provider, the path that its notices of what became of charges come to, such as
// /api/public/stripe/webhook. It is no business's: no path of a business called stripe is the same. The answer is 200 also to what
// we have no use for, as providers send again what is answered otherwise.
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
