package handler

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// who shows the step in which the visitor chooses the staff member for
// the appointment. If there is no choice, who redirects to the next step.
func (p *Pages) who(c *fiber.Ctx) error {
	page, a, err := p.chosen(c)
	if err != nil || page == nil {
		return err
	}
	if !a.Asked() {
		return c.Redirect(string(page.Link("when", a.Selection)), fiber.StatusSeeOther)
	}
	slug := page.Business.Offer.Slug
	names, err := p.shop.Names(c.UserContext(), slug, page.Words.Requested)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, page, view.Who(page, a, names))
}
