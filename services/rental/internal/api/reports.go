package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

func (in *Internal) revenueReport(c *fiber.Ctx) error {
	q, err := server.Query(c).Report()
	if err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	rows, err := in.records.RevenueReport(c.UserContext(), offer.ID, q, offer.Currency)
	if err != nil {
		return err
	}
	return send(c, report.Revenue{Rows: rows})
}
