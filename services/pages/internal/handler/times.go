package handler

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// showTimes shows the free days of a month and the free starts of one day.
func (p *Pages) showTimes(c *fiber.Ctx) error {
	page, a, err := p.loadAppointment(c)
	if err != nil || page == nil {
		return err
	}
	var month *timespan.Date
	if text := c.Query("month"); text != "" {
		first, err := request.Date("month", text+"-01")
		if err != nil {
			return err
		}
		month = &first
	}
	calendar, err := p.shop.Times(c.UserContext(), page.Business, a, month)
	if err != nil {
		return err
	}
	names, err := p.shop.Names(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, page, view.Times(page, a, names, calendar))
}
