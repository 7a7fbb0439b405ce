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

func (a *appointment) itemIDs() []uuid.UUID { return a.Selection.Services }

func (a *appointment) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.Price(ctx, o.page.Business, a.Appointment, o.form.Details.People)
}

func (a *appointment) formContent(o *order, _ bool) view.Content {
	return view.DetailsForm(o.page, a.Appointment, o.form)
}

func (a *appointment) book(ctx context.Context, shop *usecase.Shop, o *order,
	key string) (usecase.Confirmation, error) {
	return shop.Book(ctx, o.page.Business, a.Appointment, o.form.Details, key)
}

func (a *appointment) handleRefusal(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	switch {
	case fault.RefusesStart(cause):
		o.form.Nearest = p.shop.Nearest(c.UserContext(), o.page.Business, a.Appointment)
		return true, p.showForm(c, o, fiber.StatusConflict, view.TakenNotice(o.page, a.Appointment))
	case fault.Is(cause, fault.ServiceNotFound):
		return true, p.listServices(c, o.page, o.page.Words.Say("not_offered"))
	}
	return false, nil
}

// readAppointmentOrder reads the chosen services, the chosen start and the number of people. If no start is chosen yet,
// it redirects to the step in which the visitor chooses a start. The returned order is nil if readAppointmentOrder has
// sent the response itself.
func (p *Pages) readAppointmentOrder(c *fiber.Ctx, fields url.Values) (*order, *appointment, error) {
	page, choice, err := p.loadAppointment(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	if choice.Date == nil || choice.Time == nil {
		return nil, nil, c.Redirect(string(page.SelectionURL("when", choice.Selection)), fiber.StatusSeeOther)
	}
	names, err := p.shop.Names(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested)
	if err != nil {
		return nil, nil, err
	}
	a := &appointment{choice}
	o := newOrder(page, a)
	o.form.Names, o.form.Details.NeedsPhone = names, choice.NeedsPhone()
	o.form.Details.AddressAt = choice.AddressPlace()
	if o.form.Details.AddressAt != nil {
		o.form.Details.Address.Country = page.Business.Country()
	}
	if people, err := strconv.Atoi(fields.Get("people")); err == nil && people >= 1 &&
		people <= view.MaxPeople(choice) {
		o.form.Details.People = people
	}
	return o, a, nil
}

// showDetails shows the price and the form for the customer's details.
func (p *Pages) showDetails(c *fiber.Ctx) error {
	o, _, err := p.readAppointmentOrder(c, nil)
	if err != nil || o == nil {
		return err
	}
	return p.showEmptyForm(c, o)
}

// bookAppointment books the appointment for which the form was submitted.
func (p *Pages) bookAppointment(c *fiber.Ctx) error {
	fields, err := web.Form(c)
	if err != nil {
		return err
	}
	o, a, err := p.readAppointmentOrder(c, fields)
	if err != nil || o == nil {
		return err
	}
	key, err := p.readSubmission(c, o, fields)
	if err != nil || key == "" {
		return err
	}
	if startQuery := fields.Get("pick"); startQuery != "" { // the first start was taken; the customer chose another
		return p.pickStart(c, o, a, startQuery)
	}
	return p.placeOrder(c, o, key)
}

// pickStart shows the form again after the customer has chosen another start. The form keeps what the customer typed.
func (p *Pages) pickStart(c *fiber.Ctx, o *order, a *appointment, startQuery string) error {
	values, err := url.ParseQuery(startQuery)
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
	p.renewToken(o) // the new booking must not use the key of the refused booking
	return p.showForm(c, o, fiber.StatusOK, "")
}
