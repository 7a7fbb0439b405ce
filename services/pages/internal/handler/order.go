package handler

import (
	"context"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// order is an order whose item the customer has chosen, but which is not booked yet. The form asks for the customer's
// details.
type order struct {
	page *view.Page
	item item
	form view.Form
}

// item is the object of an order: an appointment, tickets of an event, or a reservation of a rental.
type item interface {
	// taken returns the ids of the services, of the event, or of the rental
	// and its extras. The form asks the business's questions about these ids.
	taken() []uuid.UUID
	price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error)
	// content returns the form, filled with what the customer typed. If `changing` is true, the form also has fields
	// for the quantities.
	content(o *order, changing bool) view.Content
	// book books the item, at most once for each key.
	book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Booked, error)
	// refused is called if nothing was booked; the argument `cause` is the reason. The customer may be able to change
	// the item, for example if the start is no longer free. If the customer can, refused sends the response and returns
	// true. Otherwise it returns false.
	refused(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error)
}

// newOrder returns an order with an empty form.
func newOrder(page *view.Page, i item) *order {
	return &order{page: page, item: i, form: view.Form{Details: newcomer(page)}}
}

// newcomer returns the default values of the details in an empty form.
func newcomer(page *view.Page) usecase.Details {
	return usecase.Details{People: 1, Language: page.Business.Language(page.Words.Requested), Pay: usecase.PayAtDoor}
}

// renew gives the form a new token, so that the next submission of the form is a new order.
func (p *Pages) renew(o *order) { o.form.Token = p.forms.token(o.page.Business.Offer.Slug) }

// begin shows an empty form. A script in the page adds the form's token to the address of the page. If the reader goes
// back to the form later, the form has the same token. A second submission with the same token returns the existing
// booking and makes no new booking.
func (p *Pages) begin(c *fiber.Ctx, o *order) error {
	if token := c.Query("form"); p.forms.isValid(o.page.Business.Offer.Slug, token) {
		o.form.Token = token
	} else {
		p.renew(o)
	}
	o.form.IsNew = true
	return p.ask(c, o, fiber.StatusOK, "")
}

// ask shows the form, filled with what the customer typed. The argument `notice` is a sentence above the form, or "".
func (p *Pages) ask(c *fiber.Ctx, o *order, status int, notice string) error {
	return p.askAgain(c, o, status, notice, false)
}

// askAgain shows the form as [Pages.ask] does. If `changing` is true, the form also has fields for the quantities.
func (p *Pages) askAgain(c *fiber.Ctx, o *order, status int, notice string, changing bool) error {
	price, err := o.item.price(c.UserContext(), p.shop, o)
	if err != nil {
		return err
	}
	o.form.Price, o.page.Notice = price, notice
	return p.show(c, status, o.page, o.item.content(o, changing))
}

// trap is the name of a field that people do not see. A form in which this field is filled in was sent by a bot.
const trap = "website"

// sent reads the submitted form and returns the idempotency key in the form's token. If it returns "", it has sent the
// response itself. It sends the response if the token is invalid, if a bot filled in the form, or if the reader only
// chose another language (form field `stay`).
func (p *Pages) sent(c *fiber.Ctx, o *order, typed url.Values) (string, error) {
	o.read(typed)
	if typed.Has("stay") { // the reader chose another language
		return "", p.ask(c, o, fiber.StatusOK, "")
	}
	if key := p.forms.read(o.page.Business.Offer.Slug, o.form.Token); key != "" && typed.Get(trap) == "" {
		return key, nil
	}
	p.renew(o)
	return "", p.ask(c, o, fiber.StatusUnprocessableEntity, o.page.Words.Say("expired"))
}

