package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
)

// collectFacts returns the facts of messages about the event `e`. The argument `language` is the language of the names
// of the sold services, events or rentals; "" means the business's default language.
func (m *Messages) collectFacts(offer *catalog.Snapshot, e event.Event, language string) (letter.Facts, error) {
	f := letter.Facts{Notice: notices[e.Type], Stamp: e.At,
		Business: m.newBusiness(offer, locale.RegionOf(offer.Timezone))}
	f.CanReschedule, f.CanCancel = offer.SelfService.RescheduleUntilHours != nil,
		offer.SelfService.CancelUntilHours != nil
	var err error
	switch e.Subject.Kind {
	case event.Booking:
		err = addBooking(&f, e, offer, language)
	case event.Ticket:
		err = addTicket(&f, e, offer, language)
	case event.Reservation:
		err = addReservation(&f, e, offer, language)
	default:
		var disabled disabledEndpoint
		err = json.Unmarshal(e.Data, &disabled)
		f.Webhook = letter.Webhook{URL: disabled.URL, IsGone: disabled.IsGone}
	}
	if err != nil {
		return letter.Facts{}, fmt.Errorf("the data of %s: %w", e.Type, err)
	}
	return f, nil
}

// sale holds the values of a booking, ticket order or reservation from which its refunds and its deadline for
// cancelling are computed.
type sale struct {
	payment      *booking.Payment // nil if nothing is paid online
	createdAt    time.Time
	formerStarts []time.Time // the starts before reschedules by the business
	isWithdrawn  bool        // the business no longer offers the sold service or event
}

// addPolicy adds two parts of the sale's cancellation policy to `s`: the deadline and the refund steps. For a sale
// without an online payment, the business's current policy applies. If the subject began before `now`, addPolicy adds
// nothing.
func addPolicy(s *letter.Subject, offer *catalog.Snapshot, sold sale, now time.Time) {
	start := s.When.Start
	if start.IsZero() || !start.After(now) {
		return
	}
	cancelHours := offer.SelfService.CancelUntilHours
	if sold.isWithdrawn || len(sold.formerStarts) > 0 {
		cancelHours = new(int) // the customer may cancel until the start (lifecycle.md §4)
	}
	if cancelHours != nil {
		if deadline := start.Add(-time.Duration(*cancelHours) * time.Hour); deadline.After(now) {
			s.Deadline = deadline
		}
	}
	if s.Total.Amount == "" || sold.isWithdrawn {
		return
	}
	policy := refund.NewPolicy(offer)
	if sold.payment != nil {
		policy = sold.payment.Policy
	}
	s.Policy = policy.Steps(sold.createdAt, start, now, sold.formerStarts...)
}

// notices contains the reason for the notice to owners, by the type of the event.
var notices = map[event.Type]letter.Notice{
	event.BookingCreated: letter.NoticeCreated, event.TicketSold: letter.NoticeCreated,
	event.ReservationCreated:   letter.NoticeCreated,
	event.ReservationConfirmed: letter.NoticeCreated,
	event.BookingRescheduled:   letter.NoticeRescheduled,
	event.BookingCancelled:     letter.NoticeCancelled, event.TicketCancelled: letter.NoticeCancelled,
	event.ReservationCancelled: letter.NoticeCancelled,
	event.PaymentRefundFailed:  letter.NoticeRefundFailed, event.PaymentDisputed: letter.NoticeDisputed,
	plan.EndpointDisabled: letter.NoticeWebhookDisabled,
}

func addBooking(f *letter.Facts, e event.Event, offer *catalog.Snapshot, language string) error {
	var b booking.Booking
	if err := json.Unmarshal(e.Data, &b); err != nil {
		return err
	}
	f.Business.Zone = timespan.Zone(b.Timezone, offer.Location())
	f.Customer = letter.Person{Name: b.CustomerName, Email: b.CustomerEmail, Phone: stringValue(b.CustomerPhone)}
	f.Subject = letter.Subject{
		Kind: letter.BookingSubject, ID: b.ID.String(), Sequence: e.Sequence,
		Staff:     offer.MemberName(b.StaffID, stringValue(b.StaffName), language),
		IsPending: b.Status == booking.StatusPending,
		When:      letter.When{Start: b.StartsAt, End: b.EndsAt}, Total: newMoney(b.Total, b.Currency),
	}
	if b.PartySize > 1 {
		f.Subject.Quantity = b.PartySize
	}
	if name := booking.PackageName(offer, b.Services, language); name != "" {
		f.Subject.Items = append(f.Subject.Items, name)
	}
	for _, s := range b.Services {
		name := offer.ServiceName(s.ID, s.Name, language)
		if s.VariantName != "" {
			name += ", " + offer.VariantName(s.ID, s.VariantID, s.VariantName, language)
		}
		f.Subject.Items = append(f.Subject.Items, name)
		if s.Quantity > 1 {
			f.Subject.Units = append(f.Subject.Units, letter.Units{Quantity: s.Quantity,
				Price: letter.Money{Amount: s.UnitPrice.String(), Currency: b.Currency}})
		}
		addChanges(f, s.PriceChanges)
	}
	f.Subject.Place = newBookedPlace(offer, &b)
	f.Answers = collectAnswers(offer, b.FormData)
	addPayment(f, e, b.Payment, b.Currency)
	addPolicy(&f.Subject, offer, sale{payment: b.Payment, createdAt: b.CreatedAt, isWithdrawn: b.Withdrawn}, e.At)
	return nil
}

