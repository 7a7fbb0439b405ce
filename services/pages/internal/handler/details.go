package handler

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// sent is a form of details on its way through the checks.
type sent struct {
	page        *view.Page
	appointment *usecase.Appointment
	form        view.Form
	typed       url.Values
}

// start reads what was chosen; where no start is, it leads back to the choice of one. Where it has answered already, it returns nil.
func (p *Pages) start(c *fiber.Ctx) (*sent, error) {
	page, a, err := p.chosen(c)
	if err != nil || page == nil {
		return nil, err
	}
	if a.Date == nil || a.Time == nil || a.Staff == "" {
		return nil, c.Redirect(string(page.Link("who", a.Selection)), fiber.StatusSeeOther)
	}
	names, err := p.shop.Names(c.UserContext(), page.Business.Offer.Slug, page.Words.Asked)
	if err != nil {
		return nil, err
	}
	return &sent{page: page, appointment: a, form: view.Form{
		Names: names, Details: newcomer(page),
	}}, nil
}

// details asks who books, beside what it costs.
func (p *Pages) details(c *fiber.Ctx) error {
	s, err := p.start(c)
	if err != nil || s == nil {
		return err
	}
	s.form.Token = p.forms.token(s.page.Business.Offer.Slug)
	return p.ask(c, s, fiber.StatusOK, "")
}

// ask shows the form with all that was typed.
func (p *Pages) ask(c *fiber.Ctx, s *sent, status int, notice string) error {
	price, err := p.shop.Price(c.UserContext(), s.page.Business, s.appointment, s.form.Details.People)
	if err != nil {
		return err
	}
	s.form.Price, s.page.Notice = price, notice
	return p.show(c, status, s.page, view.Details(s.page, s.appointment, s.form))
}

// trap is a field that people do not see, and programs fill in.
const trap = "website"

// book books what the form asks for, once, and leads to the payment, or to the customer's own page of it.
func (p *Pages) book(c *fiber.Ctx) error {
	typed, err := web.Form(c)
	if err != nil {
		return err
	}
	s, err := p.start(c)
	if err != nil || s == nil {
		return err
	}
	s.typed = typed
	slug, words := s.page.Business.Offer.Slug, s.page.Words
	s.read()
	key := p.forms.read(slug, typed.Get("token"))
	s.form.Token = typed.Get("token")
	if key == "" || typed.Get(trap) != "" {
		s.form.Token = p.forms.token(slug)
		return p.ask(c, s, fiber.StatusUnprocessableEntity, words.Say("expired"))
	}
	if pick := typed.Get("pick"); pick != "" { // another start, after the one chosen was taken
		return p.pick(c, s, pick)
	}
	if s.form.Wrong = s.page.Business.Check(&s.form.Details, s.appointment.Selection.Services...); len(s.form.Wrong) > 0 {
		return p.ask(c, s, fiber.StatusUnprocessableEntity, words.Say("check"))
	}
	price, err := p.shop.Price(c.UserContext(), s.page.Business, s.appointment, s.form.Details.People)
	if err != nil {
		return p.refuse(c, s, err)
	}
	if changed(typed, price) {
		return p.ask(c, s, fiber.StatusConflict, words.With("price_changed", "Price", words.Amount(price.Total.String(), s.page.Business.Offer.Currency)))
	}
	s.form.Price = price
	booked, err := p.shop.Book(c.UserContext(), s.page.Business, s.appointment, s.form.Details, key)
	if err != nil {
		return p.refuse(c, s, err)
	}
	return p.booked(c, booked)
}

// booked leads to the payment, or to the customer's own page of what was booked.
func (p *Pages) booked(c *fiber.Ctx, booked usecase.Booked) error {
	// The provider's page cannot be shown in a frame: there the customer's page leads to it, in the whole window.
	if booked.Checkout != "" && c.Get("Sec-Fetch-Dest") != "iframe" {
		return c.Redirect(booked.Checkout, fiber.StatusSeeOther)
	}
	return c.Redirect(booked.Link+"?done=booked", fiber.StatusSeeOther)
}

// read takes over what was typed.
func (s *sent) read() {
	people, err := strconv.Atoi(s.typed.Get("people"))
	if err != nil || people < 1 || people > view.MostPeople(s.appointment) {
		people = 1
	}
	readDetails(s.page, &s.form, s.typed, s.appointment.Selection.Services...)
	s.form.Details.People = people
}

