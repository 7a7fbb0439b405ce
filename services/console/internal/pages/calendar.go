package pages

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// showCalendar shows the calendar of one day with a column for each member, or the calendar of a week. If the URL has
// no date, it shows today or the current week.
func (p *Pages) showCalendar(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	query := server.Query(c)
	member, err := query.OptionalID("staff_id")
	if err != nil {
		return err
	}
	location, err := query.OptionalID("location_id")
	if err != nil {
		return err
	}
	date, _, err := query.OptionalDates("date", "to")
	if err != nil {
		return err
	}
	days := 1
	if c.Query("view") == "week" {
		days = 7
	}
	from := page.Business.Today(page.Now)
	if date != nil {
		from = *date
	}
	cal, err := p.rooms.Sales.LoadCalendar(c.UserContext(), authorize.Principal(c), page.Business.Slug,
		page.FirstDay(from, days), days,
		member, location)
	if err != nil {
		return err
	}
	page.Nonce = web.Nonce()
	page.Undo = readUndo(c)
	return p.render(c, fiber.StatusOK, page, view.Calendar(page, cal,
		view.CalendarFilter{Member: c.Query("staff_id"), Location: c.Query("location_id")}))
}
