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

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/email"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/plain"
	"github.com/slotmesh/slotmesh/libs/rule"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Bookings books and sells tickets; bookingclient.Client does.
type Bookings interface {
	// Book books an appointment. Faults: those of POST /book.
	Book(ctx context.Context, business uuid.UUID, slug string, wanted booking.NewBooking) (*booking.Booking, error)
	// SellTicket sells tickets. Faults: not_found, conflict, and what the business's account does not allow.
	SellTicket(ctx context.Context, business uuid.UUID, order booking.NewTicket) (*booking.Ticket, error)
}

// Prices quotes; pricing.Client does.
type Prices interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Price is what an appointment costs, by the engine that prices the booking. What only the customer's address tells, such as whether it
// is their first booking, is not known yet.
type Price struct {
	Lines    []json.Number // of the services, in their order
	StartsAt time.Time     // of what is priced; the zero time where it is not chosen yet
	// Details say how each line came about, in the order of Lines.
	Details []PriceDetail
	// IfFirst are the pricing rules that hold if this is the customer's first booking, which is not known before their address is.
	IfFirst []*catalog.Rule
	Total   json.Number
	Saves   json.Number // how much less that is than what the services of a package cost one by one; "" for nothing
	Pays    string      // how it is paid, as [Business.Paying] says
	Now     json.Number // what of it is paid online; "" where nothing is
	Later   json.Number // what of it is paid on site then
}

// PriceDetail says how a price came about.
type PriceDetail struct {
	Quantity int         // people that it is of, where it is per person and there are several; 0 otherwise
	Unit     json.Number // the price of one of them
	Changes  []*catalog.Rule
}

// detailOf returns how a quote came about.
func (b *Business) detailOf(quote *pricing.Quote) PriceDetail {
	d := PriceDetail{Quantity: quote.Quantity, Unit: b.Offer.Money().JSON(quote.Unit)}
	for _, step := range quote.Steps {
		i := slices.IndexFunc(b.Offer.Rules, func(r catalog.Rule) bool { return r.Key == step.Rule && string(r.Kind) == step.Kind })
		if i >= 0 && step.Before != step.After {
			d.Changes = append(d.Changes, &b.Offer.Rules[i])
		}
	}
	return d
}

// ifFirst returns the rules about a customer's first booking that concern one of these services and would change a price.
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

// Price quotes an appointment whose start is chosen. Faults: service_unavailable.
func (s *Shop) Price(ctx context.Context, b *Business, a *Appointment, people int) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now, OmitSteps: len(b.Offer.Rules) == 0, Together: true}
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

// Ways to pay, of which [Business.Paying] is one. The first two are what a customer may choose between.
const (
	PayOnline = "online"
	PayAtDoor = "at_door"
	PayChoice = "choice"
)

// Paying says how something is paid of which so much is to be paid when it is booked, by the mode of its kind: online where the business
// wants so, at the door, or as the customer chooses.
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

// total is what all lines of a price are together, and how that is paid of which so much is to be paid when it is booked.
func (p *Price) total(b *Business, mode string, total, due int64) {
	money := b.Offer.Money()
	p.Total, p.Pays = money.JSON(total), b.Paying(mode, due)
	if p.Pays != PayAtDoor {
		p.Now, p.Later = money.JSON(due), money.JSON(total-due)
	}
}

// isPaidOnline reports whether a provider is connected.
func (b *Business) isPaidOnline() bool { return len(b.Offer.ConnectedProviders()) > 0 }

// Details is what a customer types.
type Details struct {
	Name, Email, Phone string
	People             int
	Language           string // of messages
	Pay                string // where the customer may choose
	Answers            map[string]any
}

// What may be wrong with a detail, beside what [catalog.Answers] finds.
const (
	WrongEmail catalog.Wrong = "email"
)

// Wrongs are the faults of details by the name of the field; answers are under q-KEY.
type Wrongs map[string]catalog.Wrong

const (
	maxName  = 200
	maxPhone = 50
)

// Check finds what is wrong with the details of who takes these services, events or rentals, and keeps of the answers what was asked.
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

// withPoint are the languages that write 1.5 with a point.
var withPoint = []string{"en", "he", "ja", "ko", "th", "zh"}

// pointNumbers writes the decimal comma of answers that are numbers as a point, in languages that write 1,5.
func (d *Details) pointNumbers(questions []catalog.Question) {
	if slices.Contains(withPoint, d.Language) {
		return
	}
	for _, q := range questions {
		number, isText := d.Answers[q.Key].(string)
		if isText && q.Type == catalog.QuestionNumber && strings.Count(number, ",") == 1 && !strings.Contains(number, ".") {
			d.Answers[q.Key] = strings.Replace(number, ",", ".", 1)
		}
	}
}

// oneLine is what was typed or pasted into a field of one line: tabs, control characters and white space of all kinds are blanks between
// words, and hidden characters are left out, such as the direction marks that copied phone numbers begin with.
func oneLine(text string) string {
	return strings.Join(strings.Fields(plain.Strip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))), " ")
}

// check finds what is wrong with who it is, which it makes [oneLine].
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
	} else if d.Phone != "" && !catalog.IsPhone(d.Phone) {
		wrong["phone"] = catalog.WrongPhone
	}
	return wrong
}

// told is the phone number and the answers as they are sent; nil: none.
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

// Booked is where the customer goes on: to the provider's page where something is paid online, else to their link.
type Booked struct {
	Link     string
	Checkout string // "" where nothing is paid online
}

// Book books an appointment as the page, once for each key. Faults: those of POST /book.
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

// once does something as the page under a key, and waits for the first of two clicks: the second one gets what the first one booked. It waits for
// most of the time that its request has, as the first may take all that a payment provider needs; the rest is for the answer.
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
