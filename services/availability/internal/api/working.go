package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// serveWorkingTime responds with the working time of staff members, for utilization reports.
func (p *Public) serveWorkingTime(c *fiber.Ctx) error {
	var req availability.WorkingTimeRequest
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	offer, err := p.offers.AtLeast(c.UserContext(), req.Slug, req.OfferVersion)
	if err != nil {
		return err
	}
	leave, err := p.places.Enter(c.UserContext(), req.Slug)
	if err != nil {
		return err
	}
	defer leave()
	rows := sumWorkingTime(offer, req.Query)
	if len(rows) > report.MaxRows {
		return report.TooManyRows()
	}
	return c.JSON(availability.WorkingTime{Rows: rows})
}

// sumWorkingTime returns the working time of each staff member in each period of the report, in minutes.
func sumWorkingTime(offer *catalog.Snapshot, q report.Query) []availability.WorkingTimeRow {
	rows := []availability.WorkingTimeRow{}
	seconds := int64(0)
	slot.ComputeWorkingTime(offer, q.From, q.To, func(m *catalog.Staff, d timespan.Date, worked int64) {
		seconds += worked
		if start := q.By.Start(d); d == q.To || q.By.Start(d+1) != start {
			if seconds > 0 {
				rows = append(rows, availability.WorkingTimeRow{Date: start, StaffID: m.ID, Minutes: seconds / 60})
			}
			seconds = 0
		}
	})
	return rows
}
