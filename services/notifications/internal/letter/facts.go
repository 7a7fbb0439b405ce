package letter

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// Facts are the inputs of a message. Their texts may be anything that people typed; the package cleans
// them. Every message needs Business, Subject and Customer. Only the notice about a webhook endpoint
// needs Business and Webhook instead.
type Facts struct {
	Business    Business
	Customer    Person
	Subject     Subject
	FormerTime  *When   // for [BookingRescheduled] and its notice
	FormerStaff string  // set if another staff member has the booking now
	Payment     Payment // of [PaymentDue] and [PaymentFailed]
	// of [Refunded] and of cancellations of paid subjects: the refund, or 0; otherwise nil
	Refund                   *Money
	Notice                   Notice    // for [OwnerNotice]
	Answers                  []Answer  // for [OwnerNotice]: the customer's answers to the business's questions
	Webhook                  Webhook   // for [NoticeWebhookDisabled]
	CanReschedule, CanCancel bool      // whether the customer may do so on the page of the link
	Link                     string    // URL of the customer view, or of the owner's page for an owner; may be empty
	Note                     Note      // the owner's own text for customers in messages of this kind
	Stamp                    time.Time // time of the event
}

// Business is the sender of the message.
type Business struct {
	Name     string
	Names    map[string]string // translations of the name, by language code
	Language string            // code of the default language
	Region   string            // ISO 3166 code of its country, or empty
	Zone     *time.Location    // required
	ReplyTo  string            // the address for replies; "": the message does not ask for replies
	From     string            // the sender's address; the organizer of invitations if ReplyTo is empty
	Accent   string            // #rrggbb of the business's colour, or empty
}

// Answer is a customer's answer to a question. Label is in the
// language of the letter if the business has a translation.
type Answer struct {
	Label Note
	Text  string // "" for a checkbox
	IsYes bool   // for a checkbox
}

// Person is the customer.
type Person struct{ Name, Email, Phone string }

// SubjectKind is the kind of a message's subject.
type SubjectKind string

// The kinds of subjects.
const (
	BookingSubject     SubjectKind = "booking"
	TicketSubject      SubjectKind = "ticket"
	ReservationSubject SubjectKind = "reservation"
)

// Subject is the booking, ticket order or reservation that a message is about, in its present state.
type Subject struct {
	Kind     SubjectKind
	ID       string // the UID in calendars
	Sequence int    // grows with every change
	// Items are the names at the time of the sale: of services with their variants, of the event, or of the rental.
	Items    []string
	Tier     string // for tickets
	Staff    string // may be empty
	Quantity int    // people, tickets or units; 0 if the message does not state it
	When     When
	Total    Money // the zero Money if no price is shown
	Paid     Money // the part of Total that was paid online; the zero Money if nothing was paid
	Rest     Money // the part of Total that is due on site; the zero Money if nothing is due
	Count    int   // number of tickets of all tiers
	// Units are the prices per person in Total. Changes are the labels of the pricing rules that changed a price.
	Units   []Units
	Changes []string
	// Policy holds the refund steps that still lie in the future. Deadline is the last instant at which
	// the customer may cancel online; it is zero if the customer may not cancel online.
	Policy    []refund.Step
	Deadline  time.Time
	IsPending bool // the business has not confirmed the subject yet
}

// When is a time from Start to End, or an instant if End is zero.
type When struct {
	Start, End time.Time
	// IsAllDay means whole dates in the business's zone: End is the midnight after the last date.
	IsAllDay bool
}

// end returns the instant at which w ends, or its last date if IsAllDay.
func (w When) end() When {
	switch {
	case w.End.IsZero():
		return When{Start: w.Start, IsAllDay: w.IsAllDay}
	case w.IsAllDay:
		return When{Start: w.End.AddDate(0, 0, -1), IsAllDay: true}
	}
	return When{Start: w.End}
}

// Units is a number of people with the same price.
type Units struct {
	Quantity int
	Price    Money // per person
}

// Money is an amount in a currency, such as 40.00 EUR.
type Money struct {
	Amount   string // a decimal
	Currency string // ISO 4217
}

// isZero reports whether the amount is 0 or missing.
func (m Money) isZero() bool { return strings.Trim(m.Amount, "0.") == "" }

// Payment is the amount that a customer still has to pay online.
type Payment struct {
	Amount Money
	Due    time.Time // time at which the unpaid booking is cancelled; zero if it is never cancelled
}

// Notice is the subject matter of a notice to an owner.
type Notice string

// The notices to owners.
const (
	NoticeCreated         Notice = "created"
	NoticeRescheduled     Notice = "moved"
	NoticeCancelled       Notice = "cancelled"
	NoticeRefundFailed    Notice = "refund_failed"
	NoticeDisputed        Notice = "disputed"
	NoticeWebhookDisabled Notice = "webhook_disabled"
)

// Webhook is a disabled endpoint.
type Webhook struct {
	URL    string
	IsGone bool // the endpoint answered 410; if false, all its deliveries failed for days
}

// Note is an owner's text with its translations by language code.
type Note struct {
	Text         string
	Translations map[string]string
}

// lines returns the lines of the note in the language of the letter, or the original if there is no translation.
func (n Note) lines(w *words) []string {
	return w.sanitizeLines(w.translate(n.Text, n.Translations))
}

// translate returns a business's text in the language of the letter, or the original if there is no translation.
func (w *words) translate(text string, translations map[string]string) string {
	code, ok := locale.Match(w.Requested, slices.Collect(maps.Keys(translations)))
	if ok && strings.TrimSpace(translations[code]) != "" {
		return translations[code]
	}
	return text
}

// check returns an error that names a missing fact. The argument subject is true if the message needs a subject.
func (f *Facts) check(needsSubject bool) error {
	switch {
	case f.Business.Zone == nil:
		return errors.New("the business has no time zone")
	case !needsSubject:
		return nil
	case f.Subject.Kind != BookingSubject && f.Subject.Kind != TicketSubject && f.Subject.Kind != ReservationSubject:
		return errors.New("the subject is of no known kind: " + clean(string(f.Subject.Kind), maxName))
	case len(f.Subject.Items) == 0:
		return errors.New("the subject has no name")
	case f.Subject.When.Start.IsZero():
		return errors.New("the subject has no time")
	}
	return nil
}

func (b *Business) footer(w *words) []string {
	lines := []string{w.sanitize(b.Name, maxName)}
	if b.ReplyTo != "" {
		lines = append(lines, w.isolateLTR(clean(b.ReplyTo, maxURL)))
	}
	return lines
}

// checkLink returns s if it is a valid http or https URL for a link, otherwise "".
func checkLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(s) > maxURL ||
		clean(s, maxURL) != s {
		return ""
	}
	return u.String()
}
