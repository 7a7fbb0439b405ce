package handler

import (
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// mountRentals adds the pages on which rentals are reserved.
func (p *Pages) mountRentals(router fiber.Router) {
	router.Get("/b/:slug/rentals", p.rentals)
	router.Get("/b/:slug/rentals/:rental", p.rental)
	router.Get("/b/:slug/rentals/:rental/details", p.rentalDetails)
	router.Post("/b/:slug/rentals/:rental/details", p.reserve)
}

// rentals shows what is rented out.
func (p *Pages) rentals(c *fiber.Ctx) error {
	page, err := p.page(c)
	if err != nil {
		return err
	}
	page.Found = true
	return p.listRentals(c, page, fiber.StatusOK, "")
}

// listRentals shows what is rented out, with a notice of why the visitor is here.
func (p *Pages) listRentals(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.Open() {
		return p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	rentals, err := p.shop.Rentals(c.UserContext(), page.Business.Offer.Slug, page.Words.Asked)
	if err != nil {
		return err
	}
	page.Step, page.Notice = "rentals", notice
	return p.show(c, status, page, view.Rentals(page, rentals))
}

// rentalOrder is a reservation on its way from a rental's page to the customer.
type rentalOrder struct {
	page   *view.Page
	wanted *usecase.Reservation
	form   view.Form
}

// rentalOf reads the rental of the path with what is wanted of it. Where it is not there any more, or nothing can be reserved, it has
// answered already, and the order is nil.
func (p *Pages) rentalOf(c *fiber.Ctx, wanted url.Values) (*rentalOrder, error) {
	page, err := p.page(c)
	if err != nil {
		return nil, err
	}
	if !page.Business.Open() {
		return nil, p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	id, err := uuid.Parse(c.Params("rental"))
	if err != nil {
		return nil, p.listRentals(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	rental, err := p.shop.Rental(c.UserContext(), page.Business, page.Words.Asked, id)
	if fault.Is(err, fault.RentalNotFound) {
		return nil, p.listRentals(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	if err != nil {
		return nil, err
	}
	page.Step = "rentals/" + rental.ID.String()
	return &rentalOrder{
		page: page, wanted: usecase.ReadReservation(rental, wanted), form: view.Form{Details: newcomer(page)},
	}, nil
}

// rental shows a rental with a month of what is free.
func (p *Pages) rental(c *fiber.Ctx) error {
	o, err := p.rentalOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	o.page.Found = true
	return p.showRental(c, o, fiber.StatusOK, "")
}

// showRental shows a rental with what is chosen of it, and a notice of why the visitor is here.
func (p *Pages) showRental(c *fiber.Ctx, o *rentalOrder, status int, notice string) error {
	free := view.RentalTimes{}
	if view.Unrented(o.page, o.wanted.Rental) == "" {
		var month *timespan.Date
		if first, err := timespan.ParseDate(c.Query("month") + "-01"); err == nil {
			month = &first
		}
		calendar, err := p.shop.RentalMonth(c.UserContext(), o.page.Business, o.wanted, month)
		if err != nil {
			return err
		}
		free.Calendar = calendar
		if calendar.Known && calendar.Day != nil {
			o.wanted.From = calendar.Day
			if free.Starts, free.Known, err = p.shop.RentalStarts(c.UserContext(), o.page.Business, o.wanted); err != nil {
				return err
			}
		}
	}
	o.page.Notice = notice
	return p.show(c, status, o.page, view.Rental(o.page, o.wanted, free))
}

// rentalDetails asks who reserves, beside what it costs.
func (p *Pages) rentalDetails(c *fiber.Ctx) error {
	o, err := p.rentalOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	if view.Unrented(o.page, o.wanted.Rental) != "" || !o.wanted.Chosen() {
		return p.showRental(c, o, fiber.StatusOK, "")
	}
	lacks, err := p.shop.Lacks(c.UserContext(), o.page.Business, o.wanted, o.page.Words.Asked)
	switch {
	case unknowable(err):
		return p.showRental(c, o, fiber.StatusServiceUnavailable, o.page.Words.Say("unknown"))
	case err != nil:
		return err
	case lacks != "":
		return p.showRental(c, o, fiber.StatusConflict, lacks)
	}
	o.form.Token = p.forms.token(o.page.Business.Offer.Slug)
	return p.askRenter(c, o, fiber.StatusOK, "", false)
}

// unknowable reports whether what is free could not be told.
func unknowable(err error) bool {
	return fault.Is(err, fault.AvailabilityUnverified) || fault.Is(err, fault.PeerUnavailable)
}

// askRenter shows the form with all that was typed; changing shows what is wanted as fields, too.
func (p *Pages) askRenter(c *fiber.Ctx, o *rentalOrder, status int, notice string, changing bool) error {
	price, err := p.shop.PriceReservation(c.UserContext(), o.page.Business, o.wanted)
	if err != nil {
		return err
	}
	o.form.Price, o.page.Notice = price, notice
	return p.show(c, status, o.page, view.RentalDetails(o.page, o.wanted, o.form, changing))
}

// reserve reserves what the form asks for, once, and leads to the customer's own page of it.
func (p *Pages) reserve(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	o, err := p.rentalOf(c, typed)
	if err != nil || o == nil {
		return err
	}
	if view.Unrented(o.page, o.wanted.Rental) != "" || !o.wanted.Chosen() {
		return p.showRental(c, o, fiber.StatusUnprocessableEntity, "")
	}
	words, slug := o.page.Words, o.page.Business.Offer.Slug
	key := p.typedBy(o.page, &o.form, typed, o.wanted.Taken()...)
	if key == "" {
		o.form.Token = p.forms.token(slug)
		return p.askRenter(c, o, fiber.StatusUnprocessableEntity, words.Say("expired"), false)
	}
	if o.form.Wrong = o.page.Business.Check(&o.form.Details, o.wanted.Taken()...); len(o.form.Wrong) > 0 {
		return p.askRenter(c, o, fiber.StatusUnprocessableEntity, words.Say("check"), false)
	}
	price, err := p.shop.PriceReservation(c.UserContext(), o.page.Business, o.wanted)
	if err != nil {
		return p.refuseRental(c, o, err)
	}
	if changed(typed, price) {
		return p.askRenter(c, o, fiber.StatusConflict, words.With("price_changed", "Price", words.Amount(price.Total.String(), o.page.Business.Offer.Currency)), false)
	}
	o.form.Price = price
	booked, err := p.shop.Reserve(c.UserContext(), o.page.Business, o.wanted, o.form.Details, key)
	if err != nil {
		return p.refuseRental(c, o, err)
	}
	return p.booked(c, booked)
}

// refuseRental shows why nothing was reserved, with what can be done about it.
func (p *Pages) refuseRental(c *fiber.Ctx, o *rentalOrder, cause error) error {
	page := o.page
	switch {
	case fault.Is(cause, fault.RentalNotFound):
		return p.listRentals(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict), fault.Is(cause, fault.InvalidParameter):
		o.form.Token = p.forms.token(page.Business.Offer.Slug) // what is reserved then is another reservation
		lacks, err := p.shop.Lacks(c.UserContext(), page.Business, o.wanted, page.Words.Asked)
		if err != nil || lacks == "" {
			lacks = page.Words.Say("not_offered")
		}
		return p.askRenter(c, o, fiber.StatusConflict, lacks, true)
	}
	if closing(cause) {
		return p.closed(c, page, func(notice string) error { return p.askRenter(c, o, fiber.StatusServiceUnavailable, notice, false) })
	}
	status, notice := p.refused(page, &o.form, cause)
	if status == 0 {
		return cause
	}
	return p.askRenter(c, o, status, notice, false)
}
