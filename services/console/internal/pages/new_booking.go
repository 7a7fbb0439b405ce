package pages

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// askBooking shows the booking form. The query parameters of the request may preset inputs of the form, such as the
// service and the date.
func (p *Pages) askBooking(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceNew)
	if err != nil {
		return err
	}
	bookingForm := view.BookingForm{
		Service: c.Query("service"), Session: c.Query("session"), Date: cmp.Or(c.Query("date"),
			page.Business.Today(page.Now).String()), Time: c.Query("time"), Staff: c.Query("staff"),
		Name: c.Query("name"), Email: c.Query("email"), Phone: c.Query("phone"), Location: c.Query("location"),
		People: 1, Override: c.Query("override") == "yes", Key: rand.Text(), IsWalkIn: c.Query("walk_in") == "yes",
		Query: strings.TrimSpace(c.Query("query")),
	}
	if bookingForm.IsWalkIn && bookingForm.Time == "" {
		now := page.Now.In(page.Business.Location())
		bookingForm.Time = now.Truncate(walkInStep).Format("15:04")
	}
	return p.showBookingForm(c, fiber.StatusOK, page, bookingForm)
}

// walkInStep is the step to which the start of a walk-in is rounded down.
const walkInStep = 5 * time.Minute

// showBookingForm shows the booking form with the nearest free starts, the customers that a search has found, and the
// history of a known customer.
func (p *Pages) showBookingForm(c *fiber.Ctx, status int, page *view.Page, b view.BookingForm) error {
	by, slug := authorize.Principal(c), page.Business.Slug
	b.Service = cmp.Or(b.Service, view.FirstService(page))
	asks := []func() error{func() error {
		var err error
		b.Starts, err = p.rooms.Sales.FindNextStarts(c.UserContext(), page.Business, sales.WantedStart{
			Service: b.Service, Staff: b.Staff, Location: cmp.Or(b.Location, view.DefaultLocation(page, b.Service)),
			People: b.People, From: page.Business.Today(page.Now),
		})
		return err
	}}
	if b.Query != "" && page.CanSearch {
		asks = append(asks, func() error {
			found, err := p.rooms.Sales.Search(c.UserContext(), by, page.Business, b.Query)
			if err == nil {
				b.Found = listCandidates(found)
			}
			return err
		})
	}
	if b.Email != "" && page.May(access.SeeCustomers) && b.FieldErrors["email"] == "" {
		asks = append(asks, func() error {
			known, err := p.rooms.Sales.LoadCustomer(c.UserContext(), slug, b.Email)
			if fault.Is(err, fault.InvalidParameter) {
				return nil
			}
			b.Known = known
			return err
		})
	}
	if err := peers.RunTogether(asks...); err != nil {
		return err
	}
	return p.render(c, status, page, view.NewBooking(page, b))
}

// listCandidates returns the customers that a search has found, and the customers without an e-mail address of the
// bookings that it has found.
func listCandidates(found *sales.SearchResults) []view.Candidate {
	var all []view.Candidate
	for _, c := range found.Customers.List {
		all = append(all, view.Candidate{Name: cmp.Or(c.Name, c.Email, c.Key), Email: c.Email, Phone: deref(c.Phone)})
	}
	for _, b := range found.Bookings.List {
		one := view.Candidate{Name: b.CustomerName, Email: b.CustomerEmail, Phone: deref(b.CustomerPhone)}
		isKnown := slices.ContainsFunc(all, func(c view.Candidate) bool {
			return c == one || c.Email != "" && c.Email == one.Email ||
				c.Email == "" && one.Email == "" && customer.Key(c.Phone) == customer.Key(one.Phone)
		})
		if one.Name != "" && !isKnown {
			all = append(all, one)
		}
	}
	return all
}

// searchCustomer handles the customer search of the booking form. It redirects to the form with the found customers.
func (p *Pages) searchCustomer(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	sealQuery(c, form)
	return c.Redirect(view.Path(slug)+"/bookings/new?"+form.Encode(), fiber.StatusSeeOther)
}

