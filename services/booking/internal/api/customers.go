package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (in *Internal) customers(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	var asked customer.Search
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	if err := asked.Validate(); err != nil {
		return err
	}
	found, err := in.records.Customers(c.UserContext(), businessID, asked)
	if err != nil {
		return err
	}
	return c.JSON(customer.List{Customers: found})
}

func (in *Internal) held(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	var of customer.Of
	if err := server.JSON(c, &of); err != nil {
		return err
	}
	if of.Email, err = customer.Check(of.Email); err != nil {
		return err
	}
	bookings, tickets, err := in.records.Held(c.UserContext(), businessID, of.Email, customer.MostHeld+1)
	if err != nil {
		return err
	}
	return c.JSON(booking.Held{Bookings: all(bookings, showBooking), Tickets: all(tickets, showTicket)})
}

func (in *Internal) expiringCustomers(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	var asked customer.Expiring
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	digests, err := in.records.ExpiringCustomers(c.UserContext(), businessID, asked.Then, customer.MaxExpiring+1)
	if err != nil {
		return err
	}
	return c.JSON(customer.CutExpiring(digests))
}

func (in *Internal) eraseCustomer(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	var asked customer.Erase
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	if asked.Email, err = customer.Check(asked.Email); err != nil {
		return err
	}
	erased, err := in.records.EraseCustomer(c.UserContext(), businessID, asked, in.clock.Now())
	if err != nil {
		return err
	}
	return c.JSON(erased)
}
