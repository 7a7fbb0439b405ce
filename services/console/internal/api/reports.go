package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/report"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/gate"
)

func (a *Admin) mountReports(business *gate.Router) {
	business.Get("/reports/bookings", access.SeeSales, reported("bookings", a.Owner.BookingsReport, bookingsColumns, bookingsCells))
	business.Get("/reports/revenue", access.SeeSales, reported("revenue", a.Owner.RevenueReport, revenueColumns, revenueCells))
	business.Get("/reports/utilisation", access.SeeSales, reported("utilisation", a.Owner.UtilisationReport, utilisationColumns, utilisationCells))
}

const mediaCSV = "text/csv"

// reported is the handler of a report: JSON, or by Accept CSV with these columns.
func reported[Row any](
	name string, ask func(context.Context, string, report.Query) (*report.Report[Row], error), columns []string, cells func(Row) []string,
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
		if c.Accepts(fiber.MIMEApplicationJSON, mediaCSV) != mediaCSV {
			return c.JSON(answer)
		}
		text, err := csvOf(columns, answer.Rows, cells)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, mediaCSV+"; charset=utf-8")
		c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s-%s-%s-%s.csv"`, slug, name, q.From, q.To))
		return c.Send(text)
	}
}

// csvOf writes rows below the names of their columns (RFC 4180).
func csvOf[Row any](columns []string, rows []Row, cells func(Row) []string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write(columns) // a buffer takes everything
	for _, row := range rows {
		_ = w.Write(cells(row))
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// words keeps a spreadsheet from taking what somebody wrote for a formula.
func words(text string) string {
	if strings.IndexAny(text, "=+-@\t\r") == 0 {
		return "'" + text
	}
	return text
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

var bookingsColumns = []string{"date", "source", "bookings", "pending", "confirmed", "completed", "no_show", "cancelled", "guests"}

func bookingsCells(r booking.BookingsRow) []string {
	return []string{
		r.Date.String(), words(r.Source), count(r.Bookings), count(r.Pending), count(r.Confirmed), count(r.Completed), count(r.NoShow),
		count(r.Cancelled), count(r.Guests),
	}
}

var revenueColumns = []string{"date", "kind", "currency", "sold", "total", "paid", "refunded"}

func revenueCells(r report.RevenueRow) []string {
	return []string{r.Date.String(), r.Kind, r.Currency, count(r.Sold), r.Total.String(), r.Paid.String(), r.Refunded.String()}
}

var utilisationColumns = []string{"date", "staff_id", "staff_name", "booked_minutes", "open_minutes", "utilisation"}

func utilisationCells(r report.UtilisationRow) []string {
	share := ""
	if r.Utilisation != nil {
		share = strconv.FormatFloat(*r.Utilisation, 'f', 4, 64)
	}
	return []string{r.Date.String(), r.StaffID.String(), words(r.StaffName), count(r.BookedMinutes), count(r.OpenMinutes), share}
}
