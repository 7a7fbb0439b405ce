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

// Facts are the data from which a message is written. The texts may contain any characters, because people typed them.
// The functions of this package clean the texts. Every message needs Business, Subject and Customer. Only the notice
// about a webhook endpoint differs: it needs Business and Webhook.
type Facts struct {
	Business    Business
	Customer    Person
	Subject     Subject
	FormerTime  *When   // the time before the reschedule, for [BookingRescheduled] and the owner's notice
	FormerStaff string  // the staff member before the reschedule; "" if the staff member is the same
	FormerPlace string  // the name of the location before a relocation, or its former address; "" if both are the same
	Payment     Payment // what the customer must still pay online, for [PaymentDue] and [PaymentFailed]
	// Refund is set for [Refunded] and for cancellations of paid subjects; the amount may be 0. Otherwise it is nil.
	Refund                   *Money
	Notice                   Notice    // reason for the notice; only for [OwnerNotice]
	Answers                  []Answer  // the customer's answers to the business's questions; only for [OwnerNotice]
	Webhook                  Webhook   // the disabled endpoint; only for [NoticeWebhookDisabled]
	CanReschedule, CanCancel bool      // what the customer may do on the page at Link
	Reason                   string    // why the business cancelled, in its own words; may be empty
	Link                     string    // URL of the customer view or, for a notice, of the owner's page; may be empty
	DeclineLink              string    // URL of the owner's page that cancels the booking; only for [OwnerNotice]
	CalendarLink             string    // URL of the calendar entry; "" if the customer has no page
	Now                      time.Time // when the message is written, so that it can say "today"; may be zero
	Note                     Note      // text by the owner for all messages of this kind to customers
	Intro                    Note      // first sentences of the message by the owner, with placeholders; may be empty
	Stamp                    time.Time // time of the change that the message reports; for a reminder, the last change
	// IsTest means that the message has sample facts and only a person of the business gets it. The message says this,
	// and has no calendar entry, because a sample must not appear in a calendar.
	IsTest bool
}

// Business is the business in whose name the message is sent.
type Business struct {
	Name     string
	Names    map[string]string // translations of the name, by language code
	Language string            // code of the default language
	Region   string            // ISO 3166 code of the business's country, or empty
	Zone     *time.Location    // required
	ReplyTo  string            // the address for replies; "": the message does not ask for replies
	From     string            // the sender's address; the organizer of invitations if ReplyTo is empty
	Accent   string            // the business's colour as #rrggbb, or empty
	Place    *Place            // the place that customers visit; nil if the business has none
	Phone    string            // the number that customers call, or empty
	Imprint  Note              // an https URL or a text; may be empty
	Privacy  Note              // an https URL or a text; may be empty
	Policy   Note              // the owner's rules in plain text, beside the cancellation policy; may be empty
}

// Answer is a customer's answer to a question of the business. Label is the question, in the language of the letter if
// the business has translated it.
type Answer struct {
	Label Note
	Text  string // the typed answer; "" for a checkbox
	IsYes bool   // whether a checkbox is checked
}

// Person is the customer that the message is about.
type Person struct{ Name, Email, Phone string }

// SubjectKind is the kind of thing that a message is about.
type SubjectKind string

// The kinds of subjects of messages.
const (
	BookingSubject     SubjectKind = "booking"
	TicketSubject      SubjectKind = "ticket"
	ReservationSubject SubjectKind = "reservation"
)