// readDetails takes over what was typed by who takes these services, events or rentals.
func readDetails(page *view.Page, form *view.Form, typed url.Values, taken ...uuid.UUID) {
	d := newcomer(page)
	d.Name, d.Email, d.Phone, d.Answers = typed.Get("name"), typed.Get("email"), typed.Get("phone"), map[string]any{}
	if chosen := typed.Get("language"); slices.Contains(page.Business.Offer.Languages, chosen) {
		d.Language = chosen
	}
	if typed.Get("pay") == usecase.PayOnline {
		d.Pay = usecase.PayOnline
	}
	consents := map[string]any{}
	for _, q := range page.Business.Offer.Questions(taken...) {
		value := typed.Get("q-" + q.Key)
		switch {
		case q.Consent:
			consents[q.Key] = value == "yes"
		case q.Type == catalog.QuestionCheckbox:
			d.Answers[q.Key] = value == "yes"
		default:
			d.Answers[q.Key] = value
		}
	}
	d.Answers[catalog.Consents] = consents
	form.Details, form.Typed = d, typed
}

// refuse shows why nothing was booked, with what can be done about it.
func (p *Pages) refuse(c *fiber.Ctx, s *sent, cause error) error {
	switch fault.Of(cause).Kind.Code {
	case fault.SlotUnavailable.Code, fault.NoStaffAvailable.Code:
		s.form.Nearest = p.shop.Nearest(c.UserContext(), s.page.Business, s.appointment)
		return p.ask(c, s, fiber.StatusConflict, s.page.Words.Say("taken"))
	case fault.ServiceNotFound.Code:
		return p.offered(c, s.page, s.page.Words.Say("not_offered"))
	}
	if closing(cause) {
		return p.closed(c, s.page, func(notice string) error { return p.ask(c, s, fiber.StatusServiceUnavailable, notice) })
	}
	status, notice := p.refused(s.page, &s.form, cause)
	if status == 0 {
		return cause
	}
	return p.ask(c, s, status, notice)
}

// closing reports whether something was refused as the business takes no bookings now.
func closing(cause error) bool {
	return fault.Is(cause, fault.NotAcceptingBookings) || fault.Is(cause, fault.SubscriptionInactive) || fault.Is(cause, fault.AccountClosing)
}

// closed says why the business takes no bookings, and until when, by its newest offer. Where it takes them again by then, the form is asked
// for once more.
func (p *Pages) closed(c *fiber.Ctx, page *view.Page, again func(notice string) error) error {
	business, err := p.shop.Newest(c.UserContext(), page.Business)
	if err != nil {
		return err
	}
	open := page.Business != business && business.Open()
	page.Business = business
	if open {
		return again(page.Words.Say("fault_later"))
	}
	return p.show(c, fiber.StatusConflict, page, view.Closed(page))
}

// refused says what is answered where nothing was booked for a reason that lies in nothing that was chosen: the status, and what stands
// above the form. Of every other reason the status is 0.
func (p *Pages) refused(page *view.Page, form *view.Form, cause error) (int, string) {
	switch f := fault.Of(cause); f.Kind.Code {
	case fault.TooManyOpen.Code:
		return fiber.StatusConflict, page.Words.Say("too_many")
	case fault.IdempotencyMismatch.Code:
		form.Token = p.forms.token(page.Business.Offer.Slug)
		return fiber.StatusUnprocessableEntity, page.Words.Say("expired")
	case fault.PeerUnavailable.Code, fault.AvailabilityUnverified.Code, fault.PaymentUnavailable.Code, fault.OutcomeUnknown.Code, fault.IdempotencyInProgress.Code:
		if form.Price != nil || f.Kind != fault.PeerUnavailable {
			return fiber.StatusServiceUnavailable, page.Words.Say("fault_later")
		}
	}
	return 0, ""
}

// pick goes on with another start; what was typed stays.
func (p *Pages) pick(c *fiber.Ctx, s *sent, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	selection, err := usecase.ReadSelection(values)
	if err != nil {
		return err
	}
	if s.appointment, err = s.page.Business.Appointment(selection); err != nil || s.appointment.Date == nil || s.appointment.Time == nil {
		return fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	s.form.Token = p.forms.token(s.page.Business.Offer.Slug) // another booking than the one that was refused
	return p.ask(c, s, fiber.StatusOK, "")
}
