package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
)

// Internal serves the requests of other services about people, under /internal.
type Internal struct{ Accounts *identity.Accounts }

// Mount adds the route.
func (a *Internal) Mount(router fiber.Router) {
	router.Post("/internal/businesses/:business/members/verified", a.verified)
}

func (a *Internal) verified(c *fiber.Ctx) error {
	business, err := request.ID("business", c.Params("business"))
	if err != nil {
		return err
	}
	var asked console.Addresses
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	verified, err := a.Accounts.VerifiedMembers(c.UserContext(), business, asked.Emails)
	if err != nil {
		return err
	}
	return c.JSON(console.Addresses{Emails: verified})
}
