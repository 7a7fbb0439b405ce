package usecase

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Bookings books appointments and sells tickets; bookingclient.Client implements it.
type Bookings interface {
	// Book books an appointment. Faults: the faults of POST /book.
	Book(ctx context.Context, business uuid.UUID, slug string, wanted booking.NewBooking) (*booking.Booking, error)
	// SellTicket sells tickets. Faults: not_found, conflict, and the faults of the business's account.
	SellTicket(ctx context.Context, business uuid.UUID, order booking.NewTicket) (*booking.Ticket, error)
}

// Prices computes prices; pricing.Client implements it.
type Prices interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Price is the price of an order. The pricing service computes this price in the same way as the price of the booking
// that the customer makes later. But the price ignores pricing rules that depend on the customer's e-mail address, such
// as a rule for a first booking.
type Price struct {
	Lines    []json.Number // one price for each service, tier or rental, in the order of the selection
	StartsAt time.Time     // the start of the appointment, event or rental; zero if not chosen yet
	// Details explains how the price of each line is computed, in the order of Lines.
	Details []PriceDetail
	// FirstBookingRules contains the pricing rules that also apply if this is the customer's first booking. Without the
	// customer's e-mail address, the page does not know whether the booking is the first.
	FirstBookingRules []*catalog.Rule
	Total             json.Number
	Savings           json.Number // how much less the package costs than its services; "" if not less
	PayMode           string      // how the order is paid; one of the results of [Business.PayMode]
	DueNow            json.Number // the part of `Total` that is paid online; "" if nothing is paid online
	DueLater          json.Number // the part of `Total` that is paid on site; "" if `DueNow` is ""
}

// PriceDetail explains how the price of one line is computed.
type PriceDetail struct {
	Quantity int         // number of people if the price is per person and there are several people, otherwise 0
	Unit     json.Number // price per person
	Changes  []*catalog.Rule
}

// explainPrice returns how the price in a quote is computed, with the pricing rules that changed the price.
func (b *Business) explainPrice(quote *pricing.Quote) PriceDetail {
	d := PriceDetail{Quantity: quote.Quantity, Unit: b.Snapshot.Money().JSON(quote.Unit)}
	for _, step := range quote.Steps {
		i := slices.IndexFunc(b.Snapshot.Rules, func(r catalog.Rule) bool {
			return r.Key == step.Rule && string(r.Kind) == step.Kind
		})
		if i >= 0 && step.Before != step.After {
			d.Changes = append(d.Changes, &b.Snapshot.Rules[i])
		}
	}
	return d
}

// firstBookingRules returns the pricing rules that apply only to a customer's first booking, and that apply to one of
// the given services.
func (b *Business) firstBookingRules(services []uuid.UUID) []*catalog.Rule {
	var rules []*catalog.Rule
	for i := range b.Snapshot.Rules {
		r := &b.Snapshot.Rules[i]
		applies := r.AppliesTo.IsEverything() || r.AppliesTo.AllServices ||
			slices.ContainsFunc(services, func(id uuid.UUID) bool { return slices.Contains(r.AppliesTo.Services, id) })
		if r.Kind == rule.FirstBooking && applies {
			rules = append(rules, r)
		}
	}
	return rules
}

