package handler

import (
	"context"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// mountEvents adds the pages on which customers buy tickets.
func (p *Pages) mountEvents(router fiber.Router) {
	router.Get("/b/:slug/events", p.events)
	router.Get("/b/:slug/events/:event", p.event)
	router.Get("/b/:slug/events/:event/details", p.ticketDetails)
	router.Post("/b/:slug/events/:event/details", p.buyTickets)
}

func (p *Pages) events(c *fiber.Ctx) error {
	page, err := p.page(c)
	if err != nil {
		return err
	}
	page.Found = true
	return p.listEvents(c, page, fiber.StatusOK, "")
}

// listEvents shows the list of events. The argument `notice` is a sentence for the visitor above the list, for example
// why a chosen event is not available; if `notice` is "", the page shows no notice.
func (p *Pages) listEvents(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.Open() {
		return p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	events, err := p.shop.Events(c.UserContext(), page.Business.Offer.Slug, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Step, page.Notice = "events", notice
	return p.show(c, status, page, view.Events(page, events))
}

// tickets is the [item] that the customer buys in an order for tickets of one event.
type tickets struct{ *usecase.Basket }

func (t tickets) taken() []uuid.UUID { return []uuid.UUID{t.Event.ID} }

func (t tickets) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.PriceTickets(ctx, o.page.Business, t.Basket)
}

func (t tickets) content(o *order, changing bool) view.Content {
	return view.TicketDetails(o.page, t.Basket, o.form, changing)
}

func (t tickets) book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Booked, error) {
	return shop.Buy(ctx, o.page.Business, t.Basket, o.form.Details, key)
}

func (t tickets) refused(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	page := o.page
	switch {
	case fault.Is(cause, fault.NotFound):
		return true, p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict):
		event, err := p.shop.Event(c.UserContext(), page.Business.Offer.Slug, page.Words.Requested, t.Event.ID)
		if fault.Is(err, fault.NotFound) {
			return true, p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
		}
		if err != nil {
			return true, err
		}
		t.Event = event
		t.Fit()
		return true, p.soldMeanwhile(c, o, t.Basket, true)
	}
	return false, nil
}

// eventOf reads the event in the path, and the numbers of tickets from the parameters in `wanted`. If the event does
// not exist, or the business takes no bookings, eventOf sends the response itself and returns a nil order.
func (p *Pages) eventOf(c *fiber.Ctx, wanted url.Values) (*order, *usecase.Basket, error) {
	page, err := p.open(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	id, err := uuid.Parse(c.Params("event"))
	if err != nil {
		return nil, nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	event, err := p.shop.Event(c.UserContext(), page.Business.Offer.Slug, page.Words.Requested, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	if err != nil {
		return nil, nil, err
	}
	page.Step = "events/" + event.ID.String()
	basket := usecase.ReadBasket(event, wanted)
	return newOrder(page, tickets{basket}), basket, nil
}

// event shows the page of an event, with its tickets.
func (p *Pages) event(c *fiber.Ctx) error {
	o, basket, err := p.eventOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	o.page.Found = true
	return p.show(c, fiber.StatusOK, o.page, view.Event(o.page, basket))
}

// query returns the query parameters of the address. It leaves out parameters that cannot be parsed.
func query(c *fiber.Ctx) url.Values {
	values, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return values
}

// ticketDetails shows the price and the form for the customer's details.
func (p *Pages) ticketDetails(c *fiber.Ctx) error {
	o, basket, err := p.eventOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	page := o.page
	switch less := basket.Fit(); {
	case view.Unsold(page, basket.Event) != "":
		return p.show(c, fiber.StatusOK, page, view.Event(page, basket))
	case less:
		page.Notice = page.Words.Say("tickets_gone")
		return p.show(c, fiber.StatusConflict, page, view.Event(page, basket))
	case basket.Tickets() == 0:
		page.Notice = page.Words.Say("tickets_none")
		return p.show(c, fiber.StatusUnprocessableEntity, page, view.Event(page, basket))
	}
	return p.begin(c, o)
}

// buyTickets buys the tickets for which the form was submitted.
func (p *Pages) buyTickets(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	o, basket, err := p.eventOf(c, typed)
	if err != nil || o == nil {
		return err
	}
	key, err := p.sent(c, o, typed)
	if err != nil || key == "" {
		return err
	}
	if gone := basket.Fit(); gone || basket.Tickets() == 0 {
		return p.soldMeanwhile(c, o, basket, gone)
	}
	return p.place(c, o, key)
}

// soldMeanwhile shows the form again because fewer tickets are left than the customer chose, or because the customer
// chose no ticket. The form now also asks for the numbers of tickets, each at most the number that is left. The form
// keeps what the customer typed. The form gets a new token, because the next submission is a different order. The
// argument `gone` is true if the number of tickets was reduced.
func (p *Pages) soldMeanwhile(c *fiber.Ctx, o *order, basket *usecase.Basket, gone bool) error {
	page := o.page
	if view.Unsold(page, basket.Event) != "" {
		return p.show(c, fiber.StatusConflict, page, view.Event(page, basket))
	}
	p.renew(o)
	if gone {
		return p.askAgain(c, o, fiber.StatusConflict, page.Words.Say("tickets_gone"), true)
	}
	return p.askAgain(c, o, fiber.StatusUnprocessableEntity, page.Words.Say("tickets_none"), true)
}
