package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// CustomerLinks serves the actions that customers can take with the link to their booking or
// order (lifecycle.md §5). The pages service calls CustomerLinks over HTTP. CustomerLinks
// checks the token of the link before the rest of the request. Therefore every request with
// an invalid token gets the same answer, even if the rest of the request is invalid, too.
type CustomerLinks struct {
	links *usecase.CustomerLinks
	rooms *link.Links // the links to online meetings
}

// NewCustomerLinks returns the internal API of customers' links.
func NewCustomerLinks(links *usecase.CustomerLinks, rooms *link.Links) *CustomerLinks {
	return &CustomerLinks{links: links, rooms: rooms}
}

// Mount adds the endpoints of customers' links.
func (l *CustomerLinks) Mount(r *server.Internal) {
	server.Mount(r, bookingclient.ReadCustomerView, server.ShowResult(l.readView, l.showView))
	r.Handle(bookingclient.ReadCalendar.Row, l.serveCalendar)
	r.Handle(bookingclient.CancelByLink.Row, l.withIdempotency(l.cancel))
	r.Handle(bookingclient.RescheduleByLink.Row, l.withIdempotency(l.reschedule))
	server.Mount(r, bookingclient.OpenPaymentPage, l.openPayment)
}

// withIdempotency returns a handler that runs the handler `write` at most once for each Idempotency-Key of a link.
func (l *CustomerLinks) withIdempotency(write fiber.Handler) fiber.Handler {
	outcome := func(c *fiber.Ctx) ([]byte, error) {
		return l.links.FindIdempotencyResult(c.UserContext(), c.Params("token"))
	}
	return server.HandleIdempotently(write, outcome, func(c *fiber.Ctx, answer []byte) error {
		m, err := l.links.AnswerRetry(c.UserContext(), c.Params("token"), answer)
		if err != nil {
			return err
		}
		return c.JSON(l.showView(m))
	})
}

func (l *CustomerLinks) readView(ctx context.Context, r endpoints.ByToken) (usecase.CustomerView, error) {
	return l.links.View(ctx, r.Token)
}

func (l *CustomerLinks) serveCalendar(c *fiber.Ctx) error {
	text, err := l.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(text)
}

func (l *CustomerLinks) cancel(c *fiber.Ctx) error {
	shownRefund, readErr := parseShownRefund(c)
	if readErr != nil {
		return l.refuse(c, readErr)
	}
	m, err := l.links.Cancel(c.UserContext(), c.Params("token"), shownRefund)
	if err != nil {
		return err
	}
	return c.JSON(l.showView(m))
}

// refuse answers a request with an invalid body. The argument `invalid` is the fault of the body.
// refuse checks the token first: only a customer with a valid link may receive the fault.
func (l *CustomerLinks) refuse(c *fiber.Ctx, invalid error) error {
	if _, err := l.links.View(c.UserContext(), c.Params("token")); err != nil {
		return err
	}
	return invalid
}

func (l *CustomerLinks) reschedule(c *fiber.Ctx) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var (
		r  bookingclient.RescheduleRequest
		to usecase.Reschedule
	)
	invalid := request.JSON(body, &r)
	if invalid == nil {
		to, invalid = parseReschedule(r)
	}
	if invalid != nil {
		return l.refuse(c, invalid)
	}
	m, err := l.links.Reschedule(c.UserContext(), c.Params("token"), to)
	if err != nil {
		return err
	}
	return c.JSON(l.showView(m))
}

// parseShownRefund parses the refund that the page showed to the
// customer before the cancellation. Fault: invalid_parameter.
func parseShownRefund(c *fiber.Ctx) (decimal.Decimal, error) {
	var req booking.CancelByLink
	if err := server.JSON(c, &req); err != nil {
		return decimal.Zero, err
	}
	return req.RefundAmount()
}

