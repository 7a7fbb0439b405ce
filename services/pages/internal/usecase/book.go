package usecase

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/libs/values/plain"
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

// Price is the price of an order, computed by the same pricing engine as the price of the later booking. It does
// not include pricing rules that depend on the customer's e-mail address, such as a rule for a first booking.
type Price struct {
	Lines    []json.Number // one price for each service, tier or rental, in the order of the selection
	StartsAt time.Time     // the start of the appointment, event or rental; zero if not chosen yet
	// Details explains each line, in the order of Lines.
	Details []PriceDetail
	// IfFirst contains the pricing rules that also apply if this is the customer's first booking. The page knows
	// whether the booking is the first only after the customer enters an e-mail address.
	IfFirst []*catalog.Rule
	Total   json.Number
	Saves   json.Number // how much cheaper a package is than its services; "" if nothing is saved
	Pays    string      // how the order is paid; one of the results of [Business.Paying]
	Now     json.Number // the part of `Total` that is paid online; "" if nothing is paid online
	Later   json.Number // the part of `Total` that is paid on site; "" if `Now` is ""
}

// PriceDetail explains how the price of one line is computed.
type PriceDetail struct {
	Quantity int         // number of people if the price is per person and there are several people, otherwise 0
	Unit     json.Number // price per person
	Changes  []*catalog.Rule
}

// detailOf returns how the price in a quote is computed, with the pricing rules that changed the price.
func (b *Business) detailOf(quote *pricing.Quote) PriceDetail {
	d := PriceDetail{Quantity: quote.Quantity, Unit: b.Offer.Money().JSON(quote.Unit)}
	for _, step := range quote.Steps {
		i := slices.IndexFunc(b.Offer.Rules, func(r catalog.Rule) bool {
			return r.Key == step.Rule && string(r.Kind) == step.Kind
		})
		if i >= 0 && step.Before != step.After {
			d.Changes = append(d.Changes, &b.Offer.Rules[i])
		}
	}
	return d
}

// ifFirst returns the pricing rules for a customer's first booking that apply to one of the given services.
func (b *Business) ifFirst(services []uuid.UUID) []*catalog.Rule {
	var rules []*catalog.Rule
	for i := range b.Offer.Rules {
		r := &b.Offer.Rules[i]
		concerns := r.AppliesTo.Everything() || r.AppliesTo.AllServices ||
			slices.ContainsFunc(services, func(id uuid.UUID) bool { return slices.Contains(r.AppliesTo.Services, id) })
		if r.Kind == rule.FirstBooking && concerns {
			rules = append(rules, r)
		}
	}
	return rules
}

// Price returns the price of an appointment whose date is chosen. Fault: service_unavailable.
func (s *Shop) Price(ctx context.Context, b *Business, a *Appointment, people int) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Offer.Rules) == 0, Together: true}
	for _, id := range a.Selection.Services {
		item := pricing.Item{Kind: pricing.KindService, ID: id, Date: *a.Date, Start: a.Time, PartySize: &people}
		if variant, ok := a.Variants[id]; ok {
			item.VariantID = &variant
		}
		ask.Items = append(ask.Items, item)
	}
	answer, err := s.Prices.Quotes(ctx, ask)
	if err != nil {
		return nil, err
	}
	price, total, due, money := &Price{}, int64(0), int64(0), b.Offer.Money()
	if a.Date != nil && a.Time != nil {
		price.StartsAt = time.Unix(timespan.Instant(*a.Date, *a.Time, b.Offer.Location()), 0)
	}
	for i, quote := range answer.Quotes {
		price.Lines = append(price.Lines, money.JSON(quote.Price))
		price.Details = append(price.Details, b.detailOf(&quote))
		total += quote.Price
		due += a.Services[i].Due(quote.Price, people, money)
	}
	if total > 0 {
		price.IfFirst = b.ifFirst(a.Selection.Services)
	}
	price.total(b, b.Offer.Payments.Modes.Services, total, due)
	if bought := answer.Package; bought != nil && bought.Separately > total {
		price.Saves = money.JSON(bought.Separately - total)
	}
	return price, nil
}

