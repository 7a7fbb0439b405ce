package pages

import (
	"cmp"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// mountCustomers adds the routes of the pages about customers. A customer is a person who has booked a service, bought
// tickets or reserved a rental.
func (p *Pages) mountCustomers(business *authorize.Router) {
	business.Get("/customers", access.SeeCustomers, p.listCustomers)
	business.Post("/customers", access.SeeCustomers, p.redirectToSearch)
	business.Get("/customers/one", access.SeeCustomers, p.getCustomer)
	business.Get("/customers/export", access.RefundSales, p.exportCustomer)
	business.Post("/customers/erase", access.Erase, p.eraseCustomer)
	business.Post("/customers/change", access.KeepCustomers, p.changeCustomer)
	business.Post("/customers/merge", access.KeepCustomers, p.mergeCustomers)
	business.Post("/customers/separate", access.KeepCustomers, p.separateCustomers)
	business.Get("/customers/import", access.ImportCustomers, p.askImport)
	business.Post("/customers/import", access.ImportCustomers, p.importCustomers)
	business.Post("/customers/imports/:id/undo", access.ImportCustomers, p.undoImport)
}

// listCustomers lists customers, sorted by e-mail address. If the URL has a search text, it lists only the customers
// that match the text.
func (p *Pages) listCustomers(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	text, err := server.Query(c).Text("query")
	if err != nil {
		return err
	}
	filter := sales.CustomerFilter{Query: text, Tag: c.Query("tag")}
	cursor := c.Query("cursor")
	list, err := p.rooms.Sales.ListCustomers(c.UserContext(), page.Business.Slug, filter,
		request.Page{Limit: bookingsPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page,
		view.Customers(page, view.CustomerList{CustomerFilter: filter, Customers: list.Customers,
			Next: list.NextCursor, IsPaged: cursor != ""}))
}

// getCustomer shows the data of one customer. Fault: not_found if no data is stored about the customer, for example
// because the data was erased.
func (p *Pages) getCustomer(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	address := readAddress(c)
	if address == "" {
		return c.Redirect(view.Path(page.Business.Slug)+"/customers", fiber.StatusSeeOther)
	}
	return p.showCustomer(c, page, fiber.StatusOK, address, view.Customer{})
}

// readAddress returns the customer's address in the query, or "".
func readAddress(c *fiber.Ctx) string { return cmp.Or(c.Query("email"), c.Query("phone")) }

// showCustomer shows a customer. The argument `one` has what the request has entered or erased.
func (p *Pages) showCustomer(c *fiber.Ctx, page *view.Page, status int, address string, one view.Customer) error {
	d, err := p.rooms.Sales.LoadCustomer(c.UserContext(), page.Business.Slug, address)
	if fault.Is(err, fault.InvalidParameter) {
		return fault.New(fault.NotFound, "There is no such customer.")
	}
	if err != nil {
		return err
	}
	if one.Details = d; one.IsEmpty() && one.Erased == nil {
		return fault.New(fault.NotFound, "There is no such customer.")
	}
	if one.Form == nil {
		one.Form = view.NewCustomerForm(d)
	}
	return p.render(c, status, page, view.OneCustomer(page, one))
}

// exportCustomer sends all data that is stored about a customer as a JSON file.
func (p *Pages) exportCustomer(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	export, err := p.rooms.Sales.ExportCustomer(c.UserContext(), authorize.Principal(c), slug, readAddress(c))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(export, "", "  ")
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Attachment("customer-" + slug + ".json")
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSONCharsetUTF8)
	return c.Send(text)
}

// eraseCustomer erases a customer's data, and shows what was erased and what was kept. It keeps the data of future
// bookings, unless the person has ticked the box to erase this data too.
func (p *Pages) eraseCustomer(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	erase := customer.Erase{Email: form.Get("customer"), Force: form.Get("force") == "yes"}
	forgotten, err := p.rooms.Sales.EraseCustomer(c.UserContext(), authorize.Principal(c), page.Business.Slug, erase)
	if err != nil {
		return err
	}
	return p.showCustomer(c, page, fiber.StatusOK, erase.Email, view.Customer{Erased: forgotten})
}
