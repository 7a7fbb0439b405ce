package pages

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
)

// mountReports adds the routes of the reports on bookings, revenue and working time, as pages and as CSV files. The
// reports have no data of single customers, so every role that may see all sales may see the reports.
func (p *Pages) mountReports(business *authorize.Router) {
	business.Get("/reports", access.SeeSales, p.showReports)
	business.Get("/reports/bookings.csv", access.SeeSales,
		newReportExporter(p, "bookings", p.rooms.Reports.ReportBookings,
			reportcsv.FormatBookings))
	business.Get("/reports/revenue.csv", access.SeeSales, newReportExporter(p, "revenue", p.rooms.Reports.ReportRevenue,
		reportcsv.FormatRevenue))
	business.Get("/reports/utilisation.csv", access.SeeSales, newReportExporter(p, "utilisation",
		p.rooms.Reports.ReportUtilisation,
		reportcsv.FormatUtilisation))
}

// showReports shows all reports. The query parameters of the request are the dates and the grouping of the reports.
func (p *Pages) showReports(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceReports)
	if err != nil {
		return err
	}
	reportForm, q := parseReport(c, page)
	if len(reportForm.FieldErrors) > 0 {
		return p.render(c, fiber.StatusBadRequest, page, view.Reports(page, reportForm, nil))
	}
	r, err := p.rooms.Reports.LoadOverview(c.UserContext(), page.Business.Slug, q)
	if fault.Is(err, fault.InvalidParameter) {
		reportForm.FieldErrors = map[string]string{"by": page.Words.Say("reports_too_much")}
		return p.render(c, fiber.StatusBadRequest, page, view.Reports(page, reportForm, nil))
	}
	if err != nil {
		return err
	}
	shown, err := view.NewReportPage(page, r)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Reports(page, reportForm, shown))
}

// parseReport reads the query parameters `from`, `to` and `by` of a report. Without dates, the report covers the last
// 28 days, 12 weeks or 12 months, depending on `by`.
func parseReport(c *fiber.Ctx, page *view.Page) (view.ReportForm, report.Query) {
	reportForm := view.ReportForm{From: c.Query("from"), To: c.Query("to"),
		By:          cmp.Or(c.Query("by"), string(report.Week)),
		FieldErrors: map[string]string{}}
	q := report.Query{To: page.Business.Today(page.Now), By: report.By(reportForm.By)}
	reportForm.IsDefault = reportForm.From == "" && reportForm.To == ""
	for _, field := range []struct {
		name, value string
		date        *timespan.Date
	}{{"from", reportForm.From, &q.From}, {"to", reportForm.To, &q.To}} {
		if field.value == "" {
			continue
		}
		d, err := timespan.ParseDate(field.value)
		if err != nil {
			reportForm.FieldErrors[field.name] = page.Words.Say("check_field")
			continue
		}
		*field.date = d
	}
	if reportForm.From == "" {
		q.From = computeDefaultFrom(q.By, q.To)
	} else if reportForm.To == "" {
		q.To = max(q.From, q.To)
	}
	if len(reportForm.FieldErrors) == 0 {
		reportForm.From, reportForm.To = q.From.String(), q.To.String()
		switch {
		case q.To < q.From:
			reportForm.FieldErrors["to"] = page.Words.Say("reports_turned")
		case q.To-q.From >= report.MaxDays:
			reportForm.FieldErrors["to"] = page.Words.Say("reports_too_long")
		case q.Check() != nil:
			reportForm.FieldErrors["by"] = page.Words.Say("check_field")
		}
	}
	return reportForm, q
}

// computeDefaultFrom returns the default first date of a report whose last date is `to`.
func computeDefaultFrom(by report.By, to timespan.Date) timespan.Date {
	const weeks, months = 12, 12
	switch by {
	case report.Month:
		year, month, _ := to.YMD()
		return timespan.NewDate(year, month-(months-1), 1)
	case report.Week:
		return by.Start(to) - 7*(weeks-1)
	default: // a report by day covers 28 days
	}
	return to - 27
}

// newReportExporter returns the handler that sends a report as CSV. The query parameters of the request are the dates
// and the grouping of the report.
func newReportExporter[Row any](
	p *Pages, name string, ask func(context.Context, string, report.Query) (*report.Report[Row], error),
	csv func(report.By, []Row) []byte,
) fiber.Handler {
	return func(c *fiber.Ctx) error {
		page, err := p.newPage(c, view.PlaceReports)
		if err != nil {
			return err
		}
		reportForm, q := parseReport(c, page)
		if len(reportForm.FieldErrors) > 0 {
			return fault.New(fault.InvalidParameter,
				"from, to and by: write two dates, the first before the last, and day, week, month or location.")
		}
		answer, err := ask(c.UserContext(), page.Business.Slug, q)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Attachment(fmt.Sprintf("%s-%s-%s-%s.csv", page.Business.Slug, name, q.From, q.To))
		c.Set(fiber.HeaderContentType, reportcsv.MediaType+"; charset=utf-8")
		// Spreadsheets recognize UTF-8 by the byte order mark.
		return c.Send(append([]byte("\ufeff"), csv(q.By, answer.Rows)...))
	}
}
