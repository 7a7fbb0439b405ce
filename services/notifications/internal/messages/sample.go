package messages

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Preview writes a sample message of the business and sends nothing. The kind of the sample must be known. Errors: the
// faults of [Peers].
func (m *Messages) Preview(ctx context.Context, businessID uuid.UUID,
	sample notifications.SampleMessage) (letter.Letter, error) {
	offer, err := m.Peers.Offer(ctx, businessID)
	if err != nil {
		return letter.Letter{}, err
	}
	l, err := m.renderSample(offer, sample, false)
	l.HTML = ShowCodes(m.showLogo(ctx, offer, l.HTML), sampleID)
	return l, err
}

// SendTest mails a sample message at once and stores nothing. It returns the subject line, and whether the mail
// server delivers messages.
//
// Errors: [ErrNoServer]; [ErrSandbox]; the faults of [Peers]; [*mail.RefusedError]; [*mail.UnsentError].
func (m *Messages) SendTest(ctx context.Context, businessID uuid.UUID,
	test notifications.TestMessage) (*notifications.TestResult, error) {
	if m.Sender == nil {
		return nil, ErrNoServer
	}
	offer, err := m.Peers.Offer(ctx, businessID)
	if err != nil {
		return nil, err
	}
	if offer.Account.Sandbox {
		return nil, ErrSandbox
	}
	l, err := m.renderSample(offer, test.SampleMessage, true)
	if err != nil {
		return nil, err
	}
	kind := letter.Kind(test.Kind)
	message, err := addCodes(mail.Message{
		ID: uuid.NewString(), Date: m.Clock.Now(), FromName: l.From, To: test.To, ReplyTo: chooseReplyTo(kind, offer),
		Language: l.Language, Subject: l.Subject, Text: l.Text, HTML: l.HTML,
	}, sampleID)
	if err == nil {
		err = m.send(ctx, offer, message)
	}
	if err != nil {
		return nil, err
	}
	result := &notifications.TestResult{Recipient: test.To, Subject: l.Subject, Status: store.MessageSent}
	if m.IsPreview {
		result.Status, result.Reason = store.MessageNotSent, reasonNoServer
	}
	return result, nil
}

func (m *Messages) renderSample(offer *catalog.Snapshot, sample notifications.SampleMessage,
	isTest bool) (letter.Letter, error) {
	kind := letter.Kind(sample.Kind)
	language := sample.Language
	if language == "" {
		language = offer.DefaultLanguage
	}
	facts := m.newSampleFacts(offer, kind, language)
	facts.IsTest = isTest
	if kind != letter.OwnerNotice {
		facts.Note = chooseSampleText(sample.Note, offer.Notifications.Notes[sample.Kind])
		facts.Intro = chooseSampleText(sample.Intro, offer.Notifications.Intros[sample.Kind])
	}
	return letter.Render(kind, language, facts)
}

// chooseSampleText returns the text `own`, or the published text if `own` is nil.
func chooseSampleText(own *string, published catalog.Note) letter.Note {
	if own != nil {
		return letter.Note{Text: *own}
	}
	return letter.Note{Text: published.Text, Translations: published.Translations}
}

// These values appear in sample messages.
const (
	sampleCustomer = "Maria Lopes"
	sampleEmail    = "maria@example.com"
	samplePhone    = "+351 21 000 0000"
	sampleAmount   = "40.00"
	sampleMinutes  = 45
	sampleDays     = 7 // number of days from now to the sample's start
	sampleHour     = 10
)

// sampleID is the id of the booking, order or reservation in a sample message. The business has none with this id.
var sampleID = uuid.MustParse("5a3b1e00-0000-4000-8000-000000000000")

// newSampleFacts returns the facts of a sample message: a sale of the first thing of its kind that the business offers,
// seven days from now. The button of the message leads to the owner's pages, because the sample has no customer view.
func (m *Messages) newSampleFacts(offer *catalog.Snapshot, kind letter.Kind, language string) letter.Facts {
	now := m.Clock.Now()
	zone := offer.Location()
	day := now.In(zone).AddDate(0, 0, sampleDays)
	start := time.Date(day.Year(), day.Month(), day.Day(), sampleHour, 0, 0, 0, zone)
	amount := letter.Money{Amount: sampleAmount, Currency: offer.Currency}
	facts := letter.Facts{
		Business: m.newBusiness(offer, locale.RegionOf(offer.Timezone)), Notice: letter.NoticeCreated,
		Customer: letter.Person{Name: sampleCustomer, Email: sampleEmail, Phone: samplePhone},
		Subject: letter.Subject{ID: sampleID.String(), Sequence: 1, Total: amount,
			When: letter.When{Start: start, End: start.Add(sampleMinutes * time.Minute)}},
		Payment: letter.Payment{Amount: amount, Due: now.Add(time.Hour)},
		Now:     now, Stamp: now,
	}
	if m.OwnerURL != "" {
		facts.Link = m.OwnerURL + "/business/" + offer.Slug + "/messages"
	}
	switch {
	case strings.HasPrefix(string(kind), string(letter.TicketSubject)):
		facts.Subject.Kind, facts.Subject.Quantity, facts.Subject.Count = letter.TicketSubject, 2, 2
		facts.Subject.Tickets = make([]string, 2)
	case strings.HasPrefix(string(kind), string(letter.ReservationSubject)):
		facts.Subject.Kind = letter.ReservationSubject
	default:
		facts.Subject.Kind = letter.BookingSubject
		if len(offer.Staff) > 0 {
			facts.Subject.Staff = offer.MemberName(&offer.Staff[0].ID, offer.Staff[0].Name, language)
		}
	}
	facts.Subject.Items = []string{sampleItem(offer, facts.Subject.Kind, language)}
	switch kind {
	case letter.BookingRescheduled:
		before := letter.When{Start: start.AddDate(0, 0, -1), End: start.AddDate(0, 0, -1).Add(sampleMinutes * time.Minute)}
		facts.FormerTime = &before
	case letter.BookingCancelled, letter.TicketCancelled, letter.ReservationCancelled, letter.Refunded:
		facts.Refund = &amount
	default: // other kinds need no further facts
	}
	return facts
}

// sampleItem returns the name of the first service, event or rental of the business. It
// returns the name of the business if the business offers nothing of the kind.
func sampleItem(offer *catalog.Snapshot, kind letter.SubjectKind, language string) string {
	switch {
	case kind == letter.TicketSubject && len(offer.Events) > 0:
		return offer.EventName(offer.Events[0].ID, offer.Events[0].Name, language)
	case kind == letter.ReservationSubject && len(offer.Rentals) > 0:
		return offer.RentalName(offer.Rentals[0].ID, offer.Rentals[0].Name, language)
	case kind == letter.BookingSubject && len(offer.Services) > 0:
		return offer.ServiceName(offer.Services[0].ID, offer.Services[0].Name, language)
	}
	return offer.NameIn(language)
}
