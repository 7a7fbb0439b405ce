package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (a *Admin) listCustomers(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	query := server.Query(c)
	text, err := query.Text("query")
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	list, err := a.Rooms.Sales.ListCustomers(c.UserContext(), slug, text, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) exportCustomer(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	address, err := server.Query(c).Required("email", "the customer's e-mail address")
	if err != nil {
		return err
	}
	export, err := a.Rooms.Sales.ExportCustomer(c.UserContext(), principal(c), slug, address)
	if err != nil {
		return err
	}
	return c.JSON(export)
}

func (a *Admin) eraseCustomer(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var erase customer.Erase
	if err := decode(c, &erase); err != nil {
		return err
	}
	forgotten, err := a.Rooms.Sales.EraseCustomer(c.UserContext(), principal(c), slug, erase)
	if err != nil {
		return err
	}
	return c.JSON(forgotten)
}
