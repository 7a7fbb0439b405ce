package pages

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
)

// mountEvents adds the routes of the pages about events and their tickets.
func (p *Pages) mountEvents(business *authorize.Router) {
	business.Get("/events", access.SeeSales, p.listEvents)
	business.Get("/events/:id", access.SeeSales, p.showEvent)
	business.Post("/events/:id", access.SeeSales, p.redirectToSearch)
	business.Get("/events/:id/orders.csv", access.RefundSales, p.exportOrders)
	business.Get("/events/:id/sell", access.Sell, p.askSell)
	business.Post("/events/:id/sell", access.Sell, p.sell)
	business.Get("/tickets/:id", access.SeeSales, p.showOrder)
	p.mountOrders(business, "/tickets", access.Sell, access.RefundSales, p.findTicketOrder)
}

// listEvents lists upcoming events. If the URL has the parameter past=yes, it lists past events instead.
func (p *Pages) listEvents(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceEvents)
	if err != nil {
		return err
	}
	past := c.Query("past") == "yes"
	all, err := p.rooms.Sales.ListEvents(c.UserContext(), page.Business, past)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Events(page, all, past))
}

// showEvent shows one event with the orders of its tickets.
func (p *Pages) showEvent(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceEvents)
	if err != nil {
		return err
	}
	event, err := p.rooms.Sales.FindEvent(c.UserContext(), page.Business, id)
	if err != nil {
		return err
	}
	o := view.Orders{Event: event.Events[0], IsUnknown: event.IsUnknown}
	if err := p.loadOrders(c, page, &o); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Event(page, o))
}

// loadOrders reads one page of the ticket orders of an event. The query parameters of the request filter the orders.
func (p *Pages) loadOrders(c *fiber.Ctx, page *view.Page, o *view.Orders) error {
	o.Query = readQuery(c)
	o.Query.Del("lang")
	filter, err := bookingclient.ReadTicketFilter(func(name string) []string { return o.Query[name] })
	if err != nil {
		return err
	}
	filter.EventID = &o.Event.ID
	o.List, o.Next, err = p.rooms.Sales.ListOrders(c.UserContext(), authorize.Principal(c), page.Business.Slug, filter,
		request.Page{Limit: bookingsPageSize, Cursor: o.Query.Get("cursor")})
	return err
}

// showOrder shows one ticket order, beside the list from which the person opened the order.
func (p *Pages) showOrder(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceEvents)
	if err != nil {
		return err
	}
	open, err := p.rooms.Sales.LoadOrder(c.UserContext(), authorize.Principal(c), page.Business, id)
	if err != nil {
		return err
	}
	event, err := p.rooms.Sales.FindEventOfOrder(c.UserContext(), page.Business, &open.Order)
	if err != nil {
		return err
	}
	o := view.Orders{Event: event.Events[0], IsUnknown: event.IsUnknown, Details: open}
	if err := p.loadOrders(c, page, &o); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Event(page, o))
}

var orderColumns = []string{
	"id", "status", "event", "date", "start_time", "tickets", "quantity", "total", "currency", "payment", "paid_online",
	"refunded", "customer_name", "customer_email",
	"created_at", "cancelled_at", "customer_phone",
}

// exportOrders sends the ticket orders of an event as a CSV file. The query parameters of the request filter the
// orders.
func (p *Pages) exportOrders(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	id, err := parseID(c)
	if err != nil {
		return err
	}
	filter, err := bookingclient.ReadTicketFilter(server.Query(c))
	if err != nil {
		return err
	}
	filter.EventID = &id
	offer, err := p.rooms.FindBusiness(c.UserContext(), slug)
	if err != nil {
		return err
	}
	header := append(slices.Clone(orderColumns), listAnswerColumns(offer)...)
	withAnswers := func(t booking.Ticket) []string {
		return append(formatOrder(t), formatAnswers(offer, t.FormData)...)
	}
	return sendTable(c, "tickets-"+slug, header, withAnswers, func(take func([]booking.Ticket)) error {
		return p.rooms.Sales.ExportOrders(c.UserContext(), authorize.Principal(c), slug, filter, take)
	})
}

func formatOrder(t booking.Ticket) []string {
	const instant = "2006-01-02T15:04:05Z"
	tiers := make([]string, len(t.Tiers))
	for i, tier := range t.Tiers {
		tiers[i] = strconv.Itoa(tier.Quantity) + " × " + tier.TierName
	}
	total, cancelled := "", ""
	if t.Total != nil {
		total = t.Total.String()
	}
	if t.CancelledAt != nil {
		cancelled = t.CancelledAt.Format(instant)
	}
	payment, paid, refunded := formatPayment(t.Payment)
	return []string{
		t.ID.String(), t.Status, reportcsv.EscapeFormula(t.EventName), t.Date, strings.TrimSuffix(t.StartTime, ":00"),
		reportcsv.EscapeFormula(strings.Join(tiers, " + ")), strconv.Itoa(t.Quantity), total, t.Currency,
		payment, paid, refunded, reportcsv.EscapeFormula(t.CustomerName),
		reportcsv.EscapeFormula(deref(t.CustomerEmail)),
		t.CreatedAt.Format(instant), cancelled,
		reportcsv.EscapeFormula(deref(t.CustomerPhone)),
	}
}

