package handler

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// mountManage adds the pages behind a customer's link (lifecycle.md §5) and the calendars that owners subscribe to by a
// secret address (lifecycle.md §2).
func (p *Pages) mountManage(router fiber.Router) {
	managed := router.Group("/m/:token", private, wellFormed)
	managed.Get("", p.managed)
	managed.Get("/calendar.ics", p.managedCalendar)
	managed.Get("/cancel", p.askCancel)
	managed.Post("/cancel", p.cancel)
	managed.Get("/move", p.askMove)
	managed.Post("/move", p.move)
	managed.Post("/pay", p.pays)
	router.Get("/calendar/:file", private, p.feed)
}

// private is middleware that forbids caches to store the answers of secret addresses.
func private(c *fiber.Ctx) error {
	err := c.Next()
	c.Set(fiber.HeaderCacheControl, "no-store")
	return err
}

// wellFormed is middleware that rejects a malformed token before any
// other service is called. The answer is the same as for an unknown link.
func wellFormed(c *fiber.Ctx) error {
	if _, ok := link.HashOf(c.Params("token")); !ok {
		return link.NotFound()
	}
	return c.Next()
}

// follow returns the booking, ticket order or reservation of a customer's link, and the common
// part of the page behind the link. If the address names a language, the page has this language,
// otherwise the language of the booking. The response is the same for every invalid link.
func (p *Pages) follow(c *fiber.Ctx) (*view.Page, *usecase.Managed, error) {
	m, err := p.links.View(c.UserContext(), c.Params("token"))
	if err != nil {
		return nil, nil, err
	}
	page := p.plain(c, m.Business.Offer.DefaultLanguage)
	// Unless the reader chose a language, the page has the booking's language. If the browser asks for
	// the same language, the page keeps the regional form, such as en-GB, that the browser asks for.
	if booked := words.In(p.texts, m.Locale, m.Business.Offer.DefaultLanguage); page.Chosen == "" &&
		booked.Code != page.Words.Code {
		page.Words = booked
	}
	page.Managed, page.Sold = "/m/"+c.Params("token"), view.Sale{Timezone: m.Timezone, Currency: m.Currency}
	of(page, m.Business)
	return page, m, nil
}

// seen returns the path of the page behind the customer's link. The argument `done` is the name of a successful action
// that the page reports; if `done` is "", the page reports no action.
func seen(c *fiber.Ctx, done string) string {
	at := "/m/" + c.Params("token")
	if done != "" {
		at += "?done=" + done
	}
	return at
}

func (p *Pages) managed(c *fiber.Ctx) error {
	page, m, err := p.follow(c)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, page, view.Managed(page, m, c.Query("done")))
}

// pays redirects to the payment provider's page, on which the customer pays the open amount. It redirects back to the
// page behind the link in three cases: no amount is open, the amount cannot be paid now, or the provider has no payment
// page.
func (p *Pages) pays(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	at, err := p.links.Pay(c.UserContext(), c.Params("token"))
	if fault.Is(err, fault.Conflict) || err == nil && at == "" {
		at, err = seen(c, ""), nil
	}
	if err != nil {
		return err
	}
	return c.Redirect(at, fiber.StatusSeeOther)
}

func (p *Pages) managedCalendar(c *fiber.Ctx) error {
	text, err := p.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	c.Attachment("booking.ics")
	return c.Send(text)
}

// askCancel shows the page that asks the customer to confirm the cancellation. If
// the customer may not cancel, askCancel redirects back to the page behind the link.
func (p *Pages) askCancel(c *fiber.Ctx) error {
	page, m, err := p.follow(c)
	switch {
	case err != nil:
		return err
	case !m.MayCancel():
		return c.Redirect(seen(c, ""), fiber.StatusSeeOther)
	}
	return p.show(c, fiber.StatusOK, page, view.AskCancel(page, m, false))
}

func (p *Pages) cancel(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	err = p.links.Cancel(c.UserContext(), c.Params("token"), json.Number(form.Get("refund")))
	if fault.Is(err, fault.Conflict) {
		page, m, err := p.follow(c)
		if err != nil {
			return err
		}
		if !m.MayCancel() { // already cancelled, or the deadline has passed; the page shows the reason
			return c.Redirect(seen(c, ""), fiber.StatusSeeOther)
		}
		return p.show(c, fiber.StatusConflict, page, view.AskCancel(page, m, true))
	}
	if err != nil {
		return err
	}
	return c.Redirect(seen(c, ""), fiber.StatusSeeOther)
}

func (p *Pages) askMove(c *fiber.Ctx) error {
	date, month := given(c.Query("date")), given(c.Query("month")+"-01")
	return p.times(c, fiber.StatusOK, date, month, false)
}

// given parses a date in the query of the address. It returns nil if the text is not a date.
func given(text string) *timespan.Date {
	d, err := timespan.ParseDate(text)
	if err != nil {
		return nil
	}
	return &d
}

// times shows the starts to which the customer can reschedule the booking. The argument `taken` is true if the start
// that the customer chose before is no longer free; the page then reports this.
func (p *Pages) times(c *fiber.Ctx, status int, date, month *timespan.Date, taken bool) error {
	page, m, err := p.follow(c)
	switch {
	case err != nil:
		return err
	case m.Booking == nil || !m.Booking.Reschedule.Allowed:
		return c.Redirect(seen(c, ""), fiber.StatusSeeOther)
	}
	free, err := p.links.Times(c.UserContext(), m, date, month)
	if err != nil {
		return err
	}
	return p.show(c, status, page, view.Move(page, m, free, taken))
}

func (p *Pages) move(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	to, err := moveTo(form.Get("to"))
	if err == nil {
		err = p.links.Move(c.UserContext(), c.Params("token"), to)
	}
	switch {
	case fault.RefusesStart(err), fault.Is(err, fault.Conflict), fault.Is(err, fault.InvalidParameter):
		return p.times(c, fiber.StatusConflict, to.Date, nil, true)
	case err != nil:
		return err
	}
	return c.Redirect(seen(c, "moved"), fiber.StatusSeeOther)
}

// moveTo reads the start that the customer chose in the form. The form field contains the start as a query string.
func moveTo(query string) (usecase.Selection, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return usecase.Selection{}, fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	return usecase.ReadSelection(values)
}

// feed serves a calendar at a secret address. An owner has created the address to subscribe to the calendar.
func (p *Pages) feed(c *fiber.Ctx) error {
	token, isCalendar := strings.CutSuffix(c.Params("file"), ".ics")
	if !isCalendar {
		return link.NotFound()
	}
	answer, err := p.links.Feed(c.UserContext(), token, server.IfNoneMatch(c))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderETag, answer.Header.Get(fiber.HeaderETag))
	c.Status(answer.Status)
	if answer.Status == fiber.StatusNotModified {
		return nil
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(answer.Body)
}