// Price returns the price of an appointment whose date is chosen. Fault: service_unavailable.
func (s *Shop) Price(ctx context.Context, b *Business, a *Appointment, people int) (*Price, error) {
	request := pricing.QuotesRequest{Slug: b.Snapshot.Slug, OfferVersion: b.Snapshot.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Snapshot.Rules) == 0, Together: true}
	for _, id := range a.Selection.Services {
		item := pricing.Item{Kind: pricing.KindService, ID: id, Date: *a.Date, Start: a.Time, PartySize: &people}
		if variant, ok := a.Variants[id]; ok {
			item.VariantID = &variant
		}
		request.Items = append(request.Items, item)
	}
	answer, err := s.Prices.Quotes(ctx, request)
	if err != nil {
		return nil, err
	}
	price, total, due, money := &Price{}, int64(0), int64(0), b.Snapshot.Money()
	if a.Date != nil && a.Time != nil {
		price.StartsAt = time.Unix(timespan.Instant(*a.Date, *a.Time, b.Snapshot.Location()), 0)
	}
	for i, quote := range answer.Quotes {
		price.Lines = append(price.Lines, money.JSON(quote.Price))
		price.Details = append(price.Details, b.explainPrice(&quote))
		total += quote.Price
		due += a.Services[i].Due(quote.Price, people, money)
	}
	if total > 0 {
		price.FirstBookingRules = b.firstBookingRules(a.Selection.Services)
	}
	price.setTotal(b, b.Snapshot.Payments.Modes.Services, total, due)
	if packageQuote := answer.Package; packageQuote != nil && packageQuote.Separately > total {
		price.Savings = money.JSON(packageQuote.Separately - total)
	}
	return price, nil
}

// The ways to pay that [Business.PayMode] returns. If it returns PayChoice, the customer chooses PayOnline or
// PayAtDoor.
const (
	PayOnline = "online"
	PayAtDoor = "at_door"
	PayChoice = "choice"
)

// PayMode returns how an order is paid. The argument `mode` is the payment mode that the business chose for this kind
// of order. The argument `due` is the amount to pay at booking, in minor units.
//
// PayMode returns [PayAtDoor] if `due` is 0, if the business has chosen no payment provider, or if `mode` requires
// payment on site. If `mode` leaves the choice to the customer, PayMode returns [PayChoice]. But if none of the chosen
// providers is connected ([catalog.Snapshot.ConnectedProviders]), PayMode returns [PayAtDoor] instead.
func (b *Business) PayMode(mode string, due int64) string {
	switch {
	case due == 0 || len(b.Snapshot.Payments.Providers) == 0:
		return PayAtDoor
	case mode == catalog.ModeOnline:
		return PayOnline
	case mode == catalog.ModeCustomerChoice && b.hasConnectedProvider():
		return PayChoice
	}
	return PayAtDoor
}

// setTotal sets the fields for the total price, the way to pay, and the amounts that are paid online and on site. The
// arguments `total` and `due` are in minor units; `due` is the part to pay at booking.
func (p *Price) setTotal(b *Business, mode string, total, due int64) {
	money := b.Snapshot.Money()
	p.Total, p.PayMode = money.JSON(total), b.PayMode(mode, due)
	if p.PayMode != PayAtDoor {
		p.DueNow, p.DueLater = money.JSON(due), money.JSON(total-due)
	}
}

// hasConnectedProvider reports whether a payment provider is connected.
func (b *Business) hasConnectedProvider() bool { return len(b.Snapshot.ConnectedProviders()) > 0 }

// Details contains what a customer types into the form.
type Details struct {
	Name, Email, Phone string
	People             int
	Language           string // the language of messages to the customer
	Pay                string // PayOnline or PayAtDoor, if the customer may choose
	Answers            map[string]any
	NeedsPhone         bool // true if the phone number is required
	// AddressAt is the location that comes to the customer's Address. If it is nil, the form asks for no address.
	AddressAt *catalog.Location
	Address   booking.CustomerAddress
}

// FieldErrorEmail is the error of a field with an invalid e-mail address, and FieldErrorOutsideArea is the error of an
// address that the business does not serve. [catalog.Answers] returns the other errors.
const (
	FieldErrorEmail       catalog.FieldError = "email"
	FieldErrorOutsideArea catalog.FieldError = "outside_area"
)

// FieldErrors contains field errors by the name of the field. The field for the answer to a question has the name "q-"
// followed by the key of the question.
type FieldErrors map[string]catalog.FieldError

const (
	maxName        = 200
	maxPhone       = 50
	maxAddressPart = 200
)

