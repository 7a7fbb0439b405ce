package handler

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// appointment is the [item] that the customer books in an order for services.
type appointment struct{ *usecase.Appointment }

func (a *appointment) taken() []uuid.UUID { return a.Selection.Services }

func (a *appointment) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.Price(ctx, o.page.Business, a.Appointment, o.form.Details.People)
}

func (a *appointment) content(o *order, _ bool) view.Content {
	return view.Details(o.page, a.Appointment, o.form)
}

func (a *appointment) book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Booked, error) {
	return shop.Book(ctx, o.page.Business, a.Appointment, o.form.Details, key)
}

func (a *appointment) refused(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	switch {
	case fault.RefusesStart(cause):
		o.form.Nearest = p.shop.Nearest(c.UserContext(), o.page.Business, a.Appointment)
		return true, p.ask(c, o, fiber.StatusConflict, o.page.Words.Say("taken"))
	case fault.Is(cause, fault.ServiceNotFound):
		return true, p.offered(c, o.page, o.page.Words.Say("not_offered"))
	}
	return false, nil
}

// start reads the chosen services, the chosen start and the number of people. If no start is chosen yet, start
// redirects to the step in which the visitor chooses a start. The returned order is nil if start has sent the response
// itself.
func (p *Pages) start(c *fiber.Ctx, typed url.Values) (*order, *appointment, error) {
	page, chosen, err := p.chosen(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	if chosen.Date == nil || chosen.Time == nil || chosen.Staff == "" {
		return nil, nil, c.Redirect(string(page.Link("who", chosen.Selection)), fiber.StatusSeeOther)
	}
	names, err := p.shop.Names(c.UserContext(), page.Business.Offer.Slug, page.Words.Requested)
	if err != nil {
		return nil, nil, err
	}
	a := &appointment{chosen}
	o := newOrder(page, a)
	o.form.Names = names
	if people, err := strconv.Atoi(typed.Get("people")); err == nil && people >= 1 &&
		people <= view.MostPeople(chosen) {
		o.form.Details.People = people
	}
	return o, a, nil
}

// details shows the price and the form for the customer's details.
func (p *Pages) details(c *fiber.Ctx) error {
	o, _, err := p.start(c, nil)
	if err != nil || o == nil {
		return err
	}
	return p.begin(c, o)
}

// book books the appointment for which the form was submitted.
func (p *Pages) book(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	o, a, err := p.start(c, typed)
	if err != nil || o == nil {
		return err
	}
	key, err := p.sent(c, o, typed)
	if err != nil || key == "" {
		return err
	}
	if pick := typed.Get("pick"); pick != "" { // the first start was taken; the customer chose another
		return p.pick(c, o, a, pick)
	}
	return p.place(c, o, key)
}

// pick shows the form again after the customer chose another start. The form keeps what the customer typed.
func (p *Pages) pick(c *fiber.Ctx, o *order, a *appointment, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	selection, err := usecase.ReadSelection(values)
	if err != nil {
		return err
	}
	if a.Appointment, err = o.page.Business.Appointment(selection); err != nil || a.Date == nil || a.Time == nil {
		return fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	p.renew(o) // this booking needs another idempotency key than the refused one
	return p.ask(c, o, fiber.StatusOK, "")
}
