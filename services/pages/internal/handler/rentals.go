package handler

import (
	"context"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// mountRentals adds the pages on which customers reserve rentals.
func (p *Pages) mountRentals(router fiber.Router) {
	router.Get("/b/:slug/rentals", p.rentals)
	router.Get("/b/:slug/rentals/:rental", p.rental)
	router.Get("/b/:slug/rentals/:rental/details", p.rentalDetails)
	router.Post("/b/:slug/rentals/:rental/details", p.reserve)
}

func (p *Pages) rentals(c *fiber.Ctx) error {
	page, err := p.page(c)
	if err != nil {
		return err
	}
	page.Found = true
	return p.listRentals(c, page, fiber.StatusOK, "")
}

// listRentals shows the list of rentals. The argument `notice` is a sentence for the visitor above the list, for
// example why a chosen rental is not available; if `notice` is "", the page shows no notice.
func (p *Pages) listRentals(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.Open() {
		return p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	rentals, err := p.shop.Rentals(c.UserContext(), page.Business.Offer.Slug, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Step, page.Notice = "rentals", notice
	return p.show(c, status, page, view.Rentals(page, rentals))
}

// reservation is the [item] that the customer reserves in an order for a rental.
type reservation struct{ *usecase.Reservation }

func (r reservation) taken() []uuid.UUID { return r.Taken() }

func (r reservation) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.PriceReservation(ctx, o.page.Business, r.Reservation)
}

func (r reservation) content(o *order, changing bool) view.Content {
	return view.RentalDetails(o.page, r.Reservation, o.form, changing)
}

func (r reservation) book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Booked, error) {
	return shop.Reserve(ctx, o.page.Business, r.Reservation, o.form.Details, key)
}

func (r reservation) refused(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	page := o.page
	switch {
	case fault.Is(cause, fault.RentalNotFound):
		return true, p.listRentals(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict), fault.Is(cause, fault.InvalidParameter):
		p.renew(o) // the next submission needs another idempotency key
		lacks, err := p.shop.Lacks(c.UserContext(), page.Business, r.Reservation, page.Words.Requested)
		if err != nil || lacks == "" {
			lacks = page.Words.Say("not_offered")
		}
		return true, p.askAgain(c, o, fiber.StatusConflict, lacks, true)
	}
	return false, nil
}

// rentalOf reads the rental in the path, and the time, units and extras of the reservation from the parameters in
// `wanted`. If the rental does not exist, or the business takes no bookings, rentalOf sends the response itself and
// returns a nil order.
func (p *Pages) rentalOf(c *fiber.Ctx, wanted url.Values) (*order, *usecase.Reservation, error) {
	page, err := p.open(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	id, err := uuid.Parse(c.Params("rental"))
	if err != nil {
		return nil, nil, p.listRentals(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	rental, err := p.shop.Rental(c.UserContext(), page.Business, page.Words.Requested, id)
	if fault.Is(err, fault.RentalNotFound) {
		return nil, nil, p.listRentals(c, page, fiber.StatusNotFound, page.Words.Say("not_offered"))
	}
	if err != nil {
		return nil, nil, err
	}
	page.Step = "rentals/" + rental.ID.String()
	r := usecase.ReadReservation(rental, page.Business.Offer.Location(), wanted)
	return newOrder(page, reservation{r}), r, nil
}

// rental shows the page of a rental, with the free days of a month.
func (p *Pages) rental(c *fiber.Ctx) error {
	o, wanted, err := p.rentalOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	o.page.Found = true
	return p.showRental(c, o.page, wanted, fiber.StatusOK, "")
}

// showRental shows the page of a rental, with the choices that the visitor has made so far. The argument `notice` is a
// sentence for the visitor at the top of the page; if `notice` is "", the page shows no notice.
func (p *Pages) showRental(c *fiber.Ctx, page *view.Page, wanted *usecase.Reservation, status int,
	notice string) error {
	free := view.RentalTimes{}
	if view.Unrented(page, wanted.Rental) == "" {
		var month *timespan.Date
		if first, err := timespan.ParseDate(c.Query("month") + "-01"); err == nil {
			month = &first
		}
		calendar, err := p.shop.RentalMonth(c.UserContext(), page.Business, wanted, month)
		if err != nil {
			return err
		}
		free.Calendar = calendar
		if calendar.Known && calendar.Day != nil {
			wanted.From = calendar.Day
			if free.Starts, free.Known, err = p.shop.RentalStarts(c.UserContext(), page.Business, wanted); err != nil {
				return err
			}
		}
	}
	page.Notice = notice
	return p.show(c, status, page, view.Rental(page, wanted, free))
}

// rentalDetails shows the price and the form for the customer's details.
func (p *Pages) rentalDetails(c *fiber.Ctx) error {
	o, wanted, err := p.rentalOf(c, query(c))
	if err != nil || o == nil {
		return err
	}
	page := o.page
	if view.Unrented(page, wanted.Rental) != "" || !wanted.Chosen() {
		return p.showRental(c, page, wanted, fiber.StatusOK, "")
	}
	lacks, err := p.shop.Lacks(c.UserContext(), page.Business, wanted, page.Words.Requested)
	switch {
	case fault.Is(err, fault.AvailabilityUnverified), fault.Is(err, fault.PeerUnavailable): // availability is unknown
		return p.showRental(c, page, wanted, fiber.StatusServiceUnavailable, page.Words.Say("unknown"))
	case err != nil:
		return err
	case lacks != "":
		return p.showRental(c, page, wanted, fiber.StatusConflict, lacks)
	}
	return p.begin(c, o)
}

// reserve makes the reservation for which the form was submitted.
func (p *Pages) reserve(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	o, wanted, err := p.rentalOf(c, typed)
	if err != nil || o == nil {
		return err
	}
	if view.Unrented(o.page, wanted.Rental) != "" || !wanted.Chosen() {
		return p.showRental(c, o.page, wanted, fiber.StatusUnprocessableEntity, "")
	}
	key, err := p.sent(c, o, typed)
	if err != nil || key == "" {
		return err
	}
	return p.place(c, o, key)
}