// read copies the details that the customer typed to the form of the order.
func (o *order) read(typed url.Values) {
	offer, d := o.page.Business.Offer, newcomer(o.page)
	d.People = o.form.Details.People
	d.Name, d.Email, d.Phone, d.Answers = typed.Get("name"), typed.Get("email"), typed.Get("phone"), map[string]any{}
	if chosen := typed.Get("language"); slices.Contains(offer.Languages, chosen) {
		d.Language = chosen
	}
	if typed.Get("pay") == usecase.PayOnline {
		d.Pay = usecase.PayOnline
	}
	consents := map[string]any{}
	for _, q := range offer.Questions(o.item.taken()...) {
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
	o.form.Details, o.form.Typed, o.form.Token = d, typed, typed.Get("token")
}

// place books the order, at most once for each key. If a part of the price is paid online, place
// redirects to the payment provider's page, otherwise to the page behind the customer's link.
func (p *Pages) place(c *fiber.Ctx, o *order, key string) error {
	words, business := o.page.Words, o.page.Business
	if o.form.Wrong = business.Check(&o.form.Details, o.item.taken()...); len(o.form.Wrong) > 0 {
		return p.ask(c, o, fiber.StatusUnprocessableEntity, words.Say("check"))
	}
	price, err := o.item.price(c.UserContext(), p.shop, o)
	if err != nil {
		return p.refuse(c, o, err)
	}
	// If the price has changed since the form was shown, the customer must confirm the new price.
	if typed := o.form.Typed; typed.Get("total") != price.Total.String() || typed.Get("now") != price.Now.String() {
		return p.ask(c, o, fiber.StatusConflict,
			words.With("price_changed", "Price", words.Amount(price.Total.String(), business.Offer.Currency)))
	}
	o.form.Price = price
	booked, err := o.item.book(c.UserContext(), p.shop, o, key)
	if err != nil {
		return p.refuse(c, o, err)
	}
	// The payment provider's pages cannot be shown in a frame. If this page is in a frame, the redirect
	// leads to the page behind the customer's link, which opens the payment in the top window.
	if booked.Checkout != "" && c.Get("Sec-Fetch-Dest") != "iframe" {
		return c.Redirect(booked.Checkout, fiber.StatusSeeOther)
	}
	return c.Redirect(booked.Link+"?done=booked", fiber.StatusSeeOther)
}

// refuse shows a page that explains why nothing was booked and what the customer can do. If refuse has no page for the
// error in `cause`, it returns `cause`.
func (p *Pages) refuse(c *fiber.Ctx, o *order, cause error) error {
	if answered, err := o.item.refused(c, p, o, cause); answered {
		return err
	}
	words := o.page.Words
	switch f := fault.Of(cause); f.Kind.Code {
	case fault.NotAcceptingBookings.Code, fault.NotOpenYet.Code, fault.SubscriptionInactive.Code,
		fault.AccountClosing.Code:
		return p.closed(c, o)
	case fault.TooManyOpen.Code:
		return p.ask(c, o, fiber.StatusConflict, words.Say("too_many"))
	case fault.PaymentNotOffered.Code:
		return p.ask(c, o, fiber.StatusConflict, words.Say("pay_not_offered"))
	case fault.IdempotencyMismatch.Code:
		p.renew(o)
		return p.ask(c, o, fiber.StatusUnprocessableEntity, words.Say("expired"))
	case fault.PeerUnavailable.Code, fault.AvailabilityUnverified.Code, fault.PaymentUnavailable.Code,
		fault.OutcomeUnknown.Code, fault.IdempotencyInProgress.Code:
		if o.form.Price != nil || f.Kind != fault.PeerUnavailable {
			return p.ask(c, o, fiber.StatusServiceUnavailable, words.Say("fault_later"))
		}
	}
	return cause
}

// closed reads the newest offer, and shows why the business takes no bookings and until
// when. If the business takes bookings by the newest offer, closed shows the form again.
func (p *Pages) closed(c *fiber.Ctx, o *order) error {
	page := o.page
	business, err := p.shop.Newest(c.UserContext(), page.Business)
	if err != nil {
		return err
	}
	open := page.Business != business && business.Open()
	page.Business = business
	if open {
		return p.ask(c, o, fiber.StatusServiceUnavailable, page.Words.Say("fault_later"))
	}
	return p.show(c, fiber.StatusConflict, page, view.Closed(page))
}
