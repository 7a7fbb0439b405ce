package pages

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountRentals adds the routes of the pages about rentals and their reservations.
func (p *Pages) mountRentals(business *authorize.Router) {
	business.Get("/rentals", access.SeeSales, p.showRentals)
	business.Get("/rentals/reservations.csv", access.RefundSales, p.exportReservations)
	business.Get("/rentals/new", access.Sell, p.askReserve)
	business.Post("/rentals/new", access.Sell, p.reserve)
	business.Post("/reservations/:id/"+rental.TransitionPickup, access.Sell,
		p.newReservationHandler(rental.TransitionPickup))
	business.Post("/reservations/:id/"+rental.TransitionReturn, access.Sell,
		p.newReservationHandler(rental.TransitionReturn))
	p.mountOrders(business, "/reservations", access.Sell, access.RefundSales, p.findReservationOrder)
}

// showRentals shows the reservations that are picked up or due for pickup. It also shows the free units on 14 days. The
// query parameter `from` is the first of these days.
func (p *Pages) showRentals(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceRentals)
	if err != nil {
		return err
	}
	date, _, err := server.Query(c).OptionalDates("from", "to")
	if err != nil {
		return err
	}
	from := page.Business.Today(page.Now)
	if date != nil {
		from = *date
	}
	rentalOverview, err := p.rooms.Sales.LoadRentalOverview(c.UserContext(), authorize.Principal(c), page.Business,
		from)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Rentals(page, rentalOverview))
}

// newReservationHandler returns the handler that changes the status of a reservation. The argument `transition` is the
// name of the transition.
func (p *Pages) newReservationHandler(transition string) fiber.Handler {
	return p.newButtonHandler(transition, func(c *fiber.Ctx, slug string, id uuid.UUID) error {
		_, err := p.rooms.Sales.TransitionReservation(c.UserContext(), authorize.Principal(c), slug, id, transition)
		return err
	})
}

// askReserve shows the reservation form. The query parameters of the request may preset the rental and the date.
func (p *Pages) askReserve(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceRentals)
	if err != nil {
		return err
	}
	date := cmp.Or(c.Query("date"), page.Business.Today(page.Now).String())
	return p.render(c, fiber.StatusOK, page,
		view.Reserve(page, view.ReservationForm{Rental: c.Query("rental"), Start: date,
			End: date, Quantity: "1", Key: rand.Text()}))
}

// reserve reserves units of a rental for a customer. The form has an Idempotency-Key, so that sending the form twice
// makes only one reservation.
func (p *Pages) reserve(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceRentals)
	if err != nil {
		return err
	}
	reservationForm, newReservation := parseReservation(page, form)
	if len(reservationForm.FieldErrors) > 0 {
		page.ErrorText = page.Words.Say("check")
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.Reserve(page, reservationForm))
	}
	ctx := idempotency.With(c.UserContext(), idempotency.Request{Key: reservationForm.Key})
	reservation, err := p.rooms.Sales.Reserve(ctx, authorize.Principal(c), page.Business.Slug, newReservation)
	if err == nil && len(reservation.Warnings) > 0 {
		return redirectBack(c, page.Business.Slug, "rentals", "done", "reserved_outside")
	}
	if err == nil {
		return redirectBack(c, page.Business.Slug, "rentals", "done", "reserved")
	}
	status := fault.KindOf(err).Status
	if fault.Is(err, fault.Conflict) {
		page.ErrorText, reservationForm.FieldErrors = page.Words.Say("check"),
			map[string]string{"quantity": page.Words.Say("units_lacking")}
	} else {
		var ok bool
		if status, ok = prepareRefusedForm(page, err, &reservationForm.FieldErrors); !ok {
			return err
		}
	}
	if !fault.Is(err, fault.OutcomeUnknown) && !fault.Is(err, fault.IdempotencyInProgress) {
		// The corrected reservation differs from the refused one, so it needs a new Idempotency-Key.
		reservationForm.Key = rand.Text()
	}
	return p.render(c, status, page, view.Reserve(page, reservationForm))
}

// parseReservation reads a reservation from the form. It checks only the rules that need no request to another service;
// the rental service checks the other rules.
func parseReservation(page *view.Page, form url.Values) (view.ReservationForm, rental.NewReservation) {
	reservationForm := view.ReservationForm{
		Rental: form.Get("rental"), Start: form.Get("start"), End: form.Get("end"), StartTime: form.Get("start_time"),
		EndTime:  form.Get("end_time"),
		Quantity: strings.TrimSpace(form.Get("quantity")), Name: strings.TrimSpace(form.Get("name")),
		Email: strings.TrimSpace(form.Get("email")),
		Key:   form.Get("key"), FieldErrors: map[string]string{},
	}
	newReservation := rental.NewReservation{RentalID: reservationForm.Rental, StartDate: reservationForm.Start,
		EndDate:      reservationForm.End,
		CustomerName: reservationForm.Name}
	for field, value := range map[string]string{"rental": reservationForm.Rental, "start": reservationForm.Start,
		"end":  reservationForm.End,
		"name": reservationForm.Name} {
		if value == "" {
			reservationForm.FieldErrors[field] = page.Words.Say("fill")
		}
	}
	for value, into := range map[*string]**string{&reservationForm.StartTime: &newReservation.StartTime,
		&reservationForm.EndTime: &newReservation.EndTime,
		&reservationForm.Email:   &newReservation.CustomerEmail} {
		if *value != "" {
			*into = value
		}
	}
	n, err := strconv.Atoi(reservationForm.Quantity)
	if newReservation.Quantity = n; err != nil || n < 1 {
		reservationForm.FieldErrors["quantity"] = page.Words.Say("check_field")
	}
	if reservationForm.Email != "" && !email.Valid(reservationForm.Email) {
		reservationForm.FieldErrors["email"] = page.Words.Say("email_wrong")
	}
	return reservationForm, newReservation
}