// Subject is the booking, ticket order or reservation that a message is about, in its current state.
type Subject struct {
	Kind     SubjectKind
	ID       string // also the UID of the entry in the customer's calendar
	Sequence int    // increases with every change of the subject
	// Items are the names of what was sold, as of the time of the sale: services with their variants, the event or the
	// rental.
	Items    []string
	Tier     string // the ticket's price tier; only for tickets
	Staff    string // name of the staff member; may be empty
	Quantity int    // number of people, tickets or units; 0 if the message does not state it
	When     When
	Total    Money // the zero Money if no price is shown
	Paid     Money // the part of Total that was paid online; the zero Money if nothing was paid
	Rest     Money // the part of Total that is due on site; the zero Money if nothing is due
	Count    int   // number of tickets in all tiers together
	// Tickets are the price tiers of the single tickets, in their order. It is empty if the tickets are not valid, and
	// if there are more than [MaxCodes].
	Tickets []string
	// Units are the groups of people whose prices add up to Total. Changes are the labels of the pricing rules that
	// changed a price.
	Units   []Units
	Changes []string
	// Policy holds the refund steps that still apply in the future. Deadline is the last instant at which the customer
	// may cancel online; it is zero if the customer may not cancel online.
	Policy    []refund.Step
	Deadline  time.Time
	IsPending bool // the business has not confirmed the subject yet
	// Place is where the subject takes place. It is nil if the business has one place for all subjects.
	Place *Place
}

// When is the time from Start to End. If End is zero, it is the instant Start.
type When struct {
	Start, End time.Time
	// IsAllDay means that the time consists of dates without times of day. Start is midnight in the business's time
	// zone at the beginning of the first date, and End is the midnight after the last date.
	IsAllDay bool
}

// end returns the instant at which the argument `w` ends. If w.IsAllDay is set, end returns the last date.
func (w When) end() When {
	switch {
	case w.End.IsZero():
		return When{Start: w.Start, IsAllDay: w.IsAllDay}
	case w.IsAllDay:
		return When{Start: w.End.AddDate(0, 0, -1), IsAllDay: true}
	}
	return When{Start: w.End}
}

// Units is a group of people who each pay the same price.
type Units struct {
	Quantity int
	Price    Money // price per person
}

// Money is an amount of money in a currency, such as 40.00 EUR.
type Money struct {
	Amount   string // a decimal number
	Currency string // ISO 4217 code
}

// isZero reports whether the amount is 0 or missing.
func (m Money) isZero() bool { return strings.Trim(m.Amount, "0.") == "" }

// Payment is the amount that a customer must still pay online.
type Payment struct {
	Amount Money
	Due    time.Time // when the unpaid booking is cancelled; zero if it is never cancelled
}

// Notice is the reason for a notice to an owner.
type Notice string

// The reasons for notices to owners.
const (
	NoticeCreated         Notice = "created"
	NoticeRescheduled     Notice = "moved"
	NoticeCancelled       Notice = "cancelled"
	NoticeRefundFailed    Notice = "refund_failed"
	NoticeDisputed        Notice = "disputed"
	NoticeWebhookDisabled Notice = "webhook_disabled"
)

// Webhook is the disabled webhook endpoint that a notice is about.
type Webhook struct {
	URL    string
	IsGone bool // true: the endpoint answered 410; false: all its deliveries failed for days
}

// Note is a text by an owner, with its translations by language code.
type Note struct {
	Text         string
	Translations map[string]string
}

// lines returns the lines of the note in the language of the letter. If there is no translation to that language, it
// returns the lines of the original text.
func (n Note) lines(w *words) []string {
	return w.sanitizeLines(w.translate(n.Text, n.Translations))
}

// translate returns a business's text in the language of the letter, or the text itself if there is no translation.
func (w *words) translate(text string, translations map[string]string) string {
	code, ok := locale.Match(w.Requested, slices.Collect(maps.Keys(translations)))
	if ok && strings.TrimSpace(translations[code]) != "" {
		return translations[code]
	}
	return text
}

// check returns an error about the first field of `f` that is missing or invalid, or nil. The argument `needsSubject`
// is true if the message needs a subject.
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

// checkLink returns the argument `s` if `s` is a valid http or https URL for a link, otherwise "".
func checkLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(s) > maxURL ||
		clean(s, maxURL) != s {
		return ""
	}
	return u.String()
}