// book makes a booking for a customer. The form has an Idempotency-Key, so that sending the form twice makes only one
// booking.
func (p *Pages) book(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceNew)
	if err != nil {
		return err
	}
	bookingForm := parseBooking(form)
	if bookingForm.IsWalkIn {
		bookingForm.Name = page.Words.Say("new_walk_in")
	}
	if form.Has("start") { // the person has chosen a free start, or wants those of another service
		bookingForm.Session = ""
		if date, start, ok := strings.Cut(form.Get("start"), " "); ok {
			bookingForm.Date, bookingForm.Time = date, start
		}
		return p.showBookingForm(c, fiber.StatusOK, page, bookingForm)
	}
	if bookingForm.FieldErrors = checkBooking(page, bookingForm); len(bookingForm.FieldErrors) > 0 {
		page.ErrorText = page.Words.Say("check")
		return p.showBookingForm(c, fiber.StatusUnprocessableEntity, page, bookingForm)
	}
	ctx := idempotency.With(withNotification(c, form), idempotency.Request{Key: bookingForm.Key})
	booked, err := p.createBooking(ctx, c, page.Business, bookingForm)
	if err == nil {
		return redirectBack(c, page.Business.Slug, "bookings/"+booked.ID.String()+"?back=today", "done",
			chooseNotice("booked", booked))
	}
	status, ok := prepareRefusedForm(page, err, &bookingForm.FieldErrors)
	if !ok {
		return err
	}
	bookingForm.IsRefused = slices.Contains(startRefusals, fault.KindOf(err))
	bookingForm.Key = rand.Text() // the corrected booking differs from the refused one, so it needs a new key
	if fault.Is(err, fault.OutcomeUnknown) || fault.Is(err, fault.IdempotencyInProgress) {
		bookingForm.Key = form.Get("key")
	}
	return p.showBookingForm(c, status, page, bookingForm)
}

// startRefusals lists the codes of faults that mean that a start cannot be booked. If a booking is refused with one of
// these codes, the form links to the page that explains the reason.
var startRefusals = []fault.Kind{
	fault.SlotUnavailable, fault.NoStaffAvailable, fault.DateInPast, fault.Closed, fault.NotAStart, fault.StaffNotFound,
	fault.ServiceNotFound, fault.NotAcceptingBookings, fault.SubscriptionInactive, fault.AccountClosing,
}

func parseBooking(form url.Values) view.BookingForm {
	people, err := strconv.Atoi(form.Get("people"))
	if err != nil {
		people = 0
	}
	return view.BookingForm{
		Service: form.Get("service"), Session: form.Get("session"), Date: form.Get("date"), Time: form.Get("time"),
		Staff: form.Get("staff"), People: people,
		Name: strings.TrimSpace(form.Get("name")), Email: strings.TrimSpace(form.Get("email")),
		Phone:    strings.TrimSpace(form.Get("phone")),
		Location: form.Get("location"), Address: parseAddress(form),
		Override: form.Get("override") == "yes", Key: form.Get("key"), IsSilent: isSilent(form),
		IsWalkIn: form.Get("walk_in") == "yes",
	}
}

// checkBooking returns a map from the name of each invalid input to its error message. It checks only the rules that
// need no request to another service; the booking service checks the other rules.
func checkBooking(page *view.Page, b view.BookingForm) map[string]string {
	wrong := map[string]string{}
	for field, value := range map[string]string{"service": b.Service, "date": b.Date, "time": b.Time, "name": b.Name} {
		if value == "" {
			wrong[field] = page.Words.Say("fill")
		}
	}
	if b.Email != "" && !email.Valid(b.Email) {
		wrong["email"] = page.Words.Say("email_wrong")
	}
	if b.Phone != "" && !phone.Valid(b.Phone) {
		wrong["phone"] = page.Words.Say("phone_wrong")
	}
	if b.People < 1 {
		wrong["people"] = page.Words.Say("check_field")
	}
	return wrong
}

func (p *Pages) createBooking(ctx context.Context, c *fiber.Ctx, business *catalog.Snapshot,
	bookingForm view.BookingForm) (*booking.Booking, error) {
	service, variant, varied := strings.Cut(bookingForm.Service, ":")
	newBooking := booking.NewBooking{
		ServiceIDs: []string{service}, Date: bookingForm.Date, Time: bookingForm.Time, CustomerName: bookingForm.Name,
		CustomerEmail: bookingForm.Email,
		PartySize:     &bookingForm.People, Override: bookingForm.Override,
	}
	if varied {
		newBooking.Variants = []string{service + ":" + variant}
	}
	if bookingForm.Phone != "" {
		newBooking.CustomerPhone = &bookingForm.Phone
	}
	if bookingForm.Session != "" {
		newBooking.ClassScheduleID = &bookingForm.Session
	}
	if bookingForm.Staff != "" {
		newBooking.StaffID = &bookingForm.Staff
	}
	if bookingForm.Location != "" {
		newBooking.LocationID = &bookingForm.Location
	}
	if bookingForm.Address != (booking.CustomerAddress{}) {
		newBooking.CustomerAddress = &bookingForm.Address
	}
	if business.Payments.Modes.Services == catalog.ModeCustomerChoice {
		choice := catalog.ModeAtDoor
		newBooking.PaymentChoice = &choice
	}
	return p.rooms.Sales.Book(ctx, authorize.Principal(c), business.Slug, newBooking)
}
