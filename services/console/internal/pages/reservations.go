package pages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

var reservationColumns = []string{
	"id", "status", "rental", "quantity", "extras", "start_date", "end_date", "start_time", "end_time", "total",
	"currency", "payment", "paid_online", "refunded", "customer_name", "customer_email", "customer_phone", "created_at",
	"timezone",
}

// exportReservations sends reservations as a CSV file. The query parameters of the request filter the reservations.
func (p *Pages) exportReservations(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	filter, err := sales.ReadReservationFilter(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.rooms.FindBusiness(c.UserContext(), slug)
	if err != nil {
		return err
	}
	header := slices.Concat(reservationColumns, listAnswerColumns(offer))
	format := func(r rental.Reservation) []string {
		return slices.Concat(formatReservation(r), formatAnswers(offer, r.FormData))
	}
	return sendTable(c, "reservations-"+slug, header, format, func(take func([]rental.Reservation)) error {
		return p.rooms.Sales.ExportReservations(c.UserContext(), authorize.Principal(c), slug, filter, take)
	})
}

func formatReservation(r rental.Reservation) []string {
	extras := make([]string, len(r.Extras))
	for i, e := range r.Extras {
		extras[i] = strconv.Itoa(e.Quantity) + " × " + e.RentalName
	}
	total := ""
	if r.Total != nil {
		total = r.Total.String()
	}
	clock := func(t *timespan.TimeOfDay) string {
		if t == nil {
			return ""
		}
		return t.String()
	}
	payment, paid, refunded := formatPayment(r.Payment)
	return []string{
		r.ID.String(), r.Status, reportcsv.EscapeFormula(r.RentalName), strconv.Itoa(r.Quantity),
		reportcsv.EscapeFormula(strings.Join(extras, " + ")), r.StartDate.String(), r.EndDate.String(),
		clock(r.StartTime), clock(r.EndTime), total, r.Currency, payment, paid, refunded,
		reportcsv.EscapeFormula(r.CustomerName), reportcsv.EscapeFormula(deref(r.CustomerEmail)),
		reportcsv.EscapeFormula(deref(r.CustomerPhone)), r.CreatedAt.Format("2006-01-02T15:04:05Z"), r.Timezone,
	}
}
