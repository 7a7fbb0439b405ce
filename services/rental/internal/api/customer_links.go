package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// CustomerLinks serves the data for the page behind a customer's link: the customer's
// view of a reservation, and the customer's actions on it (lifecycle.md §5).
type CustomerLinks struct{ links *usecase.CustomerLinks }

// NewCustomerLinks returns the part of the internal API for customers' links.
func NewCustomerLinks(links *usecase.CustomerLinks) *CustomerLinks {
	return &CustomerLinks{links: links}
}

// Mount adds the endpoints for customers' links to the router `r`.
func (l *CustomerLinks) Mount(r *server.Internal) {
	server.Mount(r, rental.ReadCustomerView, server.ShowResult(l.serveView, showView))
	r.Handle(rental.ReadCalendar.Row, l.serveCalendar)
	server.Mount(r, rental.OpenPaymentPage, l.servePayment)
	r.Handle(rental.CancelByLink.Row, server.HandleIdempotently(l.cancel, func(c *fiber.Ctx) ([]byte, error) {
		return l.links.FindIdempotencyResult(c.UserContext(), c.Params("token"))
	}, func(c *fiber.Ctx, answer []byte) error {
		return newViewSender(c)(l.links.AnswerRetry(c.UserContext(), c.Params("token"), answer))
	}))
}

func (l *CustomerLinks) serveView(ctx context.Context, of endpoints.ByToken) (usecase.CustomerView, error) {
	return l.links.View(ctx, of.Token)
}

// cancel checks the token before it reads the body, so that
// only a caller with a valid link sees the faults of the body.
func (l *CustomerLinks) cancel(c *fiber.Ctx) error {
	if _, err := l.links.View(c.UserContext(), c.Params("token")); err != nil {
		return err
	}
	var req booking.CancelByLink
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	shownRefund, err := req.RefundAmount()
	if err != nil {
		return err
	}
	return newViewSender(c)(l.links.Cancel(c.UserContext(), c.Params("token"), shownRefund))
}

func (l *CustomerLinks) servePayment(ctx context.Context, of endpoints.ByToken) (*booking.OpenPayment, error) {
	m, url, err := l.links.OpenPayment(ctx, of.Token)
	if err != nil {
		return nil, err
	}
	currency := m.Price.Currency
	return &booking.OpenPayment{
		Provider: m.Payment.Provider, Amount: currency.JSON(m.Payment.Amount), Currency: currency.Code,
		CheckoutURL: url, DueAt: m.Payment.DueAt,
	}, nil
}

// newViewSender returns a function that answers the request with the customer's
// view. If the function gets an error instead of a view, it returns the error.
func newViewSender(c *fiber.Ctx) func(usecase.CustomerView, error) error {
	return func(m usecase.CustomerView, err error) error {
		if err != nil {
			return err
		}
		return c.JSON(showView(m))
	}
}

func showView(m usecase.CustomerView) rental.CustomerView {
	m = m.Translate()
	r := showStored(m.Reservation)
	if r.Payment != nil {
		r.Payment.Dispute = nil // only the owner may see disputes and the reasons of refunds
		if r.Payment.Refund != nil {
			r.Payment.Refund.Reason = ""
		}
	}
	return rental.CustomerView{
		Kind: event.Reservation, Business: m.Offer.LinkBusiness(),
		Reservation: rental.CustomerReservation{
			ID: r.ID, RentalID: r.RentalID, RentalName: r.RentalName, Status: r.Status, Withdrawn: r.Withdrawn,
			Quantity:  r.Quantity,
			StartDate: r.StartDate, EndDate: r.EndDate,
			StartTime: r.StartTime, EndTime: r.EndTime, Extras: r.Extras, Price: r.Price, Total: r.Total,
			Currency: r.Currency, PriceChanges: r.PriceChanges,
			CustomerName: r.CustomerName, MaskedEmail: email.Mask(r.CustomerEmail),
			Locale: r.Locale, Timezone: r.Timezone, CreatedAt: r.CreatedAt,
			Payment: r.Payment, CanPay: m.CanPay, Unpaid: m.IsUnpaid, Cancellation: m.Cancellation.Render(),
		},
	}
}

func (l *CustomerLinks) serveCalendar(c *fiber.Ctx) error {
	text, err := l.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(text)
}
