package handler

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// what shows the services that can be booked. This is the first page of the business, and search engines may index it.
func (p *Pages) what(c *fiber.Ctx) error {
	page, err := p.page(c)
	if err != nil {
		return err
	}
	page.Found = true
	if !page.Business.Open() {
		return p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	if first := page.FirstTab(); first != "" {
		return c.Redirect(string(page.To(first)), fiber.StatusSeeOther)
	}
	return p.offered(c, page, "")
}

// offered shows the services that can be booked. The argument `notice` is a sentence for the visitor at the top of the
// page; if `notice` is "", the page shows no notice.
func (p *Pages) offered(c *fiber.Ctx, page *view.Page, notice string) error {
	groups, err := p.shop.Menu(c.UserContext(), page.Business, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Notice = notice
	return p.show(c, fiber.StatusOK, page, p.menus.What(page, groups))
}
