package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (in *Internal) serveCustomers(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	var req customer.Search
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	if err := req.Validate(); err != nil {
		return err
	}
	customers, err := in.records.Customers(c.UserContext(), businessID, req)
	if err != nil {
		return err
	}
	return c.JSON(customer.List{Customers: customers})
}

func (in *Internal) serveCustomerData(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
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
	bookings, tickets, err := in.records.FindCustomerData(c.UserContext(), businessID, of.Email, customer.MaxExported+1)
	if err != nil {
		return err
	}
	return c.JSON(booking.CustomerData{Bookings: convertAll(bookings, in.showBooking),
		Tickets: convertAll(tickets, showTicket)})
}

func (in *Internal) serveExpiringCustomers(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	var req customer.Expiring
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	digests, err := in.records.ExpiringCustomers(c.UserContext(), businessID, req.Then, customer.MaxExpiring+1)
	if err != nil {
		return err
	}
	return c.JSON(customer.CutExpiring(digests))
}

func (in *Internal) eraseCustomer(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	var req customer.Erase
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	if req.Email, err = customer.Check(req.Email); err != nil {
		return err
	}
	erased, err := in.records.EraseCustomer(c.UserContext(), businessID, req, in.clock.Now())
	if err != nil {
		return err
	}
	return c.JSON(erased)
}