// addChanges adds the labels of the pricing rules that changed a price. addChanges adds each label once.
func addChanges(f *letter.Facts, changes []booking.PriceChange) {
	for _, change := range changes {
		if !slices.Contains(f.Subject.Changes, change.Label) {
			f.Subject.Changes = append(f.Subject.Changes, change.Label)
		}
	}
}

// addPayment adds the paid amount and the amount that is still due. If a paid subject was cancelled, addPayment also
// adds the refund, which may be 0.
func addPayment(f *letter.Facts, e event.Event, p *booking.Payment, currency string) {
	if p == nil {
		return
	}
	if p.Status == booking.PaymentPaid && f.Subject.Total.Amount != "" {
		f.Subject.Paid = newMoney(p.Amount, currency)
		f.Subject.Rest = computeRest(json.Number(f.Subject.Total.Amount), p.Amount, currency)
	}
	f.Payment.Amount = letter.Money{Amount: p.Amount.String(), Currency: currency}
	if p.DueAt != nil {
		f.Payment.Due = *p.DueAt
	}
	switch {
	case p.Refund != nil:
		f.Refund = &letter.Money{Amount: p.Refund.Amount.String(), Currency: currency}
	case e.Type == event.PaymentRefunded:
		f.Refund = &letter.Money{Amount: p.Refunded.String(), Currency: currency}
	case (e.Type == event.BookingCancelled || e.Type == event.TicketCancelled ||
		e.Type == event.ReservationCancelled) && p.Status == booking.PaymentPaid:
		f.Refund = &letter.Money{Amount: "0", Currency: currency}
	}
}

func addTicket(f *letter.Facts, e event.Event, offer *catalog.Snapshot, language string) error {
	var t struct {
		booking.Ticket
		From *booking.TicketTime `json:"from"`
	}
	if err := json.Unmarshal(e.Data, &t); err != nil {
		return err
	}
	f.Business.Zone = timespan.Zone(t.Timezone, offer.Location())
	start, err := findStart(t.Ticket, f.Business.Zone)
	if err != nil {
		return err
	}
	f.Customer = letter.Person{Name: t.CustomerName, Email: stringValue(t.CustomerEmail),
		Phone: stringValue(t.CustomerPhone)}
	f.Subject = letter.Subject{
		Kind: letter.TicketSubject, ID: t.ID.String(), Sequence: e.Sequence,
		Items: []string{offer.EventName(t.EventID, t.EventName, language)},
		Tier:  offer.TierName(t.EventID, t.TierID, t.TierName, language), Quantity: t.Quantity, Count: t.Quantity,
		When: letter.When{Start: start},
	}
	if sold := offer.Event(t.EventID); sold != nil {
		f.Subject.Place = newSoldPlace(offer, offer.EventLocation(sold), t.Status)
	}
	if t.From != nil {
		f.FormerTime = &letter.When{Start: t.From.StartsAt}
	}
	for _, tier := range t.Tiers {
		if t.Status == booking.StatusSold && t.Quantity <= letter.MaxCodes {
			f.Subject.Tickets = append(f.Subject.Tickets, slices.Repeat([]string{offer.TierName(t.EventID, tier.TierID,
				tier.TierName, language)}, tier.Quantity)...)
		}
	}
	if len(t.Tiers) > 1 {
		lines := make([]string, len(t.Tiers))
		for i, tier := range t.Tiers {
			lines[i] = strconv.Itoa(tier.Quantity) + " × " + offer.TierName(t.EventID, tier.TierID, tier.TierName,
				language)
		}
		f.Subject.Tier, f.Subject.Quantity = strings.Join(lines, ", "), 0 // each tier states its own quantity
	}
	if t.Total != nil {
		f.Subject.Total = newMoney(*t.Total, t.Currency)
	}
	addChanges(f, t.PriceChanges)
	f.Answers = collectAnswers(offer, t.FormData)
	addPayment(f, e, t.Payment, t.Currency)
	addPolicy(&f.Subject, offer, sale{payment: t.Payment, createdAt: t.CreatedAt, formerStarts: t.FormerStarts,
		isWithdrawn: t.Withdrawn}, e.At)
	return nil
}

