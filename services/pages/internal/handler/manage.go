package handler

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

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

// mountLinks adds the pages behind a customer's link (lifecycle.md §5). It also adds the calendars to which owners
// subscribe by a secret URL (lifecycle.md §2).
func (p *Pages) mountLinks(router fiber.Router) {
	group := router.Group("/m/:token", forbidCaching, rejectMalformedToken)
	group.Get("", p.showCustomerView)
	group.Get("/calendar.ics", p.sendCalendar)
	group.Get("/cancel", p.showCancel)
	group.Post("/cancel", p.cancel)
	group.Get("/move", p.showReschedule)
	group.Post("/move", p.reschedule)
	group.Post("/pay", p.redirectToPayment)
	router.Get("/calendar/:file", forbidCaching, p.serveFeed)
}

// forbidCaching is middleware that forbids caches to store the responses of secret URLs.
func forbidCaching(c *fiber.Ctx) error {
	err := c.Next()
	c.Set(fiber.HeaderCacheControl, "no-store")
	return err
}

// rejectMalformedToken is middleware that rejects a malformed token before any other service is called. The response is
// the same as for an unknown link.
func rejectMalformedToken(c *fiber.Ctx) error {
	if _, ok := link.HashToken(c.Params("token")); !ok {
		return link.NewNotFoundFault()
	}
	return c.Next()
}

// loadCustomerView returns the booking, ticket order or reservation of a customer's link, and the data that all pages
// behind the link have in common. If the URL names a language, the page has this language, otherwise the language of
// the booking. The response is the same for every invalid link.
func (p *Pages) loadCustomerView(c *fiber.Ctx) (*view.Page, *usecase.CustomerView, error) {
	m, err := p.links.View(c.UserContext(), c.Params("token"))
	if err != nil {
		return nil, nil, err
	}
	page := p.newPage(c, m.Business.Snapshot.DefaultLanguage)
	// Unless the reader chose a language, the page has the booking's language. If the browser asks for
	// the same language, the page keeps the regional form, such as en-GB, that the browser asks for.
	if bookingWords := words.In(p.texts, m.Locale, m.Business.Snapshot.DefaultLanguage); page.Language == "" &&
		bookingWords.Code != page.Words.Code {
		page.Words = bookingWords
	}
	page.LinkPath, page.Sale = "/m/"+c.Params("token"), view.Sale{Timezone: m.Timezone, Currency: m.Currency}
	setBusiness(page, m.Business)
	return page, m, nil
}

// linkPath returns the path of the page behind the customer's link. The argument `action` is the name of a successful
// action that the page reports; if `action` is "", the page reports no action.
func linkPath(c *fiber.Ctx, action string) string {
	at := "/m/" + c.Params("token")
	if action != "" {
		at += "?done=" + action
	}
	return at
}

func (p *Pages) showCustomerView(c *fiber.Ctx) error {
	page, m, err := p.loadCustomerView(c)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, page, view.CustomerView(page, m, c.Query("done")))
}

// redirectToPayment redirects to the payment provider's page, on which the customer pays the amount that is still due.
// In three cases, it redirects back to the page behind the link: no amount is due, the amount cannot be paid now, or
// the provider has no payment page.
func (p *Pages) redirectToPayment(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	at, err := p.links.OpenPayment(c.UserContext(), c.Params("token"))
	if fault.Is(err, fault.Conflict) || err == nil && at == "" {
		at, err = linkPath(c, ""), nil
	}
	if err != nil {
		return err
	}
	return c.Redirect(at, fiber.StatusSeeOther)
}

func (p *Pages) sendCalendar(c *fiber.Ctx) error {
	text, err := p.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	c.Attachment("booking.ics")
	return c.Send(text)
}

