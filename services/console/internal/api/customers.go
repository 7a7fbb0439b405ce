package api

import (
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
	"github.com/slotmesh/slotmesh/services/console/internal/sales/customerfile"
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
	tag, err := query.Text("tag")
	if err != nil {
		return err
	}
	list, err := a.Rooms.Sales.ListCustomers(c.UserContext(), slug, sales.CustomerFilter{Query: text, Tag: tag}, page)
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
	address, err := readAddress(c)
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

// readAddress returns the customer's address in the query: the parameter email or the parameter phone.
func readAddress(c *fiber.Ctx) (string, error) {
	query := server.Query(c)
	if phone, err := query.Text("phone"); err != nil || phone != "" {
		return phone, err
	}
	return query.Required("email", "the customer's e-mail address, or phone with the telephone number")
}

func (a *Admin) findCustomer(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	address, err := readAddress(c)
	if err != nil {
		return err
	}
	found, err := a.Rooms.Sales.FindCustomer(c.UserContext(), slug, address)
	if err != nil {
		return err
	}
	return c.JSON(found)
}

// newCustomerHandler returns a handler that decodes the body and calls a use case about customers.
func newCustomerHandler[In, Out any](
	do func(context.Context, peers.Principal, string, In) (*Out, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		var in In
		if err := decode(c, &in); err != nil {
			return err
		}
		out, err := do(c.UserContext(), principal(c), slug, in)
		if err != nil {
			return err
		}
		return c.JSON(out)
	}
}

// importCustomers imports the CSV file in the body. The parameter `columns` has the kind of each column, separated by
// commas.
func (a *Admin) importCustomers(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	if _, err := parseMediaType(c, map[string]string{"text/csv": ""}, "text/csv"); err != nil {
		return err
	}
	isDry, err := server.Query(c).Flag("dry_run")
	if err != nil {
		return err
	}
	columns, err := readColumns(c.Query("columns"))
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	imported, err := a.Rooms.Sales.ImportCustomers(c.UserContext(), principal(c), slug, body, columns, isDry)
	if err != nil {
		return err
	}
	return c.JSON(imported)
}

func readColumns(text string) ([]customerfile.Column, error) {
	if text == "" {
		return nil, nil
	}
	var columns []customerfile.Column
	for name := range strings.SplitSeq(text, ",") {
		column := customerfile.Column(name)
		if column != customerfile.Ignored && !slices.Contains(customerfile.Columns, column) {
			return nil, request.Invalid("columns: there is no kind of column %s; write the kinds in the order of the "+
				"file, separated by commas, such as first_name,last_name,,email.", request.Quote(name))
		}
		columns = append(columns, column)
	}
	return columns, nil
}

func (a *Admin) listCustomerImports(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	list, err := a.Rooms.Sales.ListCustomerImports(c.UserContext(), slug)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) undoCustomerImport(c *fiber.Ctx) error {
	slug, id, err := parseID(c, "Import")
	if err != nil {
		return err
	}
	removed, err := a.Rooms.Sales.UndoCustomerImport(c.UserContext(), principal(c), slug, id)
	if err != nil {
		return err
	}
	return c.JSON(removed)
}
