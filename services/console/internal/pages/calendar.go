package pages

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// calendarViews maps the values of the query parameter `view` to numbers of days.
var calendarViews = map[string]int{"": 1, "3days": 3, "week": 7}

// showCalendar shows the calendar of one day with a column for each member, or the calendar of three days or a week. If
// the URL has no date, the calendar begins today or in the current week.
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
	days := max(1, calendarViews[c.Query("view")])
	zoom, err := strconv.Atoi(c.Query("zoom"))
	if err != nil {
		zoom = 0
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
	if page.Undo = readUndo(c); page.Undo != nil && c.Query("done") == "moved" {
		page.Notice = describeMove(page, page.Undo)
	}
	return p.render(c, fiber.StatusOK, page, view.Calendar(page, cal,
		view.CalendarFilter{Member: c.Query("staff_id"), Location: c.Query("location_id"),
			Zoom: min(max(zoom, 0), view.MaxZoom)}))
}