// Check returns the field errors of the details that a customer typed. The argument `itemIDs` contains the ids of the
// ordered services, events or rentals. If all answers are valid, Check removes the answers to questions that the
// business does not ask for these ids.
func (b *Business) Check(d *Details, itemIDs ...uuid.UUID) FieldErrors {
	fieldErrors := d.check(b.Country())
	d.checkAddress(fieldErrors)
	questions := b.Snapshot.Questions(itemIDs...)
	d.normalizeNumbers(questions)
	validAnswers, answerErrors := catalog.Answers(questions, d.Answers)
	for _, w := range answerErrors {
		fieldErrors["q-"+w.Question.Key] = w.Wrong
	}
	if len(answerErrors) == 0 {
		d.Answers = validAnswers
	}
	return fieldErrors
}

// decimalPointLanguages lists the languages that write decimal fractions with a point, such as 1.5.
var decimalPointLanguages = []string{"en", "he", "ja", "ko", "th", "zh"}

// normalizeNumbers replaces the decimal comma with a point in answers that are numbers. It changes nothing if the
// customer's language writes numbers with a decimal point.
func (d *Details) normalizeNumbers(questions []catalog.Question) {
	if slices.Contains(decimalPointLanguages, d.Language) {
		return
	}
	for _, q := range questions {
		number, isText := d.Answers[q.Key].(string)
		if isText && q.Type == catalog.QuestionNumber && strings.Count(number, ",") == 1 && !strings.Contains(number,
			".") {
			d.Answers[q.Key] = strings.Replace(number, ",", ".", 1)
		}
	}
}

// oneLine normalizes the text that a customer typed into a field with one line. It replaces each sequence of white
// space and control characters with one space. It removes invisible characters, such as the direction marks at the
// beginning of copied phone numbers.
func oneLine(text string) string {
	return strings.Join(strings.Fields(plain.Strip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))), " ")
}

// check normalizes the name, the e-mail address and the phone number with [oneLine], and returns the errors of these
// three fields. The argument `country` is the country of the business, or "".
func (d *Details) check(country string) FieldErrors {
	fieldErrors := FieldErrors{}
	if d.Name = oneLine(d.Name); plain.IsBlank(d.Name) {
		fieldErrors["name"] = catalog.FieldMissing
	} else if utf8.RuneCountInString(d.Name) > maxName {
		fieldErrors["name"] = catalog.FieldTooLong
	}
	if d.Email = oneLine(d.Email); d.Email == "" {
		fieldErrors["email"] = catalog.FieldMissing
	} else if !email.Valid(d.Email) {
		fieldErrors["email"] = FieldErrorEmail
	}
	if d.Phone = oneLine(d.Phone); utf8.RuneCountInString(d.Phone) > maxPhone {
		fieldErrors["phone"] = catalog.FieldTooLong
	} else if d.Phone == "" && d.NeedsPhone {
		fieldErrors["phone"] = catalog.FieldMissing
	} else if d.Phone != "" && !isPossiblePhone(d.Phone, country) {
		fieldErrors["phone"] = catalog.FieldInvalidPhone
	}
	return fieldErrors
}

// checkAddress normalizes the parts of the address, and adds their field errors to the argument `fieldErrors`. It does
// nothing if the form asks for no address.
func (d *Details) checkAddress(fieldErrors FieldErrors) {
	at, a := d.AddressAt, &d.Address
	if at == nil {
		return
	}
	if len(at.Countries) == 1 {
		a.Country = at.Countries[0]
	}
	for _, part := range []struct {
		name     string
		value    *string
		required bool
	}{
		{"street", &a.Street, true}, {"postal_code", &a.PostalCode, len(at.PostalCodes) > 0}, {"city", &a.City, true},
		{"country", &a.Country, true}, {"note", &a.Note, false},
	} {
		*part.value = oneLine(*part.value)
		switch {
		case part.required && plain.IsBlank(*part.value):
			fieldErrors[part.name] = catalog.FieldMissing
		case utf8.RuneCountInString(*part.value) > maxAddressPart:
			fieldErrors[part.name] = catalog.FieldTooLong
		}
	}
	if a.Country != "" && !postal.IsCountry(a.Country) {
		fieldErrors["country"] = catalog.FieldMissing
	}
	if fieldErrors["postal_code"] == "" && fieldErrors["country"] == "" && !at.Serves(a.Address) {
		fieldErrors["postal_code"] = FieldErrorOutsideArea
	}
}