// findStart returns the start of a ticket's event. findStart combines the ticket's date and time in the given time
// zone.
func findStart(t booking.Ticket, zone *time.Location) (time.Time, error) {
	date, err := timespan.ParseDate(t.Date)
	if err != nil {
		return time.Time{}, err
	}
	at, err := timespan.ParseTimeOfDay(strings.TrimSuffix(t.StartTime, ":00")) // HH:MM:SS, in whole minutes
	return time.Unix(timespan.Instant(date, at, zone), 0), err
}

func addReservation(f *letter.Facts, e event.Event, offer *catalog.Snapshot, language string) error {
	var r rental.Reservation
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	f.Business.Zone = timespan.Zone(r.Timezone, offer.Location())
	f.Customer = letter.Person{Name: r.CustomerName, Email: stringValue(r.CustomerEmail),
		Phone: stringValue(r.CustomerPhone)}
	f.Subject = letter.Subject{
		Kind: letter.ReservationSubject, ID: r.ID.String(), Sequence: e.Sequence, Quantity: r.Quantity,
		Items: []string{offer.RentalName(r.RentalID, r.RentalName, language)},
	}
	if sold := offer.Rental(r.RentalID); sold != nil {
		f.Subject.Place = newSoldPlace(offer, offer.RentalLocation(sold), r.Status)
	}
	for _, extra := range r.Extras {
		f.Subject.Items = append(f.Subject.Items, strconv.Itoa(extra.Quantity)+" × "+offer.RentalName(extra.RentalID,
			extra.RentalName, language))
	}
	if r.Total != nil {
		f.Subject.Total = newMoney(*r.Total, r.Currency)
	}
	addChanges(f, r.PriceChanges)
	at := func(day timespan.Date, minute timespan.TimeOfDay) time.Time {
		return time.Unix(timespan.Instant(day, minute, f.Business.Zone), 0)
	}
	f.Subject.When = letter.When{Start: at(r.StartDate, 0), End: at(r.EndDate+1, 0), IsAllDay: true}
	if r.StartTime != nil && r.EndTime != nil {
		f.Subject.When = letter.When{Start: at(r.StartDate, *r.StartTime), End: at(r.EndDate, *r.EndTime)}
	}
	f.Answers = collectAnswers(offer, r.FormData)
	addPayment(f, e, r.Payment, r.Currency)
	addPolicy(&f.Subject, offer, sale{payment: r.Payment, createdAt: r.CreatedAt, isWithdrawn: r.Withdrawn}, e.At)
	return nil
}

func stringValue(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// newMoney returns a price as Money. The price 0 becomes the zero Money, which messages do not show.
func newMoney(n json.Number, currency string) letter.Money {
	if f, err := n.Float64(); err != nil || f == 0 {
		return letter.Money{}
	}
	return letter.Money{Amount: n.String(), Currency: currency}
}

// collectAnswers returns the customer's answers to the business's questions.
func collectAnswers(offer *catalog.Snapshot, formData json.RawMessage) []letter.Answer {
	var list []letter.Answer
	for _, a := range offer.AnswersIn(formData) {
		isTicked, isTick := a.Value.(bool)
		label := a.Question.Label
		answer := letter.Answer{Label: letter.Note{Text: label.Text, Translations: label.Translations}, IsYes: isTicked}
		if !isTick {
			answer.Text = a.Text(offer.DefaultLanguage, "", "")
		}
		list = append(list, answer)
	}
	return list
}

// computeRest returns the unpaid part of a total. If nothing is unpaid, it returns the zero Money, which messages do
// not show.
func computeRest(total, paid json.Number, currency string) letter.Money {
	whole, err := decimal.NewFromString(total.String())
	if err != nil {
		return letter.Money{}
	}
	part, err := decimal.NewFromString(paid.String())
	if err != nil || !whole.GreaterThan(part) {
		return letter.Money{}
	}
	return letter.Money{Amount: whole.Sub(part).StringFixed(max(-whole.Exponent(), -part.Exponent(), 0)),
		Currency: currency}
}

// findEnd returns the end of a message's subject, or the argument `at` if the subject has no end.
func findEnd(f letter.Facts, at time.Time) time.Time {
	switch when := f.Subject.When; {
	case !when.End.IsZero():
		return when.End
	case !when.Start.IsZero():
		return when.Start
	}
	return at
}