// showCancel shows the page that asks the customer to confirm the cancellation. If
// the customer may not cancel, showCancel redirects back to the page behind the link.
func (p *Pages) showCancel(c *fiber.Ctx) error {
	page, m, err := p.loadCustomerView(c)
	switch {
	case err != nil:
		return err
	case !m.CanCancel():
		return c.Redirect(linkPath(c, ""), fiber.StatusSeeOther)
	}
	return p.show(c, fiber.StatusOK, page, view.Cancel(page, m, false))
}

func (p *Pages) cancel(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	err = p.links.Cancel(c.UserContext(), c.Params("token"), json.Number(form.Get("refund")))
	if fault.Is(err, fault.Conflict) {
		page, m, err := p.loadCustomerView(c)
		if err != nil {
			return err
		}
		if !m.CanCancel() { // already cancelled, or the deadline has passed; the page behind the link shows the reason
			return c.Redirect(linkPath(c, ""), fiber.StatusSeeOther)
		}
		return p.show(c, fiber.StatusConflict, page, view.Cancel(page, m, true))
	}
	if err != nil {
		return err
	}
	return c.Redirect(linkPath(c, ""), fiber.StatusSeeOther)
}

func (p *Pages) showReschedule(c *fiber.Ctx) error {
	date, month := parseOptionalDate(c.Query("date")), parseOptionalDate(c.Query("month")+"-01")
	var at *uuid.UUID
	if id, err := uuid.Parse(c.Query("at")); err == nil {
		at = &id
	}
	return p.showStarts(c, fiber.StatusOK, at, date, month, "")
}

// parseOptionalDate parses a date in the query of the URL. It returns nil if the text is not a date.
func parseOptionalDate(text string) *timespan.Date {
	d, err := timespan.ParseDate(text)
	if err != nil {
		return nil
	}
	return &d
}

// showStarts shows the starts to which the customer can reschedule the booking, at the location `at` or, if it is nil,
// at the location of the booking. The argument `problem` is the id of the sentence about the start that the customer
// chose before, or "".
func (p *Pages) showStarts(c *fiber.Ctx, status int, at *uuid.UUID, date, month *timespan.Date,
	problem string) error {
	page, m, err := p.loadCustomerView(c)
	switch {
	case err != nil:
		return err
	case m.Booking == nil || !m.Booking.Reschedule.Allowed:
		return c.Redirect(linkPath(c, ""), fiber.StatusSeeOther)
	}
	at = m.ChooseLocation(at)
	calendar, err := p.links.Times(c.UserContext(), m, at, date, month)
	if err != nil {
		return err
	}
	return p.show(c, status, page, view.Reschedule(page, m, calendar, at, problem))
}

func (p *Pages) reschedule(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	start, err := readStart(form.Get("to"))
	if err == nil {
		err = p.links.Reschedule(c.UserContext(), c.Params("token"), start)
	}
	switch {
	case fault.Is(err, fault.OutsideArea): // the customer needs the starts at another location
		return p.showStarts(c, fiber.StatusConflict, nil, start.Date, nil, "outside_area")
	case fault.Is(err, fault.LocationNotFound):
		return p.showStarts(c, fiber.StatusConflict, nil, start.Date, nil, "not_offered")
	case fault.RefusesStart(err), fault.Is(err, fault.Conflict), fault.Is(err, fault.InvalidParameter):
		return p.showStarts(c, fiber.StatusConflict, start.Location, start.Date, nil, "manage_taken")
	case err != nil:
		return err
	}
	return c.Redirect(linkPath(c, "moved"), fiber.StatusSeeOther)
}

// readStart reads the start that the customer chose in the form. The form field contains the start as a query string.
func readStart(query string) (usecase.Selection, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return usecase.Selection{}, fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	return usecase.ReadSelection(values)
}

// serveFeed serves a calendar at a secret URL. An owner has created the URL to subscribe to the calendar in a calendar
// program.
func (p *Pages) serveFeed(c *fiber.Ctx) error {
	token, isCalendar := strings.CutSuffix(c.Params("file"), ".ics")
	if !isCalendar {
		return link.NewNotFoundFault()
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
