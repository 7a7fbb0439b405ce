package letter

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/refund"
)

// Facts are what a message tells. Texts may be anything that people typed. Business, Subject and Customer belong to every
// message but the notice of a webhook endpoint, which tells Business and Webhook.
type Facts struct {
	Business           Business
	Customer           Person
	Subject            Subject
	Was                *When     // of [BookingMoved] and its notice: when it was before
	WasStaff           string    // the member before, where another one performs the booking now
	Payment            Payment   // of [PaymentDue] and [PaymentFailed]
	Refund             *Money    // of cancellations of what was paid, and of [Refunded]: what goes back, 0 where nothing does; else nil
	Notice             Notice    // of [OwnerNotice]
	Answers            []Answer  // of [OwnerNotice]: what the customer answered to the business\'s questions
	Webhook            Webhook   // of [NoticeWebhookDisabled]
	CanMove, CanCancel bool      // what the business lets the customer do by the link
	Link               string    // the reader's page: the customer's link, which owners never get, or the owner's page; may be empty
	Note               Note      // the owner's own words for customers, of this kind of message
	Stamp              time.Time // when the subject came to be as it is: the event's time
}

// Business is who the message is from.
type Business struct {
	Name     string
	Names    map[string]string // the name in other languages, by their codes
	Language string            // its default: a code of its languages
	Region   string            // ISO 3166 code of its country, or empty
	Zone     *time.Location    // its IANA zone; required
	ReplyTo  string            // where answers go; where it is empty, nobody is told to answer
	From     string            // the address that messages are sent from; it invites to calendars where ReplyTo is empty
	Accent   string            // #rrggbb of the business's colour, or empty
}

// Answer is an answer of the customer; Label is in the language of the letter where the business has it in that.
type Answer struct {
	Label Note
	Text  string // "" for a checkbox
	Yes   bool   // of a checkbox
}

// Person is the customer.
type Person struct{ Name, Email, Phone string }

// SubjectKind is the kind of what a message is about.
type SubjectKind string

// The kinds of subjects.
const (
	BookingSubject     SubjectKind = "booking"
	TicketSubject      SubjectKind = "ticket"
	ReservationSubject SubjectKind = "reservation"
)

// Subject is the booking, ticket order or reservation that a message is about, as it is now.
type Subject struct {
	Kind     SubjectKind
	ID       string // the UID in calendars
	Sequence int    // grows with every change
	// Items are names as they were sold: of services (with their variants), of the event, of the rental.
	Items    []string
	Tier     string // of tickets
	Staff    string // may be empty
	Quantity int    // people, tickets or units; 0 where it goes without saying
	When     When
	Total    Money // the zero Money where no price is shown
	Paid     Money // of Total, online; the zero Money if nothing was paid
	Rest     Money // of Total, still to be paid on site; the zero Money if nothing is
	Count    int   // of tickets of all tiers
	// Units are the prices per person that Total is made of, and Changes the labels of the pricing rules that changed a price.
	Units   []Units
	Changes []string
	// Policy are the refunds of the time ahead. Deadline is the last instant at which the customer may cancel online; the zero
	// time if they may not.
	Policy   []refund.Step
	Deadline time.Time
	Pending  bool // waits to be confirmed
}

// When is a time: from Start to End, or a moment where End is zero.
type When struct {
	Start, End time.Time
	// AllDay makes whole dates of it, as they stand in the business's zone: End is the midnight after the last.
	AllDay bool
}

// end is the moment, or the date, at which something ends.
func (w When) end() When {
	switch {
	case w.End.IsZero():
		return When{Start: w.Start, AllDay: w.AllDay}
	case w.AllDay:
		return When{Start: w.End.AddDate(0, 0, -1), AllDay: true}
	}
	return When{Start: w.End}
}

// Units is a price that several people pay.
type Units struct {
	Quantity int
	Price    Money // of one
}

// Money is an amount of a currency, such as 40.00 of EUR.
type Money struct {
	Amount   string // a decimal
	Currency string // ISO 4217
}

// isZero tells an amount of nothing, and none.
func (m Money) isZero() bool { return strings.Trim(m.Amount, "0.") == "" }

// Payment is what a customer has yet to pay online.
type Payment struct {
	Amount Money
	Due    time.Time // when the booking is given up; zero where it is not
}

// Notice is what an owner is told of.
type Notice string

// The notices.
const (
	NoticeCreated         Notice = "created"
	NoticeMoved           Notice = "moved"
	NoticeCancelled       Notice = "cancelled"
	NoticeRefundFailed    Notice = "refund_failed"
	NoticeDisputed        Notice = "disputed"
	NoticeWebhookDisabled Notice = "webhook_disabled"
)

// Webhook is an endpoint that was disabled.
type Webhook struct {
	URL  string
	Gone bool // it answered 410; else its deliveries failed for days
}

// Note is an owner's own words, and the same in other languages, by their codes.
type Note struct {
	Text         string
	Translations map[string]string
}

// in returns the lines of the note in the language of the letter, else in the business's own.
func (n Note) in(w *words) []string {
	return w.typedLines(w.translated(n.Text, n.Translations))
}

// translated is a text of the business's in the language of the letter, else in its own.
func (w *words) translated(text string, translations map[string]string) string {
	code, ok := locale.Match(w.Asked, slices.Collect(maps.Keys(translations)))
	if ok && strings.TrimSpace(translations[code]) != "" {
		return translations[code]
	}
	return text
}

// check says which fact is missing.
func (f *Facts) check(subject bool) error {
	switch {
	case f.Business.Zone == nil:
		return errors.New("the business has no time zone")
	case !subject:
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
	lines := []string{w.typed(b.Name, maxName)}
	if b.ReplyTo != "" {
		lines = append(lines, w.foreign(clean(b.ReplyTo, maxURL)))
	}
	return lines
}

// webAddress is an address that a link may lead to, or empty.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(s) > maxURL || clean(s, maxURL) != s {
		return ""
	}
	return u.String()
}
