package pages

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// Values of the parameter `done` of the pages about customers.
const (
	customerSaved      = "customer_saved"
	customersMerged    = "customers_merged"
	customersSeparated = "customers_separated"
	customersImported  = "customers_imported"
	importUndone       = "import_undone"
)

// changeCustomer saves what a person has written about a customer. If the input is refused, it shows the form again.
func (p *Pages) changeCustomer(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	filled := readCustomerForm(form)
	emails, phones := strings.Split(filled.Emails, "\n"), strings.Split(filled.Phones, "\n")
	tags := strings.Split(filled.Tags, ",")
	change := customer.Change{Customer: form.Get("customer"), Name: &filled.Name, Emails: &emails, Phones: &phones,
		Notes: &filled.Notes, Tags: &tags}
	_, err = p.rooms.Sales.ChangeCustomer(c.UserContext(), authorize.Principal(c), page.Business.Slug, change)
	if err == nil {
		return redirectToCustomer(c, page.Business.Slug, findAddress(change), customerSaved)
	}
	return p.refuseCustomerForm(c, page, err, change.Customer, view.Customer{Form: filled, IsEdited: true})
}

func readCustomerForm(form url.Values) *view.CustomerForm {
	read := func(name string) string { return strings.ReplaceAll(form.Get(name), "\r\n", "\n") }
	return &view.CustomerForm{Name: read("name"), Emails: read("emails"), Phones: read("phones"), Notes: read("notes"),
		Tags: read("tags")}
}

// findAddress returns an address that the customer has after a change.
func findAddress(change customer.Change) string {
	for _, list := range [][]string{*change.Emails, *change.Phones} {
		for _, address := range list {
			if address = strings.TrimSpace(address); address != "" {
				return address
			}
		}
	}
	return change.Customer
}

// refuseCustomerForm shows a customer's page again with the reason why a change was refused.
func (p *Pages) refuseCustomerForm(c *fiber.Ctx, page *view.Page, err error, address string, one view.Customer) error {
	if _, invalid := customer.CheckAddress(address); invalid != nil {
		return err // no page leads to this request
	}
	switch fault.KindOf(err) {
	case fault.Conflict:
		page.ErrorText = page.Words.Say("customer_conflict")
	case fault.InvalidParameter:
		page.ErrorText = page.Words.Say("customer_invalid")
	default:
		return err
	}
	return p.showCustomer(c, page, fault.KindOf(err).Status, address, one)
}

func redirectToCustomer(c *fiber.Ctx, slug, address, done string) error {
	values := view.CustomerQuery(address)
	return redirectBack(c, slug, "customers/one?"+values.Encode(), "done", done)
}

// mergeCustomers makes another customer, whose address a person has entered, a part of the customer of the page.
func (p *Pages) mergeCustomers(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	merge := customer.MergeRequest{Into: form.Get("customer"), From: strings.TrimSpace(form.Get("other"))}
	_, err = p.rooms.Sales.MergeCustomers(c.UserContext(), authorize.Principal(c), page.Business.Slug, merge)
	if err == nil {
		return redirectToCustomer(c, page.Business.Slug, merge.Into, customersMerged)
	}
	return p.refuseCustomerForm(c, page, err, merge.Into, view.Customer{MergeWith: merge.From})
}

func (p *Pages) separateCustomers(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(form.Get("merge"))
	if err != nil {
		return request.Invalid("The form is not well-formed.")
	}
	separate := customer.Separate{Customer: form.Get("customer"), MergeID: id}
	_, err = p.rooms.Sales.SeparateCustomers(c.UserContext(), authorize.Principal(c), page.Business.Slug, separate)
	if err == nil {
		return redirectToCustomer(c, page.Business.Slug, separate.Customer, customersSeparated)
	}
	return p.refuseCustomerForm(c, page, err, separate.Customer, view.Customer{})
}