func (l *CustomerLinks) openPayment(ctx context.Context, r endpoints.ByToken) (*booking.OpenPayment, error) {
	m, charge, intent, err := l.links.OpenPayment(ctx, r.Token)
	if err != nil {
		return nil, err
	}
	currency := m.Booking.Currency
	if m.Kind == event.Ticket {
		currency = m.Ticket.Currency
	}
	return &booking.OpenPayment{
		Provider: charge.Provider, Amount: currency.JSON(charge.Amount), Currency: currency.Code,
		CheckoutURL: intent.URL, DueAt: charge.DueAt,
	}, nil
}

// showView converts the customer view into the JSON form of the internal API.
func (l *CustomerLinks) showView(m usecase.CustomerView) booking.CustomerView {
	m = m.Translate()
	view := booking.CustomerView{Kind: m.Kind, Business: m.Offer.LinkBusiness()}
	if m.Kind == event.Ticket {
		view.Ticket = showCustomerTicket(m)
		return view
	}
	b := showBooking(l.rooms, m.Booking)
	view.Booking = &booking.CustomerBooking{
		ID: b.ID, Status: b.Status, Date: b.Date, StartTime: b.StartTime, EndTime: b.EndTime, StartsAt: b.StartsAt,
		EndsAt:   b.EndsAt,
		Timezone: b.Timezone, Services: b.Services, StaffID: b.StaffID, StaffName: b.StaffName,
		ClassScheduleID: b.ClassScheduleID, PartySize: b.PartySize,
		IsPackage: b.IsPackage, StaffingMode: b.StaffingMode, StaffRequested: b.StaffRequested, Withdrawn: b.Withdrawn,
		Total: b.Total, Currency: b.Currency, CustomerName: b.CustomerName, MaskedEmail: email.Mask(&b.CustomerEmail),
		HasPhone: b.CustomerPhone != nil, Locale: b.Locale, Sequence: b.Sequence,
		CreatedAt: b.CreatedAt,
		Payment:   hideOwnerFields(b.Payment), CanPay: m.CanPay, Unpaid: m.IsUnpaid,
		Location: b.Location, CustomerAddress: b.CustomerAddress,
		Cancellation: m.Cancellation.Render(),
		Reschedule:   booking.ReschedulePermission{Allowed: m.Reschedule.Allowed, Reason: m.Reschedule.Reason},
	}
	if until := m.Reschedule.Until; !until.IsZero() {
		view.Booking.Reschedule.Until = &until
	}
	return view
}

// hideOwnerFields removes the fields of a payment that only the owner may see: the dispute,
// and the provider's reason for the state of a refund. The argument `p` may be nil.
func hideOwnerFields(p *booking.Payment) *booking.Payment {
	if p == nil {
		return nil
	}
	p.Dispute = nil
	if p.Refund != nil {
		p.Refund.Reason = ""
	}
	return p
}

func showCustomerTicket(m usecase.CustomerView) *booking.CustomerTicket {
	t := m.Ticket
	return &booking.CustomerTicket{
		ID: t.ID, EventID: t.EventID, Status: t.Status, EventName: t.EventName, TierName: joinTierNames(t),
		Tiers: convertAll(t.Tiers, showTier(t.Currency)),
		Date:  t.LocalStart.Format(time.DateOnly), StartTime: t.LocalStart.Format(time.TimeOnly), StartsAt: t.StartsAt,
		EndsAt:   t.EndsAt,
		Timezone: t.Timezone, FormerStarts: append([]time.Time{}, t.FormerStarts...), Withdrawn: t.Withdrawn,
		Quantity: t.Quantity, Total: toOptionalAmount(t.Currency, t.Total), Currency: t.Currency.Code,
		PriceChanges: t.PriceChanges, CustomerName: t.CustomerName, MaskedEmail: email.Mask(t.CustomerEmail),
		Locale: t.Locale, CreatedAt: t.CreatedAt,
		Payment: hideOwnerFields(showPayment(t.Payment, t.Currency)), CanPay: m.CanPay, Unpaid: m.IsUnpaid,
		Cancellation: m.Cancellation.Render(),
	}
}