// The ways to pay that [Business.Paying] returns. If it returns PayChoice, the customer chooses PayOnline or PayAtDoor.
const (
	PayOnline = "online"
	PayAtDoor = "at_door"
	PayChoice = "choice"
)

// Paying returns how an order is paid. The argument `mode` is the payment mode that the business chose for this kind of
// order. The argument `due` is the amount to pay at booking, in minor units.
//
// Paying returns [PayAtDoor] if `due` is 0, if no payment provider is set up, or if the mode requires it. It returns
// [PayChoice] only if a provider is connected.
func (b *Business) Paying(mode string, due int64) string {
	switch {
	case due == 0 || len(b.Offer.Payments.Providers) == 0:
		return PayAtDoor
	case mode == catalog.ModeOnline:
		return PayOnline
	case mode == catalog.ModeCustomerChoice && b.isPaidOnline():
		return PayChoice
	}
	return PayAtDoor
}

// total sets the fields for the total price, the way to pay, and the amounts that are paid online and on site. The
// arguments `total` and `due` are in minor units; `due` is the part to pay at booking.
func (p *Price) total(b *Business, mode string, total, due int64) {
	money := b.Offer.Money()
	p.Total, p.Pays = money.JSON(total), b.Paying(mode, due)
	if p.Pays != PayAtDoor {
		p.Now, p.Later = money.JSON(due), money.JSON(total-due)
	}
}

// isPaidOnline reports whether a payment provider is connected.
func (b *Business) isPaidOnline() bool { return len(b.Offer.ConnectedProviders()) > 0 }

// Details contains what a customer types into the form.
type Details struct {
	Name, Email, Phone string
	People             int
	Language           string // the language of messages to the customer
	Pay                string // PayOnline or PayAtDoor, if the customer may choose
	Answers            map[string]any
}

// WrongEmail is the error of a field with an invalid e-mail address. [catalog.Answers] returns the other errors.
const (
	WrongEmail catalog.Wrong = "email"
)

// Wrongs contains field errors by the name of the field. The name
// of the field for an answer is "q-" with the key of the question.
type Wrongs map[string]catalog.Wrong

const (
	maxName  = 200
	maxPhone = 50
)

// Check returns the field errors of the details that a customer typed. The argument `taken` contains the ids of the
// ordered services, events or rentals. If all answers are valid, Check removes answers to questions that the business
// does not ask about these ids.
func (b *Business) Check(d *Details, taken ...uuid.UUID) Wrongs {
	wrong := d.check()
	questions := b.Offer.Questions(taken...)
	d.pointNumbers(questions)
	kept, wrongs := catalog.Answers(questions, d.Answers)
	for _, w := range wrongs {
		wrong["q-"+w.Question.Key] = w.Wrong
	}
	if len(wrongs) == 0 {
		d.Answers = kept
	}
	return wrong
}

// withPoint lists the languages that write decimal fractions with a point, such as 1.5.
var withPoint = []string{"en", "he", "ja", "ko", "th", "zh"}

// pointNumbers replaces the decimal comma with a point in answers that
// are numbers, unless the customer's language uses a decimal point.
func (d *Details) pointNumbers(questions []catalog.Question) {
	if slices.Contains(withPoint, d.Language) {
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

// oneLine normalizes the text of a field with one line. It replaces each sequence
// of white space and control characters with one space. It removes invisible
// characters, such as the direction marks at the beginning of copied phone numbers.
func oneLine(text string) string {
	return strings.Join(strings.Fields(plain.Strip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))), " ")
}

