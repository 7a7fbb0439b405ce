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
	router.Get("/b/:slug/events", p.showEvents)
	router.Get("/b/:slug/events/:event", p.showEvent)
	router.Get("/b/:slug/events/:event/details", p.showTicketDetails)
	router.Post("/b/:slug/events/:event/details", p.buyTickets)
}

func (p *Pages) showEvents(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	page.IsIndexable = true
	return p.listEvents(c, page, fiber.StatusOK, "")
}

// listEvents shows the list of events. The argument `notice` is a sentence for the visitor above the list, for example
// why a chosen event is not available. If `notice` is "", the page shows no sentence.
func (p *Pages) listEvents(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.IsOpen() {
		return p.show(c, fiber.StatusOK, page, view.ClosedPage(page))
	}
	events, err := p.shop.Events(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Subpath, page.Notice = "events", notice
	return p.show(c, status, page, view.Events(page, events))
}

// tickets is the [item] that the customer buys in an order for tickets of one event.
type tickets struct{ *usecase.Basket }

func (t tickets) itemIDs() []uuid.UUID { return []uuid.UUID{t.Event.ID} }

func (t tickets) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.PriceTickets(ctx, o.page.Business, t.Basket)
}

func (t tickets) formContent(o *order, hasQuantities bool) view.Content {
	return view.TicketDetails(o.page, t.Basket, o.form, hasQuantities)
}

func (t tickets) book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Confirmation, error) {
	return shop.Buy(ctx, o.page.Business, t.Basket, o.form.Details, key)
}

func (t tickets) handleRefusal(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	page := o.page
	switch {
	case fault.Is(cause, fault.NotFound):
		return true, p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict):
		event, err := p.shop.Event(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested, t.Event.ID)
		if fault.Is(err, fault.NotFound) {
			return true, p.listEvents(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
		}
		if err != nil {
			return true, err
		}
		t.Event = event
		t.Fit()
		return true, p.showTicketsLeft(c, o, t.Basket, true)
	}
	return false, nil
}

// readTicketOrder reads the event that the path names, and the numbers of tickets from the parameters in `params`. If
// the event does not exist, or the business takes no bookings, readTicketOrder sends the response itself and returns a
// nil order.
func (p *Pages) readTicketOrder(c *fiber.Ctx, params url.Values) (*order, *usecase.Basket, error) {
	page, err := p.loadOpenPage(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	id, err := uuid.Parse(c.Params("event"))
	if err != nil {
		return nil, nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	event, err := p.shop.Event(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil, p.listEvents(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	if err != nil {
		return nil, nil, err
	}
	page.Subpath = "events/" + event.ID.String()
	basket := usecase.ReadBasket(event, params)
	return newOrder(page, tickets{basket}), basket, nil
}

// showEvent shows the page of an event, with its tickets.
func (p *Pages) showEvent(c *fiber.Ctx) error {
	o, basket, err := p.readTicketOrder(c, parseQuery(c))
	if err != nil || o == nil {
		return err
	}
	o.page.IsIndexable = true
	return p.show(c, fiber.StatusOK, o.page, view.Event(o.page, basket))
}

// parseQuery returns the query parameters of the request's URL. It leaves out parameters that cannot be parsed.
func parseQuery(c *fiber.Ctx) url.Values {
	values, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return values
}

// showTicketDetails shows the price and the form for the customer's details.
func (p *Pages) showTicketDetails(c *fiber.Ctx) error {
	o, basket, err := p.readTicketOrder(c, parseQuery(c))
	if err != nil || o == nil {
		return err
	}
	page := o.page
	switch isReduced := basket.Fit(); {
	case view.UnsoldReason(page, basket.Event) != "":
		return p.show(c, fiber.StatusOK, page, view.Event(page, basket))
	case isReduced:
		page.Notice = page.Words.Say("tickets_gone")
		return p.show(c, fiber.StatusConflict, page, view.Event(page, basket))
	case basket.Tickets() == 0:
		page.Notice = page.Words.Say("tickets_none")
		return p.show(c, fiber.StatusUnprocessableEntity, page, view.Event(page, basket))
	}
	return p.showEmptyForm(c, o)
}

// buyTickets buys the tickets for which the form was submitted.
func (p *Pages) buyTickets(c *fiber.Ctx) error {
	fields, err := web.Form(c)
	if err != nil {
		return err
	}
	o, basket, err := p.readTicketOrder(c, fields)
	if err != nil || o == nil {
		return err
	}
	key, err := p.readSubmission(c, o, fields)
	if err != nil || key == "" {
		return err
	}
	if isReduced := basket.Fit(); isReduced || basket.Tickets() == 0 {
		return p.showTicketsLeft(c, o, basket, isReduced)
	}
	return p.placeOrder(c, o, key)
}

// showTicketsLeft shows the form again because fewer tickets are left than the customer chose, or because the customer
// chose no ticket. The form now also asks for the numbers of tickets; the maximum of each number is the number of
// tickets that are left. The form keeps what the customer typed. The form gets a new token, because the next submission
// is a different order. The argument `isReduced` is true if the form now has fewer tickets than the customer chose.
func (p *Pages) showTicketsLeft(c *fiber.Ctx, o *order, basket *usecase.Basket, isReduced bool) error {
	page := o.page
	if view.UnsoldReason(page, basket.Event) != "" {
		return p.show(c, fiber.StatusConflict, page, view.Event(page, basket))
	}
	p.renewToken(o)
	if isReduced {
		return p.renderForm(c, o, fiber.StatusConflict, page.Words.Say("tickets_gone"), true)
	}
	return p.renderForm(c, o, fiber.StatusUnprocessableEntity, page.Words.Say("tickets_none"), true)
}
