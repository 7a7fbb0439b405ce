package handler

import (
	"context"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// order is an order before the customer books it: the customer has chosen the item, and the form asks for the
// customer's details.
type order struct {
	page *view.Page
	item item
	form view.Form
}

// item is the object of an order: an appointment, tickets of an event, or a reservation of a rental.
type item interface {
	// itemIDs returns the ids of the services, of the event, or of the rental and its extras. The form asks the
	// questions that the business has set for these ids.
	itemIDs() []uuid.UUID
	price(ctx context.Context, shop *usecase.Shop, o *order) (*usecase.Price, error)
	// formContent returns the form, filled with what the customer typed. If `changing` is true, the form also has
	// fields for changing the item, such as the numbers of tickets.
	formContent(o *order, changing bool) view.Content
	// book books the item, at most once for each key.
	book(ctx context.Context, shop *usecase.Shop, o *order, key string) (usecase.Confirmation, error)
	// handleRefusal is called if nothing was booked; the argument `cause` is the reason. If the customer can solve the
	// problem by changing the item, for example by choosing another start, handleRefusal sends the response and returns
	// true. Otherwise it returns false.
	handleRefusal(c *fiber.Ctx, p *Pages, o *order, cause error) (bool, error)
}

// newOrder returns an order with an empty form.
func newOrder(page *view.Page, i item) *order {
	return &order{page: page, item: i, form: view.Form{Details: defaultDetails(page)}}
}

// defaultDetails returns the default values of the details in an empty form.
func defaultDetails(page *view.Page) usecase.Details {
	return usecase.Details{People: 1, Language: page.Business.Language(page.Words.Requested), Pay: usecase.PayAtDoor}
}

// renewToken gives the form a new token, so that the next submission of the form is a new order.
func (p *Pages) renewToken(o *order) { o.form.Token = p.tokens.create(o.page.Business.Snapshot.Slug) }

// showEmptyForm shows an empty form. A script in the page adds the form's token to the URL of the page. If the reader
// goes back to the form later, the form therefore has the same token. A second submission with the same token returns
// the existing booking and makes no new booking.
func (p *Pages) showEmptyForm(c *fiber.Ctx, o *order) error {
	if token := c.Query("form"); p.tokens.isValid(o.page.Business.Snapshot.Slug, token) {
		o.form.Token = token
	} else {
		p.renewToken(o)
	}
	o.form.IsNew = true
	return p.showForm(c, o, fiber.StatusOK, "")
}

// showForm shows the form, filled with what the customer typed. The argument `notice` is a sentence above the form, or
// "" for no sentence.
func (p *Pages) showForm(c *fiber.Ctx, o *order, status int, notice string) error {
	return p.renderForm(c, o, status, notice, false)
}

// renderForm shows the form as [Pages.showForm] does. If `hasQuantities` is true, the form also has fields for the
// quantities.
func (p *Pages) renderForm(c *fiber.Ctx, o *order, status int, notice string, hasQuantities bool) error {
	price, err := o.item.price(c.UserContext(), p.shop, o)
	if err != nil {
		return err
	}
	o.form.Price, o.page.Notice, o.page.HasErrors = price, notice, status != fiber.StatusOK
	return p.show(c, status, o.page, o.item.formContent(o, hasQuantities))
}

// honeypot is the name of a field that people do not see. If this field is filled in, a bot has sent the form.
const honeypot = "website"

// readSubmission reads the submitted form and returns the idempotency key in the form's token. In three cases, it sends
// the response itself and returns "". The cases are an invalid token, a form that a bot filled in, and a reader who
// only chose another language (form field `stay`).
func (p *Pages) readSubmission(c *fiber.Ctx, o *order, fields url.Values) (string, error) {
	o.readDetails(fields)
	if fields.Has("stay") { // the reader chose another language
		return "", p.showForm(c, o, fiber.StatusOK, "")
	}
	if key := p.tokens.readKey(o.page.Business.Snapshot.Slug, o.form.Token); key != "" && fields.Get(honeypot) == "" {
		return key, nil
	}
	p.renewToken(o)
	return "", p.showForm(c, o, fiber.StatusUnprocessableEntity, o.page.Words.Say("expired"))
}

// readDetails copies the details that the customer typed to the form of the order.
func (o *order) readDetails(fields url.Values) {
	snapshot, d := o.page.Business.Snapshot, defaultDetails(o.page)
	d.People, d.NeedsPhone = o.form.Details.People, o.form.Details.NeedsPhone
	d.AddressAt = o.form.Details.AddressAt
	d.Address = booking.CustomerAddress{Note: fields.Get("note"), Address: postal.Address{Street: fields.Get("street"),
		PostalCode: fields.Get("postal_code"), City: fields.Get("city"), Country: fields.Get("country")}}
	d.Name, d.Email, d.Phone, d.Answers = fields.Get("name"), fields.Get("email"), fields.Get("phone"), map[string]any{}
	if language := fields.Get("language"); slices.Contains(snapshot.Languages, language) {
		d.Language = language
	}
	if fields.Get("pay") == usecase.PayOnline {
		d.Pay = usecase.PayOnline
	}
	consents := map[string]any{}
	for _, q := range snapshot.Questions(o.item.itemIDs()...) {
		value := fields.Get("q-" + q.Key)
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
	o.form.Details, o.form.Fields, o.form.Token = d, fields, fields.Get("token")
}

// placeOrder books the order, at most once for each key. If a part of the price is paid online, placeOrder redirects to
// the payment provider's page, otherwise to the page behind the customer's link.
func (p *Pages) placeOrder(c *fiber.Ctx, o *order, key string) error {
	words, business := o.page.Words, o.page.Business
	if o.form.Errors = business.Check(&o.form.Details, o.item.itemIDs()...); len(o.form.Errors) > 0 {
		return p.showForm(c, o, fiber.StatusUnprocessableEntity, o.page.ErrorNotice(o.form, o.item.itemIDs()...))
	}
	price, err := o.item.price(c.UserContext(), p.shop, o)
	if err != nil {
		return p.showRefusal(c, o, err)
	}
	// If the price has changed since the form was shown, the customer must confirm the new price.
	if fields := o.form.Fields; fields.Get("total") != price.Total.String() ||
		fields.Get("now") != price.DueNow.String() {
		return p.showForm(c, o, fiber.StatusConflict,
			words.With("price_changed", "Price", words.Amount(price.Total.String(), business.Snapshot.Currency)))
	}
	o.form.Price = price
	confirmation, err := o.item.book(c.UserContext(), p.shop, o, key)
	if err != nil {
		return p.showRefusal(c, o, err)
	}
	// The payment provider's pages cannot be shown in a frame. If this page is in a frame, the redirect
	// leads to the page behind the customer's link, which opens the payment in the top window.
	if confirmation.Checkout != "" && c.Get("Sec-Fetch-Dest") != "iframe" {
		return c.Redirect(confirmation.Checkout, fiber.StatusSeeOther)
	}
	return c.Redirect(confirmation.Link+"?done=booked", fiber.StatusSeeOther)
}

// showRefusal shows a page that explains why nothing was booked and what the customer can do. If showRefusal has no
// page for the error in `cause`, it returns `cause`.
func (p *Pages) showRefusal(c *fiber.Ctx, o *order, cause error) error {
	if isHandled, err := o.item.handleRefusal(c, p, o, cause); isHandled {
		return err
	}
	words := o.page.Words
	switch f := fault.Of(cause); f.Kind.Code {
	case fault.NotAcceptingBookings.Code, fault.NotOpenYet.Code, fault.SubscriptionInactive.Code,
		fault.AccountClosing.Code:
		return p.showClosed(c, o)
	case fault.TooManyOpen.Code:
		return p.showForm(c, o, fiber.StatusConflict, words.Say("too_many"))
	case fault.OutsideArea.Code:
		return p.showForm(c, o, fiber.StatusConflict, words.Say("outside_area"))
	case fault.PaymentNotOffered.Code:
		return p.showForm(c, o, fiber.StatusConflict, words.Say("pay_not_offered"))
	case fault.IdempotencyMismatch.Code:
		p.renewToken(o)
		return p.showForm(c, o, fiber.StatusUnprocessableEntity, words.Say("expired"))
	case fault.PeerUnavailable.Code, fault.AvailabilityUnverified.Code, fault.PaymentUnavailable.Code,
		fault.OutcomeUnknown.Code, fault.IdempotencyInProgress.Code:
		if o.form.Price != nil || f.Kind != fault.PeerUnavailable {
			return p.showForm(c, o, fiber.StatusServiceUnavailable, words.Say("fault_later"))
		}
	}
	return cause
}

// showClosed reads the newest snapshot, and shows why the business takes no bookings and until when. If the business
// takes bookings according to this snapshot, showClosed shows the form again.
func (p *Pages) showClosed(c *fiber.Ctx, o *order) error {
	page := o.page
	business, err := p.shop.Refresh(c.UserContext(), page.Business)
	if err != nil {
		return err
	}
	isOpen := page.Business != business && business.IsOpen()
	page.Business = business
	if isOpen {
		return p.showForm(c, o, fiber.StatusServiceUnavailable, page.Words.Say("fault_later"))
	}
	return p.show(c, fiber.StatusConflict, page, view.ClosedPage(page))
}