// check normalizes the name, the e-mail address and the phone
// number with [oneLine], and returns the errors of these fields.
func (d *Details) check() Wrongs {
	wrong := Wrongs{}
	if d.Name = oneLine(d.Name); plain.IsBlank(d.Name) {
		wrong["name"] = catalog.WrongMissing
	} else if utf8.RuneCountInString(d.Name) > maxName {
		wrong["name"] = catalog.WrongTooLong
	}
	if d.Email = oneLine(d.Email); d.Email == "" {
		wrong["email"] = catalog.WrongMissing
	} else if !email.Valid(d.Email) {
		wrong["email"] = WrongEmail
	}
	if d.Phone = oneLine(d.Phone); utf8.RuneCountInString(d.Phone) > maxPhone {
		wrong["phone"] = catalog.WrongTooLong
	} else if d.Phone != "" && !phone.Valid(d.Phone) {
		wrong["phone"] = catalog.WrongPhone
	}
	return wrong
}

// told returns the phone number and the answers in the format that the services booking and rental expect. The phone
// number or the answers are nil if the customer typed no value for them.
func (d *Details) told() (*string, json.RawMessage, error) {
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

// Booked contains the address of the page that the customer sees after the booking. This is `Checkout` if something is
// paid online, otherwise `Link`.
type Booked struct {
	Link     string
	Checkout string // address of the payment page; "" if nothing is paid online
}

// Book books an appointment, with the booking page as the actor, at most once for each key. Faults: the faults of POST
// /book.
func (s *Shop) Book(ctx context.Context, b *Business, a *Appointment, d Details, key string) (Booked, error) {
	wanted := booking.NewBooking{
		Date: a.Date.String(), Time: a.Time.String(), CustomerName: d.Name, CustomerEmail: d.Email,
		PartySize: &d.People, Locale: &d.Language, Variants: a.pairs(),
	}
	for _, id := range a.Selection.Services {
		wanted.ServiceIDs = append(wanted.ServiceIDs, id.String())
	}
	switch {
	case a.Staff != Anyone && a.Staff != Each && a.Staff != "":
		wanted.StaffID = &a.Staff
	case len(a.Services) > 1:
		wanted.IsPackage = true
		if mode := availability.StaffingPerService; a.Staff == Each {
			wanted.StaffingMode = &mode
		}
	}
	if a.Session != nil {
		session := a.Session.String()
		wanted.ClassScheduleID = &session
	}
	if b.Offer.Payments.Modes.Services == catalog.ModeCustomerChoice {
		wanted.PaymentChoice = &d.Pay
	}
	var err error
	if wanted.CustomerPhone, wanted.FormData, err = d.told(); err != nil {
		return Booked{}, err
	}
	booked, err := once(ctx, key, func(ctx context.Context) (*booking.Booking, error) {
		return s.Bookings.Book(ctx, b.Offer.ID, b.Offer.Slug, wanted)
	})
	if err != nil {
		return Booked{}, err
	}
	return Booked{booked.ManageURL, booked.CheckoutURL}, nil
}

// once calls the function `do`, with the booking page as the actor and with an idempotency key. An earlier request with
// the same key can still be in progress, for example after a double click. In this case, once waits and returns the
// result of the earlier request.
//
// once waits at most three quarters of the remaining time of the request. The wait may be long, because a payment
// provider can be slow. The remaining quarter is for the response.
func once[T any](ctx context.Context, key string, do func(context.Context) (T, error)) (T, error) {
	const pause, unbounded = 250 * time.Millisecond, 3 * time.Second
	within := unbounded
	if deadline, bounded := ctx.Deadline(); bounded {
		within = time.Until(deadline) * 3 / 4
	}
	waits, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ctx = idempotency.With(actor.With(ctx, actor.Actor{Kind: actor.Page}), idempotency.Request{Key: key})
	for {
		done, err := do(ctx)
		if err == nil || !fault.Is(err, fault.IdempotencyInProgress) {
			return done, err
		}
		select {
		case <-time.After(pause):
		case <-waits.Done():
			return done, err
		}
	}
}
