package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// order is a booking, a ticket order or a reservation with the actions of the forms that cancel and refund it.
type order struct {
	view.Order
	cancelled string // id of the notice after a cancellation
	preview   func(context.Context) (*booking.Cancellation, error)
	cancel    func(context.Context, booking.Cancel) error
	refund    func(context.Context, booking.NewRefund) error
}

// orderFinder finds the order whose id is in the path, with the data that the page of the order needs.
type orderFinder func(c *fiber.Ctx) (*view.Page, *order, error)

// mountOrders adds the routes of the forms that cancel and refund orders. The argument `path` is the path of the orders.
func (p *Pages) mountOrders(business *authorize.Router, path string, serve, refund access.Action, find orderFinder) {
	business.Get(path+"/:id/cancel", serve, p.askCancel(find))
	business.Post(path+"/:id/cancel", serve, p.cancel(find))
	business.Get(path+"/:id/refund", refund, p.askRefund(find))
	business.Post(path+"/:id/refund", refund, p.refund(find))
}

// newOrder returns an order with the actions of the use cases `all`.
func newOrder[T any](c *fiber.Ctx, page *view.Page, all *sales.Orders[T], id uuid.UUID, shown view.Order,
	cancelled string) *order {
	by, slug := authorize.Principal(c), page.Business.Slug
	return &order{
		Order: shown, cancelled: cancelled,
		preview: func(ctx context.Context) (*booking.Cancellation, error) { return all.Preview(ctx, by, slug, id) },
		cancel: func(ctx context.Context, wanted booking.Cancel) error {
			_, err := all.Cancel(ctx, by, slug, id, wanted)
			return err
		},
		refund: func(ctx context.Context, wanted booking.NewRefund) error {
			_, err := all.Refund(ctx, by, slug, id, wanted)
			return err
		},
	}
}

func (p *Pages) findBookingOrder(c *fiber.Ctx) (*view.Page, *order, error) {
	page, b, err := p.findBooking(c)
	if err != nil {
		return nil, nil, err
	}
	return page, newOrder(c, page, p.rooms.Sales.BookingOrders(), b.ID, view.NewBookingOrder(page, *b, readListQuery(c)),
		booking.TransitionCancel), nil
}

func (p *Pages) findTicketOrder(c *fiber.Ctx) (*view.Page, *order, error) {
	page, id, err := p.newPageWithID(c, view.PlaceEvents)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.rooms.Sales.FindOrder(c.UserContext(), authorize.Principal(c), page.Business, id)
	if err != nil {
		return nil, nil, err
	}
	return page, newOrder(c, page, p.rooms.Sales.TicketOrders(), id, view.NewTicketOrder(page, *t, readListQuery(c)),
		"tickets_cancel"), nil
}

func (p *Pages) findReservationOrder(c *fiber.Ctx) (*view.Page, *order, error) {
	page, id, err := p.newPageWithID(c, view.PlaceRentals)
	if err != nil {
		return nil, nil, err
	}
	r, err := p.rooms.Sales.FindReservation(c.UserContext(), authorize.Principal(c), page.Business, id)
	if err != nil {
		return nil, nil, err
	}
	return page, newOrder(c, page, p.rooms.Sales.ReservationOrders(), id, view.NewReservationOrder(page, *r),
		"reservation_cancel"), nil
}

// askCancel returns the handler that shows the form that cancels an order.
func (p *Pages) askCancel(find orderFinder) fiber.Handler {
	return func(c *fiber.Ctx) error {
		page, o, err := find(c)
		if err != nil {
			return err
		}
		return p.showCancel(c, fiber.StatusOK, page, o, view.CancelForm{Choice: string(booking.RefundPolicy)})
	}
}

// showCancel shows the form that cancels an order. If the order cannot be cancelled, it redirects to the page from which
// the form was opened, which shows the state of the order.
func (p *Pages) showCancel(c *fiber.Ctx, status int, page *view.Page, o *order, form view.CancelForm) error {
	preview, err := o.preview(c.UserContext())
	if err != nil {
		return err
	}
	if !preview.Allowed {
		return redirectBack(c, page.Business.Slug, o.Back, "wrong", "changed")
	}
	form.Order, form.Preview = o.Order, preview
	return p.render(c, status, page, view.Cancel(page, form))
}

// cancel returns the handler that cancels an order and refunds the chosen amount.
func (p *Pages) cancel(find orderFinder) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, err := web.Form(c)
		if err != nil {
			return err
		}
		page, o, err := find(c)
		if err != nil {
			return err
		}
		form := view.CancelForm{Choice: cmp.Or(posted.Get("refund"), string(booking.RefundPolicy)),
			Amount: posted.Get("amount"), Reason: posted.Get("reason")}
		refund, second, err := parseRefund(posted, func() (*booking.Cancellation, error) {
			return o.preview(c.UserContext())
		})
		if form.ErrorText = checkRefundLimit(page, refund, o.Order); form.ErrorText != "" {
			return p.showCancel(c, fiber.StatusUnprocessableEntity, page, o, form)
		}
		if err == nil && second == "" {
			if err = o.cancel(withNotification(c, posted), booking.Cancel{Refund: refund, Reason: form.Reason}); err == nil {
				return redirectBack(c, page.Business.Slug, o.Back, "done", o.cancelled)
			}
		}
		if isReasonRefused(err) {
			form.ReasonError = page.Words.Say("check_field")
			return p.showCancel(c, fiber.StatusUnprocessableEntity, page, o, form)
		}
		status, ok := prepareRefusedCancellation(page, second, err, &form.ErrorText)
		if !ok {
			return err
		}
		return p.showCancel(c, status, page, o, form)
	}
}

