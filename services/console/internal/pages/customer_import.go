package pages

import (
	"encoding/base64"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/sales/customerfile"
)

// askImport asks for a file with customers, and shows earlier imports.
func (p *Pages) askImport(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	return p.showImport(c, page, fiber.StatusOK)
}

func (p *Pages) showImport(c *fiber.Ctx, page *view.Page, status int) error {
	list, err := p.rooms.Sales.ListCustomerImports(c.UserContext(), page.Business.Slug)
	if err != nil {
		return err
	}
	return p.render(c, status, page, view.AskImport(page, list.Imports))
}

// importCustomers first shows what an import of the chosen file would do, and how it reads the columns. A person can
// change the columns, and then import. The page carries the file from step to step, so that no service stores it.
func (p *Pages) importCustomers(c *fiber.Ctx) error {
	form, files, err := readOfferForm(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	file, err := readImportedFile(form, files)
	if err != nil {
		return err
	}
	isDry := form.Get("step") != "import"
	imported, err := p.rooms.Sales.ImportCustomers(c.UserContext(), authorize.Principal(c), page.Business.Slug, file,
		readImportColumns(form), isDry)
	if fault.Is(err, fault.InvalidParameter) {
		page.ErrorText = page.Words.Say("import_unreadable")
		return p.showImport(c, page, fiber.StatusBadRequest)
	}
	if err != nil {
		return err
	}
	if !isDry {
		return redirectBack(c, page.Business.Slug, "customers/import", "done", customersImported)
	}
	return p.render(c, fiber.StatusOK, page, view.ImportPreview(page, view.ImportForm{
		File: base64.StdEncoding.EncodeToString(file), Result: imported}))
}

// readImportedFile returns the file that the person has chosen, or the file that the page has carried on.
func readImportedFile(form url.Values, files []chosenFile) ([]byte, error) {
	if len(files) > 0 {
		return files[0].content, nil
	}
	file, err := base64.StdEncoding.DecodeString(form.Get("content"))
	if err != nil {
		return nil, request.Invalid("The form is not well-formed.")
	}
	return file, nil
}

// readImportColumns returns the kinds of the columns that the person has chosen, or nil if there was no choice yet.
// Unknown kinds are left out of the import.
func readImportColumns(form url.Values) []customerfile.Column {
	var columns []customerfile.Column
	for i := range customerfile.MaxColumns {
		name := view.ColumnField(i)
		if !form.Has(name) {
			break
		}
		column := customerfile.Column(form.Get(name))
		if !slices.Contains(customerfile.Columns, column) {
			column = customerfile.Ignored
		}
		columns = append(columns, column)
	}
	return columns
}

func (p *Pages) undoImport(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceCustomers)
	if err != nil {
		return err
	}
	if _, _, err := readOfferForm(c); err != nil {
		return err
	}
	if _, err := p.rooms.Sales.UndoCustomerImport(c.UserContext(), authorize.Principal(c), page.Business.Slug,
		id); err != nil {
		return err
	}
	return redirectBack(c, page.Business.Slug, "customers/import", "done", importUndone)
}
