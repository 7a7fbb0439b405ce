package pages

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountClasses adds the routes of the pages about class sessions.
func (p *Pages) mountClasses(business *authorize.Router) {
	business.Get("/classes", access.SeeBookings, p.listClasses)
	business.Get("/classes/:id", access.SeeBookings, p.showRoster)
}

// listClasses shows the class sessions of a week. If the URL has no date, it shows the current week.
func (p *Pages) listClasses(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceClasses)
	if err != nil {
		return err
	}
	date, _, err := server.Query(c).OptionalDates("date", "to")
	if err != nil {
		return err
	}
	from := page.Business.Today(page.Now)
	if date != nil {
		from = *date
	}
	const week = 7
	sessions, err := p.rooms.Sales.ListSessions(c.UserContext(), authorize.Principal(c), page.Business,
		page.FirstDay(from, week), week)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Classes(page, sessions))
}

// showRoster shows the guests of a class session on the date in the URL. If the URL has no date, it shows the guests of
// today.
func (p *Pages) showRoster(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceClasses)
	if err != nil {
		return err
	}
	date, _, err := server.Query(c).OptionalDates("date", "to")
	if err != nil {
		return err
	}
	on := page.Business.Today(page.Now)
	if date != nil {
		on = *date
	}
	roster, err := p.rooms.Sales.LoadRoster(c.UserContext(), authorize.Principal(c), page.Business, id, on)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Roster(page, roster))
}
