package api

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// ByLink serves the actions that customers can take with the link to their booking or order
// (lifecycle.md §5). The pages service calls ByLink over HTTP. ByLink checks the token of the link
// before the rest of the request. Therefore every request with an invalid token gets the same answer.
type ByLink struct{ links *usecase.ByLink }

// NewByLink returns the internal API of customers' links.
func NewByLink(links *usecase.ByLink) *ByLink { return &ByLink{links: links} }

// Mount adds the routes of customers' links.
func (l *ByLink) Mount(app fiber.Router) {
	managed := app.Group("/internal/manage/:token", private)
	managed.Get("", l.view)
	managed.Get("/calendar", l.calendar)
	managed.Post("/cancel", l.once(l.cancel))
	managed.Post("/reschedule", l.once(l.reschedule))
	managed.Post("/payment", l.payment)
}

// once returns a handler that runs the handler `write` at most once for each Idempotency-Key of a link.
func (l *ByLink) once(write fiber.Handler) fiber.Handler {
	outcome := func(c *fiber.Ctx) ([]byte, error) {
		return l.links.FindIdempotencyResult(c.UserContext(), c.Params("token"))
	}
	return server.HandleIdempotently(write, outcome, func(c *fiber.Ctx, answer []byte) error {
		m, err := l.links.Again(c.UserContext(), c.Params("token"), answer)
		if err != nil {
			return err
		}
		return c.JSON(showManaged(m))
	})
}

// private is a middleware that forbids caches to store the answer, because the answer contains the customer's data.
func private(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Next()
}

func (l *ByLink) view(c *fiber.Ctx) error {
	m, err := l.links.View(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	return c.JSON(showManaged(m))
}

func (l *ByLink) calendar(c *fiber.Ctx) error {
	text, err := l.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(text)
}

func (l *ByLink) cancel(c *fiber.Ctx) error {
	agreed, unread := agreedRefund(c)
	if unread != nil {
		return l.refuse(c, unread)
	}
	m, err := l.links.Cancel(c.UserContext(), c.Params("token"), agreed)
	if err != nil {
		return err
	}
	return c.JSON(showManaged(m))
}

// refuse answers a request with an invalid body. The argument `wrong` is the fault of the body.
// refuse checks the token first: only a customer with a valid link may receive the fault.
func (l *ByLink) refuse(c *fiber.Ctx, wrong error) error {
	if _, err := l.links.View(c.UserContext(), c.Params("token")); err != nil {
		return err
	}
	return wrong
}

func (l *ByLink) reschedule(c *fiber.Ctx) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	_, to, wrong := parseReschedule(body)
	if wrong != nil {
		return l.refuse(c, wrong)
	}
	m, err := l.links.Reschedule(c.UserContext(), c.Params("token"), to)
	if err != nil {
		return err
	}
	return c.JSON(showManaged(m))
}

// agreedRefund parses the refund that the page showed to the
// customer before the cancellation. Fault: invalid_parameter.
func agreedRefund(c *fiber.Ctx) (decimal.Decimal, error) {
	var asked booking.CancelByLink
	if err := server.JSON(c, &asked); err != nil {
		return decimal.Zero, err
	}
	return asked.Agreed()
}

func (l *ByLink) payment(c *fiber.Ctx) error {
	m, charge, intent, err := l.links.OpenPayment(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	currency := m.Booking.Currency
	if m.Kind == event.Ticket {
		currency = m.Ticket.Currency
	}
	return c.JSON(booking.OpenPayment{
		Provider: charge.Provider, Amount: currency.JSON(charge.Amount), Currency: currency.Code,
		CheckoutURL: intent.URL, DueAt: charge.DueAt,
	})
}

// showManaged converts the customer view into the JSON form of the internal API.
func showManaged(m usecase.Managed) booking.Managed {
	m = m.Translated()
	shown := booking.Managed{Kind: m.Kind, Business: m.Offer.Managed()}
	if m.Kind == event.Ticket {
		shown.Ticket = showOwnTicket(m)
		return shown
	}
	b := showBooking(m.Booking)
	shown.Booking = &booking.ManagedBooking{
		ID: b.ID, Status: b.Status, Date: b.Date, StartTime: b.StartTime, EndTime: b.EndTime, StartsAt: b.StartsAt,
		EndsAt:   b.EndsAt,
		Timezone: b.Timezone, Services: b.Services, StaffID: b.StaffID, StaffName: b.StaffName,
		ClassScheduleID: b.ClassScheduleID, PartySize: b.PartySize,
		IsPackage: b.IsPackage, StaffingMode: b.StaffingMode, StaffRequested: b.StaffRequested, Withdrawn: b.Withdrawn,
		Total: b.Total, Currency: b.Currency, CustomerName: b.CustomerName, Locale: b.Locale, Sequence: b.Sequence,
		CreatedAt: b.CreatedAt,
		Payment:   ownPayment(b.Payment), CanPay: m.CanPay, Unpaid: m.Unpaid, Cancellation: m.Cancellation.Shown(),
		Reschedule: booking.MayMove{Allowed: m.Reschedule.Allowed, Reason: m.Reschedule.Reason},
	}
	if until := m.Reschedule.Until; !until.IsZero() {
		shown.Booking.Reschedule.Until = &until
	}
	return shown
}

// ownPayment removes the fields of a payment that only the owner may see: the dispute,
// and the provider's reason for the state of a refund. The argument `p` may be nil.
func ownPayment(p *booking.Payment) *booking.Payment {
	if p == nil {
		return nil
	}
	p.Dispute = nil
	if p.Refund != nil {
		p.Refund.Reason = ""
	}
	return p
}

func showOwnTicket(m usecase.Managed) *booking.ManagedTicket {
	t := m.Ticket
	return &booking.ManagedTicket{
		ID: t.ID, Status: t.Status, EventName: t.EventName, TierName: tierNames(t),
		Tiers: all(t.Tiers, showTier(t.Currency)),
		Date:  t.LocalStart.Format(time.DateOnly), StartTime: t.LocalStart.Format(time.TimeOnly), StartsAt: t.StartsAt,
		EndsAt:   t.EndsAt,
		Timezone: t.Timezone, FormerStarts: append([]time.Time{}, t.FormerStarts...), Withdrawn: t.Withdrawn,
		Quantity: t.Quantity, Total: optionalAmount(t.Currency, t.Total), Currency: t.Currency.Code,
		PriceChanges: t.PriceChanges, CustomerName: t.CustomerName, Locale: t.Locale, CreatedAt: t.CreatedAt,
		Payment: ownPayment(showPayment(t.Payment, t.Currency)), CanPay: m.CanPay, Unpaid: m.Unpaid,
		Cancellation: m.Cancellation.Shown(),
	}
}
