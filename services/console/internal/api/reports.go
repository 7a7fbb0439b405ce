package api

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
)

func (a *Admin) mountReports(business *authorize.Router) {
	business.Get("/reports/bookings", access.SeeSales, newReportHandler("bookings", a.Rooms.Reports.ReportBookings,
		reportcsv.FormatBookings))
	business.Get("/reports/revenue", access.SeeSales, newReportHandler("revenue", a.Rooms.Reports.ReportRevenue,
		reportcsv.FormatRevenue))
	business.Get("/reports/utilisation", access.SeeSales,
		newReportHandler("utilisation", a.Rooms.Reports.ReportUtilisation,
			reportcsv.FormatUtilisation))
}

// newReportHandler returns the handler of a report. The handler answers with JSON, or with CSV if the request's header
// Accept prefers CSV.
func newReportHandler[Row any](
	name string, ask func(context.Context, string, report.Query) (*report.Report[Row], error), csv func(report.By, []Row) []byte,
) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		q, err := server.Query(c).Report()
		if err != nil {
			return err
		}
		answer, err := ask(c.UserContext(), slug, q)
		if err != nil {
			return err
		}
		c.Vary(fiber.HeaderAccept)
		if c.Accepts(fiber.MIMEApplicationJSON, reportcsv.MediaType) != reportcsv.MediaType {
			return c.JSON(answer)
		}
		c.Set(fiber.HeaderContentType, reportcsv.MediaType+"; charset=utf-8")
		c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s-%s-%s-%s.csv"`, slug, name, q.From,
			q.To))
		return c.Send(csv(q.By, answer.Rows))
	}
}
