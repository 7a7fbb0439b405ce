package handler

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// showStaff shows the step in which the visitor chooses the staff member for
// the appointment. If there is no choice, showStaff redirects to the next step.
func (p *Pages) showStaff(c *fiber.Ctx) error {
	page, a, err := p.loadAppointment(c)
	if err != nil || page == nil {
		return err
	}
	if !a.NeedsStaffChoice() {
		return c.Redirect(string(page.SelectionURL("when", a.Selection)), fiber.StatusSeeOther)
	}
	slug := page.Business.Snapshot.Slug
	names, err := p.shop.Names(c.UserContext(), slug, page.Words.Requested)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, page, view.Staff(page, a, names))
}
