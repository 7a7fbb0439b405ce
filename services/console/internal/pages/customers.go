package pages

import (
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
)

// mountCustomers adds the routes of the pages about customers. A customer is a person who has booked a service, bought
// tickets or reserved a rental.
func (p *Pages) mountCustomers(business *authorize.Router) {
	business.Get("/customers", access.SeeCustomers, p.listCustomers)
	business.Post("/customers", access.SeeCustomers, p.redirectToSearch)
	business.Get("/customers/one", access.SeeCustomers, p.getCustomer)
	business.Get("/customers/export", access.RefundSales, p.exportCustomer)
	business.Post("/customers/erase", access.Erase, p.eraseCustomer)
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
	cursor := c.Query("cursor")
	list, err := p.rooms.Sales.ListCustomers(c.UserContext(), page.Business.Slug, text,
		request.Page{Limit: bookingsPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page,
		view.Customers(page, view.CustomerList{Query: text, Customers: list.Customers,
			Next: list.NextCursor, IsPaged: cursor != ""}))
}

// getCustomer shows the data of one customer. Fault: not_found if no data is stored about the customer, for example
// because the data was erased.
func (p *Pages) getCustomer(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	if c.Query("email") == "" {
		return c.Redirect(view.Path(page.Business.Slug)+"/customers", fiber.StatusSeeOther)
	}
	return p.showCustomer(c, page, c.Query("email"), nil)
}

func (p *Pages) showCustomer(c *fiber.Ctx, page *view.Page, email string, forgotten *customer.Forgotten) error {
	d, err := p.rooms.Sales.LoadCustomer(c.UserContext(), page.Business.Slug, email)
	if fault.Is(err, fault.InvalidParameter) {
		return fault.New(fault.NotFound, "There is no such customer.")
	}
	if err != nil {
		return err
	}
	one := view.Customer{Details: d, Erased: forgotten}
	if one.IsEmpty() && forgotten == nil {
		return fault.New(fault.NotFound, "There is no such customer.")
	}
	return p.render(c, fiber.StatusOK, page, view.OneCustomer(page, one))
}

// exportCustomer sends all data that is stored about a customer as a JSON file.
func (p *Pages) exportCustomer(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	export, err := p.rooms.Sales.ExportCustomer(c.UserContext(), authorize.Principal(c), slug, c.Query("email"))
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
	erase := customer.Erase{Email: form.Get("email"), Force: form.Get("force") == "yes"}
	forgotten, err := p.rooms.Sales.EraseCustomer(c.UserContext(), authorize.Principal(c), page.Business.Slug, erase)
	if err != nil {
		return err
	}
	return p.showCustomer(c, page, erase.Email, forgotten)
}