// isReasonRefused reports whether the error of a cancellation is that the reason for the customer is invalid.
func isReasonRefused(err error) bool {
	return fault.Is(err, fault.InvalidParameter) && strings.HasPrefix(fault.Of(err).Sentence, "reason:")
}

// askRefund returns the handler that shows the form that refunds an order.
func (p *Pages) askRefund(find orderFinder) fiber.Handler {
	return func(c *fiber.Ctx) error {
		page, o, err := find(c)
		if err != nil {
			return err
		}
		rest := computeRefundable(o.Payment)
		return p.render(c, fiber.StatusOK, page, view.Refund(page, view.RefundForm{Order: o.Order, Left: rest,
			Amount: rest.String()}))
	}
}

// refund returns the handler that refunds the typed amount of an order.
func (p *Pages) refund(find orderFinder) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, err := web.Form(c)
		if err != nil {
			return err
		}
		page, o, err := find(c)
		if err != nil {
			return err
		}
		form, second := view.RefundForm{Order: o.Order, Left: computeRefundable(o.Payment),
			Amount: posted.Get("amount")}, ""
		amount, ok := parseAmount(form.Amount)
		if form.ErrorText = checkRefundLimit(page, amount, o.Order); form.ErrorText != "" {
			return p.render(c, fiber.StatusUnprocessableEntity, page, view.Refund(page, form))
		}
		if !ok {
			second = "amount_wrong"
		} else if err = o.refund(c.UserContext(), booking.NewRefund{Refund: amount}); err == nil {
			return redirectBack(c, page.Business.Slug, o.RefundBack, "done", "refunded")
		}
		status, ok := prepareRefusedCancellation(page, second, err, &form.ErrorText)
		if !ok {
			return err
		}
		return p.render(c, status, page, view.Refund(page, form))
	}
}

// refundByAmount is the value of the input `refund` if the person types the amount to refund.
const refundByAmount = "amount"

// parseRefund reads the amount to refund that a person chose in a cancellation form. The function `preview` returns
// what the cancellation would refund now.
//
// The second result is the id of the message text to show if the form must be shown again, otherwise "". The form must
// be shown again if the typed amount is invalid, or if the cancellation policy now gives another amount than the form
// showed. Fault: invalid_parameter for an unknown choice.
func parseRefund(form url.Values,
	preview func() (*booking.Cancellation, error)) (booking.RefundAmount, string, error) {
	refund := booking.RefundAmount(cmp.Or(form.Get("refund"), string(booking.RefundPolicy)))
	switch {
	case refund == refundByAmount:
		amount, ok := parseAmount(form.Get("amount"))
		if !ok {
			return "", "amount_wrong", nil
		}
		return amount, "", nil
	case !refund.Word():
		return "", "", fault.New(fault.InvalidParameter, "refund: choose one of those that the form offers.")
	case refund == booking.RefundPolicy:
		now, err := preview()
		if err != nil {
			return "", "", err
		}
		if now.Allowed && now.Refund.Amount.String() != form.Get("shown") {
			return "", "changed", nil
		}
	}
	return refund, "", nil
}

// prepareRefusedCancellation prepares the form of a refused cancellation, so that the form can be shown again. The
// argument `err` is the error of the cancellation. If `err` is nil, the argument `second` is the id of the message text
// that [parseRefund] returned.
//
// The first result is the HTTP status of the page. If the refund amount is the reason for the refusal,
// prepareRefusedCancellation writes the reason into `*amount`, otherwise into `page.ErrorText`. The second result is
// false if the person cannot solve the fault.
func prepareRefusedCancellation(page *view.Page, second string, err error, amount *string) (int, bool) {
	status := fiber.StatusConflict
	if err != nil {
		status = fault.KindOf(err).Status
		if second = faultTexts[fault.KindOf(err)]; fault.Is(err, fault.InvalidParameter) {
			second = "amount_wrong"
		}
	}
	switch second {
	case "":
		return 0, false
	case "amount_wrong":
		*amount = page.Words.Say(second)
		return fiber.StatusUnprocessableEntity, true
	}
	page.ErrorText = page.Words.Say(second)
	return status, true
}

// parseAmount parses an amount that a person has typed with a decimal point or a decimal comma. The second result is
// false if the amount is invalid or negative.
func parseAmount(input string) (booking.RefundAmount, bool) {
	d, err := decimal.NewFromString(strings.Replace(strings.TrimSpace(input), ",", ".", 1))
	if err != nil || d.IsNegative() || len(input) > 20 {
		return "", false
	}
	return booking.RefundAmount(d.String()), true
}

// checkRefundLimit returns a message text if a refund is larger than the amount that was paid online and is not
// refunded yet. Otherwise it returns "".
func checkRefundLimit(page *view.Page, refund booking.RefundAmount, o view.Order) string {
	wanted, err := decimal.NewFromString(string(refund))
	rest, err2 := decimal.NewFromString(computeRefundable(o.Payment).String())
	if o.Payment == nil || err != nil || err2 != nil || wanted.LessThanOrEqual(rest) {
		return ""
	}
	return page.Words.Fill("refund_too_much", map[string]string{
		"Paid": page.Words.Amount(o.Payment.Amount.String(), o.Currency), "Left": page.Words.Amount(rest.String(), o.Currency),
	})
}

// computeRefundable returns the amount that was paid online and is not refunded yet.
func computeRefundable(pay *booking.Payment) json.Number {
	if pay == nil {
		return "0"
	}
	amount, err := decimal.NewFromString(pay.Amount.String())
	refunded, err2 := decimal.NewFromString(pay.Refunded.String())
	if err != nil || err2 != nil {
		return "0"
	}
	return json.Number(amount.Sub(refunded).String())
}
