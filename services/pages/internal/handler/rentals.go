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
	router.Get("/b/:slug/rentals", p.showRentals)
	router.Get("/b/:slug/rentals/:rental", p.showRental)
	router.Get("/b/:slug/rentals/:rental/details", p.showRentalDetails)
	router.Post("/b/:slug/rentals/:rental/details", p.reserve)
}

func (p *Pages) showRentals(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	page.IsIndexable = true
	return p.listRentals(c, page, fiber.StatusOK, "")
}

// listRentals shows the list of rentals. The argument `notice` is a sentence for the visitor above the list, for
// example why a chosen rental is not available. If `notice` is "", the page shows no sentence.
func (p *Pages) listRentals(c *fiber.Ctx, page *view.Page, status int, notice string) error {
	if !page.Business.IsOpen() {
		return p.show(c, fiber.StatusOK, page, view.ClosedPage(page))
	}
	rentals, err := p.shop.Rentals(c.UserContext(), page.Business.Snapshot.Slug, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Subpath, page.Notice = "rentals", notice
	return p.show(c, status, page, view.Rentals(page, rentals))
}

// reservation is the [item] that the customer reserves in an order for a rental.
type reservation struct{ *usecase.Reservation }

func (r reservation) itemIDs() []uuid.UUID { return r.RentalIDs() }

func (r reservation) price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error) {
	return shop.PriceReservation(ctx, o.page.Business, r.Reservation)
}

func (r reservation) formContent(o *order, hasQuantities bool) view.Content {
	return view.RentalDetails(o.page, r.Reservation, o.form, hasQuantities)
}

func (r reservation) book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Confirmation, error) {
	return shop.Reserve(ctx, o.page.Business, r.Reservation, o.form.Details, key)
}

func (r reservation) handleRefusal(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error) {
	page := o.page
	switch {
	case fault.Is(cause, fault.RentalNotFound):
		return true, p.listRentals(c, page, fiber.StatusConflict, page.Words.Say("not_offered"))
	case fault.Is(cause, fault.Conflict), fault.Is(cause, fault.InvalidParameter):
		p.renewToken(o) // the next submission needs another idempotency key
		conflict, err := p.shop.FindConflict(c.UserContext(), page.Business, r.Reservation, page.Words.Requested)
		if err != nil || conflict == "" {
			conflict = page.Words.Say("not_offered")
		}
		return true, p.renderForm(c, o, fiber.StatusConflict, conflict, true)
	}
	return false, nil
}

// readRentalOrder reads the rental that the path names, and the time, units and extras of the reservation from the
// parameters in `params`. If the rental does not exist, or the business takes no bookings, readRentalOrder sends the
// response itself and returns a nil order.
func (p *Pages) readRentalOrder(c *fiber.Ctx, params url.Values) (*order, *usecase.Reservation, error) {
	page, err := p.loadOpenPage(c)
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
	page.Subpath = "rentals/" + rental.ID.String()
	r := usecase.ReadReservation(rental, page.Business.Snapshot.Location(), params)
	return newOrder(page, reservation{r}), r, nil
}

// showRental shows the page of a rental, with the free days of a month.
func (p *Pages) showRental(c *fiber.Ctx) error {
	o, choice, err := p.readRentalOrder(c, parseQuery(c))
	if err != nil || o == nil {
		return err
	}
	o.page.IsIndexable = true
	return p.renderRental(c, o.page, choice, fiber.StatusOK, "")
}

// renderRental shows the page of a rental, with the choices that the visitor has made so far. The argument `notice` is
// a sentence for the visitor at the top of the page; if `notice` is "", the page shows no notice.
func (p *Pages) renderRental(c *fiber.Ctx, page *view.Page, choice *usecase.Reservation, status int,
	notice string) error {
	times := view.RentalTimes{}
	if view.UnrentedReason(page, choice.Rental) == "" {
		var month *timespan.Date
		if first, err := timespan.ParseDate(c.Query("month") + "-01"); err == nil {
			month = &first
		}
		calendar, err := p.shop.RentalMonth(c.UserContext(), page.Business, choice, month)
		if err != nil {
			return err
		}
		times.Calendar = calendar
		if calendar.IsKnown && calendar.Day != nil {
			choice.From = calendar.Day
			if times.Starts, times.IsKnown, err = p.shop.RentalStarts(c.UserContext(), page.Business,
				choice); err != nil {
				return err
			}
		}
	}
	page.Notice = notice
	return p.show(c, status, page, view.Rental(page, choice, times))
}

// showRentalDetails shows the price and the form for the customer's details.
func (p *Pages) showRentalDetails(c *fiber.Ctx) error {
	o, choice, err := p.readRentalOrder(c, parseQuery(c))
	if err != nil || o == nil {
		return err
	}
	page := o.page
	if view.UnrentedReason(page, choice.Rental) != "" || !choice.IsComplete() {
		return p.renderRental(c, page, choice, fiber.StatusOK, "")
	}
	conflict, err := p.shop.FindConflict(c.UserContext(), page.Business, choice, page.Words.Requested)
	switch {
	case fault.Is(err, fault.AvailabilityUnverified), fault.Is(err, fault.PeerUnavailable): // availability is unknown
		return p.renderRental(c, page, choice, fiber.StatusServiceUnavailable, page.Words.Say("unknown"))
	case err != nil:
		return err
	case conflict != "":
		return p.renderRental(c, page, choice, fiber.StatusConflict, conflict)
	}
	return p.showEmptyForm(c, o)
}

// reserve makes the reservation for which the form was submitted.
func (p *Pages) reserve(c *fiber.Ctx) error {
	fields, err := web.Form(c)
	if err != nil {
		return err
	}
	o, choice, err := p.readRentalOrder(c, fields)
	if err != nil || o == nil {
		return err
	}
	if view.UnrentedReason(o.page, choice.Rental) != "" || !choice.IsComplete() {
		return p.renderRental(c, o.page, choice, fiber.StatusUnprocessableEntity, "")
	}
	key, err := p.readSubmission(c, o, fields)
	if err != nil || key == "" {
		return err
	}
	return p.placeOrder(c, o, key)
}
