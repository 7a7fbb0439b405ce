package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Customers serves the reading and the deletion of a customer's data under /internal.
type Customers struct {
	Owner   *usecase.Customers
	Records *store.Store
}

// Mount registers the routes.
func (a *Customers) Mount(router fiber.Router) {
	router.Post("/internal/businesses/:business/customers/erase",
		once(a.Records, a.erase, fiber.StatusOK, plain(showErased)))
	router.Post("/internal/businesses/:business/customers/held", a.held)
}

func (a *Customers) held(c *fiber.Ctx) error {
	business, err := businessID(c)
	if err != nil {
		return err
	}
	var of customer.Of
	if err := server.JSON(c, &of); err != nil {
		return err
	}
	found, err := a.Owner.Held(c.UserContext(), business, of.Email)
	if err != nil {
		return err
	}
	return c.JSON(notifications.Held{Messages: all(found, showHeld)})
}

func (a *Customers) erase(c *fiber.Ctx) (store.Erased, error) {
	business, err := businessID(c)
	if err != nil {
		return store.Erased{}, err
	}
	var asked notifications.Erase
	if err := server.JSON(c, &asked); err != nil {
		return store.Erased{}, err
	}
	return a.Owner.Erase(c.UserContext(), business, asked)
}

func showHeld(m store.Message) notifications.HeldMessage {
	return notifications.HeldMessage{Message: showMessage(m), Text: m.Text}
}

func showErased(e store.Erased) notifications.Erased {
	return notifications.Erased{Messages: e.Messages, Deliveries: e.Deliveries}
}
