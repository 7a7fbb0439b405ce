package handler

import (
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// mountEvents adds the pages on which tickets are bought.
func (p *Pages) mountEvents(router fiber.Router) {
	router.Get("/b/:slug/events", p.events)
	router.Get("/b/:slug/events/:event", p.event)
	router.Get("/b/:slug/events/:event/details", p.ticketDetails)
	router.Post("/b/:slug/events/:event/details", p.buyTickets)
}

// events shows what is on.
func (p *Pages) events(c *fiber.Ctx) error {
	page, err := p.page(c)
	if err != nil {
		return err
	}
	page.Found = true
	return p.listEvents(c, page, fiber.StatusOK, "")
}

// listEvents shows what is on, with a notice of why the visitor is here.
func (p *Pages) listEvents(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.Open() {
		return p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	events, err := p.shop.Events(c.UserContext(), page.Business.Offer.Slug, page.Words.Asked)
	if err != nil {
		return err
	}
	page.Step, page.Notice = "events", notice
	return p.show(c, status, page, view.Events(page, events))
}

// ticketOrder is tickets on their way from an event's page to the customer.
type ticketOrder struct {
	page   *view.Page
	basket *usecase.Basket
	form   view.Form
}

// eventOf reads the event of the path with what is wanted of it. Where it is not there any more, or nothing can be bought, it has answered
// already, and the order is nil.
func (p *Pages) eventOf(c *fiber.Ctx, wanted url.Values) (*ticketOrder, error) {
	page, err := p.page(c)
	if err != nil {
		return nil, err
	}
	if !page.Business.Open() {
		return nil, p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	id, err := uuid.Parse(c.Params("event"))
	if err != nil {
		return nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	event, err := p.shop.Event(c.UserContext(), page.Business.Offer.Slug, page.Words.Asked, id)
	if fault.Is(err, fault.NotFound) {
		return nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	if err != nil {
		return nil, err
	}
	page.Step = "events/" + event.ID.String()
	return &ticketOrder{page: page, basket: usecase.ReadBasket(event, wanted), form: view.Form{Details: newcomer(page)}}, nil
}

// changed reports whether something costs another price than was shown, or is paid otherwise.
func changed(typed url.Values, price *usecase.Price) bool {
	return typed.Get("total") != price.Total.String() || typed.Get("now") != price.Now.String()
}

// newcomer is who has typed nothing yet.
func newcomer(page *view.Page) usecase.Details {
	return usecase.Details{People: 1, Language: page.Business.Language(page.Words.Asked), Pay: usecase.PayAtDoor}
}

// event shows an event with its tickets.
func (p *Pages) event(c *fiber.Ctx) error {
	o, err := p.eventOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	o.page.Found = true
	return p.show(c, fiber.StatusOK, o.page, view.Event(o.page, o.basket))
}

// query is that of the address; what cannot be read of it is left out.
func query(c *fiber.Ctx) url.Values {
	values, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return values
}

// ticketDetails asks who buys, beside what it costs.
func (p *Pages) ticketDetails(c *fiber.Ctx) error {
	o, err := p.eventOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	page, e := o.page, o.basket.Event
	switch less := o.basket.Fit(); {
	case view.Unsold(page, e) != "":
		return p.show(c, fiber.StatusOK, page, view.Event(page, o.basket))
	case less:
		page.Notice = page.Words.Say("tickets_gone")
		return p.show(c, fiber.StatusConflict, page, view.Event(page, o.basket))
	case o.basket.Tickets() == 0:
		page.Notice = page.Words.Say("tickets_none")
		return p.show(c, fiber.StatusUnprocessableEntity, page, view.Event(page, o.basket))
	}
	o.form.Token = p.forms.token(page.Business.Offer.Slug)
	return p.askBuyer(c, o, fiber.StatusOK, "", false)
}

// askBuyer shows the form with all that was typed; changing shows the numbers of tickets as fields, too.
func (p *Pages) askBuyer(c *fiber.Ctx, o *ticketOrder, status int, notice string, changing bool) error {
	price, err := p.shop.PriceTickets(c.UserContext(), o.page.Business, o.basket)
	if err != nil {
		return err
	}
	o.form.Price, o.page.Notice = price, notice
	return p.show(c, status, o.page, view.TicketDetails(o.page, o.basket, o.form, changing))
}

// buyTickets buys what the form asks for, once, and leads to the customer's own page of it.
func (p *Pages) buyTickets(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	o, err := p.eventOf(c, typed)
	if err != nil || o == nil {
		return err
	}
	words, slug := o.page.Words, o.page.Business.Offer.Slug
	key := p.typedBy(o.page, &o.form, typed, o.basket.Event.ID)
	if key == "" {
		o.form.Token = p.forms.token(slug)
		return p.askBuyer(c, o, fiber.StatusUnprocessableEntity, words.Say("expired"), false)
	}
	if gone := o.basket.Fit(); gone || o.basket.Tickets() == 0 {
		return p.soldMeanwhile(c, o, gone)
	}
	if o.form.Wrong = o.page.Business.Check(&o.form.Details, o.basket.Event.ID); len(o.form.Wrong) > 0 {
		return p.askBuyer(c, o, fiber.StatusUnprocessableEntity, words.Say("check"), false)
	}
	price, err := p.shop.PriceTickets(c.UserContext(), o.page.Business, o.basket)
	if err != nil {
		return p.refuseTickets(c, o, err)
	}
	if changed(typed, price) {
		return p.askBuyer(c, o, fiber.StatusConflict, words.With("price_changed", "Price", words.Amount(price.Total.String(), o.page.Business.Offer.Currency)), false)
	}
	o.form.Price = price
	booked, err := p.shop.Buy(c.UserContext(), o.page.Business, o.basket, o.form.Details, key)
	if err != nil {
		return p.refuseTickets(c, o, err)
	}
	return p.booked(c, booked)
}

// typedBy takes over what was typed by who takes an event or rentals, and returns the key of the form; "" for one that this page did not
// show, or no person sent.
func (p *Pages) typedBy(page *view.Page, form *view.Form, typed url.Values, taken ...uuid.UUID) string {
	readDetails(page, form, typed, taken...)
	form.Token = typed.Get("token")
	if typed.Get(trap) != "" {
		return ""
	}
	return p.forms.read(page.Business.Offer.Slug, form.Token)
}

// soldMeanwhile asks again how many tickets are wanted, of what is left; what was typed stays. It is another order, so that the token is
// another.
func (p *Pages) soldMeanwhile(c *fiber.Ctx, o *ticketOrder, gone bool) error {
	page := o.page
	if view.Unsold(page, o.basket.Event) != "" {
		return p.show(c, fiber.StatusConflict, page, view.Event(page, o.basket))
	}
	o.form.Token = p.forms.token(page.Business.Offer.Slug)
	if gone {
		return p.askBuyer(c, o, fiber.StatusConflict, page.Words.Say("tickets_gone"), true)
	}
	return p.askBuyer(c, o, fiber.StatusUnprocessableEntity, page.Words.Say("tickets_none"), true)
}

// refuseTickets shows why nothing was bought, with what can be done about it.
func (p *Pages) refuseTickets(c *fiber.Ctx, o *ticketOrder, cause error) error {
	page := o.page
	switch {
	case fault.Is(cause, fault.NotFound):
		return p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict):
		event, err := p.shop.Event(c.UserContext(), page.Business.Offer.Slug, page.Words.Asked, o.basket.Event.ID)
		if fault.Is(err, fault.NotFound) {
			return p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
		}
		if err != nil {
			return err
		}
		o.basket.Event = event
		o.basket.Fit()
		return p.soldMeanwhile(c, o, true)
	}
	if closing(cause) {
		return p.closed(c, page, func(notice string) error { return p.askBuyer(c, o, fiber.StatusServiceUnavailable, notice, false) })
	}
	status, notice := p.refused(page, &o.form, cause)
	if status == 0 {
		return cause
	}
	return p.askBuyer(c, o, status, notice, false)
}