// encode returns the phone number and the answers in the format that the services booking and rental expect. The phone
// number or the answers are nil if the customer typed no value for them.
func (d *Details) encode() (*string, json.RawMessage, error) {
	var phone *string
	if d.Phone != "" {
		phone = &d.Phone
	}
	if len(d.Answers) == 0 {
		return phone, nil, nil
	}
	form, err := json.Marshal(d.Answers)
	return phone, form, err
}

// Confirmation contains the URL of the page that the customer sees after the booking. This URL is `Checkout` if
// something is paid online, otherwise `Link`.
type Confirmation struct {
	Link     string
	Checkout string // URL of the payment page; "" if nothing is paid online
}

// Book books an appointment, with the booking page as the actor, at most once for each key. Faults: the faults of POST
// /book.
func (s *Shop) Book(ctx context.Context, b *Business, a *Appointment, d Details, key string) (Confirmation, error) {
	request := booking.NewBooking{
		Date: a.Date.String(), Time: a.Time.String(), CustomerName: d.Name, CustomerEmail: d.Email,
		PartySize: &d.People, Locale: &d.Language, Variants: a.variantPairs(),
	}
	for _, id := range a.Selection.Services {
		request.ServiceIDs = append(request.ServiceIDs, id.String())
	}
	switch {
	case a.Staff != AnyStaff && a.Staff != AnyStaffPerService && a.Staff != "":
		request.StaffID = &a.Staff
	case len(a.Services) > 1:
		request.IsPackage = true
		if mode := availability.StaffingPerService; a.Staff == AnyStaffPerService {
			request.StaffingMode = &mode
		}
	}
	if a.Location != nil {
		request.LocationID = new(a.Location.String())
	}
	if d.AddressAt != nil {
		request.CustomerAddress = &d.Address
	}
	if a.Session != nil {
		session := a.Session.String()
		request.ClassScheduleID = &session
	}
	if b.Snapshot.Payments.Modes.Services == catalog.ModeCustomerChoice {
		request.PaymentChoice = &d.Pay
	}
	var err error
	if request.CustomerPhone, request.FormData, err = d.encode(); err != nil {
		return Confirmation{}, err
	}
	result, err := callIdempotent(ctx, key, func(ctx context.Context) (*booking.Booking, error) {
		return s.Bookings.Book(ctx, b.Snapshot.ID, b.Snapshot.Slug, request)
	})
	if err != nil {
		return Confirmation{}, err
	}
	return Confirmation{result.ManageURL, result.CheckoutURL}, nil
}

// callIdempotent calls the function `do`, with the booking page as the actor and with an idempotency key. An earlier
// request with the same key can still be in progress, for example after a double click. In this case, callIdempotent
// waits and returns the result of the earlier request.
//
// callIdempotent waits at most three quarters of the time until the request's deadline. The wait may be long, because a
// payment provider can be slow. The last quarter remains for the response.
func callIdempotent[T any](ctx context.Context, key string, do func(context.Context) (T, error)) (T, error) {
	const pause, defaultWait = 250 * time.Millisecond, 3 * time.Second
	maxWait := defaultWait
	if deadline, hasDeadline := ctx.Deadline(); hasDeadline {
		maxWait = time.Until(deadline) * 3 / 4
	}
	waitCtx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	ctx = idempotency.With(actor.With(ctx, actor.Actor{Kind: actor.Page}), idempotency.Request{Key: key})
	var last error
	result, err := retry.DoValue(waitCtx, retry.NewConstant(pause), func(context.Context) (T, error) {
		var result T
		if result, last = do(ctx); fault.Is(last, fault.IdempotencyInProgress) {
			return result, retry.RetryableError(last)
		}
		return result, last
	})
	return result, cmp.Or(last, err)
}
