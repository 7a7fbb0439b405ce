package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/peer/notifications"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Customers serves the forgetting of customers under /internal.
type Customers struct {
	Owner   *usecase.Customers
	Records *store.Store
}

// Mount adds the routes.
func (a *Customers) Mount(router fiber.Router) {
	writes := &Webhooks{Records: a.Records} // what became of an owner's write is asked alike of all
	router.Post("/internal/businesses/:business/customers/erase", once(writes, a.erase, fiber.StatusOK, plain(showErased)))
	router.Post("/internal/businesses/:business/customers/held", a.held)
}

func (a *Customers) held(c *fiber.Ctx) error {
	business, err := request.ID("business", c.Params("business"))
	if err != nil {
		return err
	}
	var of customer.Of
	if err := decode(c, &of); err != nil {
		return err
	}
	found, err := a.Owner.Held(c.UserContext(), business, of.Email)
	if err != nil {
		return err
	}
	held := notifications.Held{Messages: make([]notifications.HeldMessage, len(found))}
	for i, m := range found {
		held.Messages[i] = notifications.HeldMessage{Message: showMessage(m), Text: m.Text}
	}
	return c.JSON(held)
}

func (a *Customers) erase(c *fiber.Ctx) (store.Erased, error) {
	business, err := request.ID("business", c.Params("business"))
	if err != nil {
		return store.Erased{}, err
	}
	var asked notifications.Erase
	if err := decode(c, &asked); err != nil {
		return store.Erased{}, err
	}
	return a.Owner.Erase(c.UserContext(), business, asked)
}

func showErased(e store.Erased) notifications.Erased {
	return notifications.Erased{Messages: e.Messages, Deliveries: e.Deliveries}
}
