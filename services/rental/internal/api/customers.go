package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func (in *Internal) customers(c *fiber.Ctx) error {
	var asked customer.Search
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	if err := asked.Validate(); err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	found, err := in.records.Customers(c.UserContext(), offer.ID, asked)
	if err != nil {
		return err
	}
	return c.JSON(customer.List{Customers: found})
}

func (in *Internal) held(c *fiber.Ctx) error {
	var of customer.Of
	if err := server.JSON(c, &of); err != nil {
		return err
	}
	address, err := customer.Check(of.Email)
	if err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	found, err := in.records.Held(c.UserContext(), offer.ID, address, customer.MostHeld+1)
	if err != nil {
		return err
	}
	held := rental.Held{Reservations: make([]rental.Reservation, len(found))}
	for i, r := range found {
		held.Reservations[i] = in.show(offer, r)
	}
	return send(c, held)
}

func (in *Internal) expiringCustomers(c *fiber.Ctx) error {
	var asked customer.Expiring
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	digests, err := in.records.ExpiringCustomers(c.UserContext(), offer.ID, asked.Then, customer.MaxExpiring+1)
	if err != nil {
		return err
	}
	return c.JSON(customer.CutExpiring(digests))
}

// eraseCustomer anonymizes a customer, once for each Idempotency-Key of a business.
func (in *Internal) eraseCustomer() fiber.Handler {
	return server.HandleIdempotently(func(c *fiber.Ctx) error {
		var asked customer.Erase
		if err := server.JSON(c, &asked); err != nil {
			return err
		}
		address, err := customer.Check(asked.Email)
		if err != nil {
			return err
		}
		asked.Email = address
		offer, err := in.business(c)
		if err != nil {
			return err
		}
		now := in.clock.Now()
		erased, err := in.records.EraseCustomer(c.UserContext(), offer.ID,
			store.Erase{Erase: asked, Now: now, Today: offer.Today(now), Zone: offer.Location()})
		if err != nil {
			return err
		}
		return c.JSON(erased)
	}, in.outcome, server.AnswerWithResult(fiber.StatusOK))
}

// outcome returns the stored answer of an earlier write of the owner with
// the same Idempotency-Key. It returns nil if there was no such write.
func (in *Internal) outcome(c *fiber.Ctx) ([]byte, error) {
	offer, err := in.business(c)
	switch {
	case fault.Is(err, fault.BusinessNotFound):
		return nil, nil // a retry that comes this late cannot find the write either
	case err != nil:
		return nil, fault.Unknown(err)
	}
	return in.records.Outcome(c.UserContext(), offer.ID)
}