// askSell shows the form that sells tickets at the door.
func (p *Pages) askSell(c *fiber.Ctx) error {
	page, s, err := p.prepareSale(c)
	if err != nil {
		return err
	}
	s.Key = rand.Text()
	return p.render(c, fiber.StatusOK, page, view.Sell(page, *s))
}

// prepareSale returns the page on which a person sells tickets, and an empty form. The path has the id of the event.
// The form has the present number of remaining tickets.
func (p *Pages) prepareSale(c *fiber.Ctx) (*view.Page, *view.SellForm, error) {
	page, id, err := p.newPageWithID(c, view.PlaceEvents)
	if err != nil {
		return nil, nil, err
	}
	event, err := p.rooms.Sales.FindEvent(c.UserContext(), page.Business, id)
	if err != nil {
		return nil, nil, err
	}
	return page, &view.SellForm{Event: event.Events[0], IsUnknown: event.IsUnknown}, nil
}

// sell sells tickets of one or more tiers at the door. The form has an Idempotency-Key, so that sending the form twice
// sells the tickets only once.
func (p *Pages) sell(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, s, err := p.prepareSale(c)
	if err != nil {
		return err
	}
	order := parseOrder(page, form, s)
	if len(s.FieldErrors) > 0 {
		page.ErrorText = page.Words.Say("check")
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.Sell(page, *s))
	}
	ticket, err := p.rooms.Sales.SellTickets(idempotency.With(c.UserContext(), idempotency.Request{Key: s.Key}),
		authorize.Principal(c), order)
	if err == nil {
		return redirectBack(c, page.Business.Slug, "tickets/"+ticket.ID.String(), "done", "sold")
	}
	return p.showRefusedSale(c, err, s.Key, form)
}

// showRefusedSale shows the form again after the tickets could not be sold. The form has the values that the person
// submitted, the error message and the present number of remaining tickets.
func (p *Pages) showRefusedSale(c *fiber.Ctx, err error, key string, form url.Values) error {
	page, s, prepareErr := p.prepareSale(c)
	if prepareErr != nil {
		return prepareErr
	}
	parseOrder(page, form, s)
	sentence := faultTexts[fault.KindOf(err)]
	switch fault.KindOf(err) {
	case fault.Conflict:
		sentence = "tickets_gone"
	case fault.InvalidParameter:
		sentence = "check_order"
	}
	if sentence == "" {
		return err
	}
	page.ErrorText = page.Words.Say(sentence)
	s.Key = rand.Text() // the corrected order differs from the refused one, so it needs a new Idempotency-Key
	if fault.Is(err, fault.OutcomeUnknown) || fault.Is(err, fault.IdempotencyInProgress) {
		s.Key = key
	}
	return p.render(c, fault.KindOf(err).Status, page, view.Sell(page, *s))
}

// parseOrder reads a ticket order from the form. It checks only the rules that need no request to another service; the
// booking service checks the other rules.
func parseOrder(page *view.Page, form url.Values, s *view.SellForm) booking.NewTicket {
	s.Name, s.Email, s.Key = strings.TrimSpace(form.Get("name")), strings.TrimSpace(form.Get("email")), form.Get("key")
	s.Quantities, s.FieldErrors = map[string]string{}, map[string]string{}
	order := booking.NewTicket{Slug: page.Business.Slug, EventID: s.Event.ID, CustomerName: s.Name}
	for _, t := range s.Event.Tiers {
		field := view.TierField(t)
		s.Quantities[field] = strings.TrimSpace(form.Get(field))
		n, err := strconv.Atoi(cmp.Or(s.Quantities[field], "0"))
		if err != nil || n < 0 || n > booking.MaxTicketQuantity {
			s.FieldErrors[field] = page.Words.Say("check_field")
		} else if n > 0 {
			order.Tiers = append(order.Tiers, booking.OrderedTier{TierID: t.ID, Quantity: n})
		}
	}
	if len(order.Tiers) == 0 && len(s.FieldErrors) == 0 && len(s.Event.Tiers) > 0 {
		s.FieldErrors[view.TierField(s.Event.Tiers[0])] = page.Words.Say("tickets_how_many")
	}
	if s.Name == "" {
		s.FieldErrors["name"] = page.Words.Say("fill")
	}
	if s.Email != "" {
		order.CustomerEmail = &s.Email
		if !email.Valid(s.Email) {
			s.FieldErrors["email"] = page.Words.Say("email_wrong")
		}
	}
	return order
}
