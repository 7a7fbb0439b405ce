package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// findReservation returns the data that the page of a reservation needs, and the reservation whose id is in the path.
func (p *Pages) findReservation(c *fiber.Ctx) (*view.Page, *rental.Reservation, error) {
	page, id, err := p.newPageWithID(c, view.PlaceRentals)
	if err != nil {
		return nil, nil, err
	}
	found, err := p.rooms.Sales.FindReservation(c.UserContext(), authorize.Principal(c), page.Business, id)
	return page, found, err
}

func (p *Pages) askCancelReservation(c *fiber.Ctx) error {
	page, r, err := p.findReservation(c)
	if err != nil {
		return err
	}
	return p.showCancelReservation(c, fiber.StatusOK, page,
		view.CancelReservationForm{Reservation: *r, Refunds: view.Refunds{Choice: string(booking.RefundPolicy)}})
}

// showCancelReservation shows the form that cancels a reservation. If the reservation is picked up or has ended, it
// cannot be cancelled; showCancelReservation then redirects to the page of rentals, which shows the reason.
func (p *Pages) showCancelReservation(c *fiber.Ctx, status int, page *view.Page,
	cancelReservationForm view.CancelReservationForm) error {
	preview, err := p.rooms.Rentals.ForBusiness(page.Business.ID).Cancellation(c.UserContext(), page.Business.Slug,
		cancelReservationForm.Reservation.ID)
	if err != nil {
		return err
	}
	if !preview.Allowed {
		return redirectBack(c, page.Business.Slug, "rentals", "wrong", "changed")
	}
	cancelReservationForm.Preview, cancelReservationForm.Payment, cancelReservationForm.Currency = preview,
		cancelReservationForm.Reservation.Payment, cancelReservationForm.Reservation.Currency
	return p.render(c, status, page, view.CancelReservation(page, cancelReservationForm))
}

// cancelReservation cancels a reservation and refunds the chosen amount.
func (p *Pages) cancelReservation(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, r, err := p.findReservation(c)
	if err != nil {
		return err
	}
	ctx, slug := c.UserContext(), page.Business.Slug
	cancelReservationForm := view.CancelReservationForm{Reservation: *r,
		Refunds: view.Refunds{Choice: cmp.Or(form.Get("refund"),
			string(booking.RefundPolicy)), Amount: form.Get("amount")}}
	refund, second, err := parseRefund(form, func() (*booking.Cancellation, error) {
		return p.rooms.Rentals.ForBusiness(page.Business.ID).Cancellation(ctx, slug, r.ID)
	})
	if cancelReservationForm.ErrorText = checkRefundLimit(page, refund, r.Payment,
		r.Currency); cancelReservationForm.ErrorText != "" {
		return p.showCancelReservation(c, fiber.StatusUnprocessableEntity, page, cancelReservationForm)
	}
	if err == nil && second == "" {
		if _, err = p.rooms.Sales.CancelReservation(withNotification(c, form), authorize.Principal(c), slug, r.ID,
			booking.Cancel{Refund: refund}); err == nil {
			return redirectBack(c, slug, "rentals", "done", "reservation_cancel")
		}
	}
	status, ok := prepareRefusedCancellation(page, second, err, &cancelReservationForm.ErrorText)
	if !ok {
		return err
	}
	return p.showCancelReservation(c, status, page, cancelReservationForm)
}

// newRefundForm returns the refund form of a reservation. After the refund, the form leads back to the page of the
// customer.
func newRefundForm(r *rental.Reservation) view.RefundReservationForm {
	refundReservationForm := view.RefundReservationForm{Reservation: *r, Left: computeRefundable(r.Payment),
		Amount: computeRefundable(r.Payment).String(),
		Back:   "rentals"}
	if r.CustomerEmail != nil {
		refundReservationForm.Back = "customers/one?" + url.Values{"email": {*r.CustomerEmail}}.Encode()
	}
	return refundReservationForm
}

func (p *Pages) askRefundReservation(c *fiber.Ctx) error {
	page, r, err := p.findReservation(c)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.RefundReservation(page, newRefundForm(r)))
}

func (p *Pages) refundReservation(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, r, err := p.findReservation(c)
	if err != nil {
		return err
	}
	refundReservationForm, second := newRefundForm(r), ""
	refundReservationForm.Amount = form.Get("amount")
	amount, ok := parseAmount(refundReservationForm.Amount)
	if refundReservationForm.ErrorText = checkRefundLimit(page, amount, r.Payment,
		r.Currency); refundReservationForm.ErrorText != "" {
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.RefundReservation(page, refundReservationForm))
	}
	if !ok {
		second = "amount_wrong"
	} else if _, err = p.rooms.Sales.RefundReservation(c.UserContext(), authorize.Principal(c), page.Business.Slug,
		r.ID,
		booking.NewRefund{Refund: amount}); err == nil {
		return redirectBack(c, page.Business.Slug, refundReservationForm.Back, "done", "refunded")
	}
	status, ok := prepareRefusedCancellation(page, second, err, &refundReservationForm.ErrorText)
	if !ok {
		return err
	}
	return p.render(c, status, page, view.RefundReservation(page, refundReservationForm))
}

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
