// Package letter writes what customers and owners read: the subject, the text and the HTML of every kind of message
// (lifecycle.md §2), in the 36 languages that the platform speaks, and the invitation that goes with it. It is pure: facts
// come in, a letter goes out.
//
// A letter is composed once, as lines of words, and then written twice: its text and its HTML hold the same words in the same
// order. What people typed is cleaned before it is composed: it is one line without controls and marks of direction, isolated
// where it runs against the letter's direction, and escaped in HTML.
package letter

import (
	"fmt"
	"strings"
	"time"
)

// Kind is a kind of message (lifecycle.md §2).
type Kind string

// The kinds of messages.
const (
	BookingReceived      Kind = "booking_received"
	BookingConfirmed     Kind = "booking_confirmed"
	BookingMoved         Kind = "booking_moved"
	BookingCancelled     Kind = "booking_cancelled"
	Reminder             Kind = "reminder"
	PaymentDue           Kind = "payment_due"
	PaymentFailed        Kind = "payment_failed"
	Refunded             Kind = "refunded"
	Ticket               Kind = "ticket"
	TicketMoved          Kind = "ticket_moved"
	TicketWithdrawn      Kind = "ticket_withdrawn"
	BookingWithdrawn     Kind = "booking_withdrawn"
	ReservationWithdrawn Kind = "reservation_withdrawn"
	TicketCancelled      Kind = "ticket_cancelled"
	Reservation          Kind = "reservation"
	ReservationDue       Kind = "reservation_due" // what was rented is to be returned
	ReservationCancelled Kind = "reservation_cancelled"
	OwnerNotice          Kind = "owner_notice" // to the owner; Facts.Notice says of what
)

// Known reports whether there is such a kind.
func (k Kind) Known() bool {
	_, toCustomers := layouts[k]
	return toCustomers || k == OwnerNotice
}

// Letter is a message ready to be sent.
type Letter struct {
	Language string // BCP 47, of the words: for the header Content-Language
	From     string // the business's name, in that language where it has one
	Subject  string // one line
	Text     string // lines end with \n
	HTML     string
	// Calendar is an iCalendar object, and Method the method that its MIME part names too: REQUEST, CANCEL or PUBLISH. Both are
	// empty where nothing of the message belongs into a calendar.
	Calendar []byte
	Method   string
}

// Render writes the message of a kind in the language of locale, matched as semantics.md §6 says, else in the business's own, else
// in English. Its error says which fact the kind needs and lacks.
func Render(kind Kind, locale string, f Facts) (Letter, error) {
	w, err := wordsIn(locale, f.Business.Language, f.Business.Region)
	if err != nil {
		return Letter{}, err
	}
	f.Business.Name = w.translated(f.Business.Name, f.Business.Names)
	p, err := compose(kind, w, &f)
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	html, err := p.html()
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	l := Letter{Language: w.Code, From: f.Business.Name, Subject: p.Subject, Text: p.text(), HTML: html}
	l.Calendar, l.Method, err = invitation(kind, w, &f)
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	return l, nil
}

// page is a letter before it is written as text or HTML: words in the order in which they are read.
type page struct {
	Language, Direction string // of the HTML: a code, ltr or rtl
	Subject             string
	Business            string
	Title               string
	Greeting            string // may be empty
	Paragraphs          []string
	Rows                []row
	NoteTitle           string
	Note                []string // lines; none where the owner wrote none
	Button, Link        string   // both or none
	Questions           string   // may be empty
	Footer              []string
	Accent              accent
}

// row is one detail: what it is, and its value in lines.
type row struct {
	Label  string
	Value  []string
	Strong bool // is what readers look for
	Old    bool // holds no more
}

// layout says what a kind consists of.
type layout struct {
	title  string
	leads  []string // ids of sentences
	button string   // id of its words
	show   parts
}

// parts are the details that a kind shows.
type parts struct{ payment, refund, customer, total, due bool }

var layouts = map[Kind]layout{
	BookingReceived:      {"title_booking_received", []string{"booking_received"}, "manage", parts{total: true}},
	BookingConfirmed:     {"title_booking_confirmed", []string{"booking_confirmed"}, "manage", parts{total: true}},
	BookingMoved:         {"title_booking_moved", []string{"booking_moved"}, "manage", parts{total: true}},
	BookingWithdrawn:     {"title_booking_withdrawn", []string{"booking_withdrawn"}, "manage_cancel", parts{}},
	BookingCancelled:     {"title_booking_cancelled", []string{"booking_cancelled"}, "view", parts{refund: true}},
	Reminder:             {"title_reminder", []string{"reminder"}, "manage", parts{}},
	PaymentDue:           {"title_payment_due", []string{"payment_due"}, "pay", parts{payment: true}},
	PaymentFailed:        {"title_payment_failed", []string{"payment_failed"}, "pay", parts{payment: true}},
	Refunded:             {"title_refunded", []string{"refunded"}, "view", parts{refund: true}},
	Ticket:               {"title_ticket", nil, "view", parts{total: true}},
	TicketMoved:          {"title_ticket_moved", []string{"ticket_moved"}, "view", parts{}},
	TicketWithdrawn:      {"title_ticket_withdrawn", []string{"ticket_withdrawn"}, "view", parts{}},
	TicketCancelled:      {"title_ticket_cancelled", []string{"ticket_cancelled"}, "view", parts{refund: true}},
	Reservation:          {"title_reservation", []string{"reservation"}, "manage", parts{total: true}},
	ReservationWithdrawn: {"title_reservation_withdrawn", []string{"reservation_withdrawn"}, "manage_cancel", parts{}},
	ReservationDue:       {"title_reservation_due", []string{"reservation_due"}, "view", parts{due: true}},
	ReservationCancelled: {"title_reservation_cancelled", []string{"reservation_cancelled"}, "view", parts{refund: true}},
}

// notices are the layouts of [OwnerNotice]. The titles of what was made or cancelled go by its kind.
var notices = map[Notice]layout{
	NoticeCreated:         {"", nil, "view", parts{customer: true, total: true}},
	NoticeMoved:           {"title_booking_moved", []string{"owner_moved"}, "view", parts{customer: true}},
	NoticeCancelled:       {"", []string{"owner_cancelled"}, "view", parts{customer: true, refund: true}},
	NoticeRefundFailed:    {"title_refund_failed", []string{"owner_refund_failed"}, "view", parts{customer: true}},
	NoticeDisputed:        {"title_disputed", []string{"owner_disputed"}, "view", parts{customer: true}},
	NoticeWebhookDisabled: {"title_webhook_disabled", []string{"webhook_failing"}, "view", parts{}},
}

func layoutOf(kind Kind, f *Facts) (layout, error) {
	l, ok := layouts[kind]
	if kind == OwnerNotice {
		l, ok = notices[f.Notice]
	}
	if !ok {
		return layout{}, fmt.Errorf("no message is written for it (notice %q)", f.Notice)
	}
	if kind == PaymentDue && f.Subject.Kind != BookingSubject {
		l.leads = []string{"payment_due_" + string(f.Subject.Kind)}
	}
	if kind == BookingMoved && f.Was == nil && f.WasStaff != "" {
		l.title, l.leads = "title_booking_changed", []string{"booking_person"}
	}
	if kind != OwnerNotice {
		return l, nil
	}
	switch f.Notice {
	case NoticeCreated:
		l.title = "title_owner_" + string(f.Subject.Kind)
		if f.Subject.Kind == BookingSubject {
			l.leads = []string{"owner_created"}
		}
		if f.Subject.Pending {
			l.leads = append(l.leads, "owner_pending")
		}
	case NoticeCancelled:
		l.title = "title_" + string(f.Subject.Kind) + "_cancelled"
	case NoticeWebhookDisabled:
		if f.Webhook.Gone {
			l.leads = []string{"webhook_gone"}
		}
	default: // the texts of the kind hold
	}
	return l, nil
}

func compose(kind Kind, w *words, f *Facts) (*page, error) {
	l, err := layoutOf(kind, f)
	if err != nil {
		return nil, err
	}
	aboutWebhook := kind == OwnerNotice && f.Notice == NoticeWebhookDisabled
	if err := f.check(!aboutWebhook); err != nil {
		return nil, err
	}
	p := &page{Language: w.Code, Direction: w.Direction(), Accent: accentOf(f.Business.Accent)}
	p.Business, p.Title = w.typed(f.Business.Name, maxName), w.Say(l.title)
	if aboutWebhook {
		p.Subject = p.Title
		p.add(w.Say("endpoint"), w.foreign(clean(f.Webhook.URL, maxURL)))
	} else {
		p.Subject = w.subject(p.Title, f, l.show.due)
		p.details(w, f, l.show)
	}
	p.leads(kind, w, f, l)
	if kind != OwnerNotice {
		p.toCustomer(w, f)
	}
	if link := webAddress(f.Link); link != "" {
		p.Button, p.Link = w.Say(f.button(l.button)), link
	}
	p.Footer = f.Business.footer(w)
	return p, w.Fault()
}

// toCustomer adds what only customers get: the call by name, the owner's note and where to ask.
func (p *page) toCustomer(w *words, f *Facts) {
	if name := w.isolated(callable(f.Customer.Name)); name != "" {
		p.Greeting = w.Fill("greeting", map[string]string{"Name": name})
	}
	if lines := f.Note.in(w); len(lines) > 0 {
		p.NoteTitle, p.Note = w.Say("note"), lines
	}
	if f.Business.ReplyTo != "" {
		p.Questions = w.Say("questions")
	}
}

// manageButton is the button of a subject that is ahead.
const manageButton = "manage"

// button returns the button of a layout. A manageButton becomes one that offers only what the business lets customers do.
func (f *Facts) button(id string) string {
	if id != manageButton {
		return id
	}
	movable := f.CanMove && f.Subject.Kind == BookingSubject
	switch {
	case movable && f.CanCancel:
		return manageButton
	case movable:
		return "manage_move"
	case f.CanCancel:
		return "manage_cancel"
	}
	return "view"
}

// leads adds the sentences of the kind and, where something was paid, the one about the refund.
func (p *page) leads(kind Kind, w *words, f *Facts, l layout) {
	if kind == Ticket {
		p.Paragraphs = append(p.Paragraphs, w.Count("ticket", max(f.Subject.Count, f.Subject.Quantity, 1)))
	}
	for _, id := range l.leads {
		p.Paragraphs = append(p.Paragraphs, w.Say(id))
	}
	switch {
	case kind == Refunded || kind == OwnerNotice || !l.show.refund || f.Refund == nil:
	case f.Refund.isZero():
		p.Paragraphs = append(p.Paragraphs, w.Say("refund_none"))
	default:
		p.Paragraphs = append(p.Paragraphs, w.Say("refund_follows"))
	}
}

func (p *page) add(label string, value ...string) {
	var lines []string
	for _, v := range value {
		if v != "" {
			lines = append(lines, v)
		}
	}
	if len(lines) > 0 {
		p.Rows = append(p.Rows, row{Label: label, Value: lines})
	}
}

// details adds the rows: what and when, who, what it costs.
func (p *page) details(w *words, f *Facts, show parts) {
	s := &f.Subject
	var items []string
	for _, item := range s.Items {
		items = append(items, w.typed(item, maxName))
	}
	p.add(w.Say("label_"+string(s.Kind)), items...)
	zone := f.Business.Zone
	if show.due {
		p.add(w.Say("return_by"), w.when(s.When.end(), zone)...)
	} else {
		p.add(w.Say("when"), w.when(s.When, zone)...)
	}
	p.Rows[len(p.Rows)-1].Strong = true
	if f.Was != nil {
		p.add(w.Say("before"), w.when(*f.Was, zone)...)
		p.Rows[len(p.Rows)-1].Old = true
	}
	p.add(w.Say("with"), w.typed(s.Staff, maxName))
	if f.WasStaff != "" {
		p.add(w.Say("before"), w.typed(f.WasStaff, maxName))
		p.Rows[len(p.Rows)-1].Old = true
	}
	if count := w.quantity(s); count != "" {
		p.add(w.Say("count_"+string(s.Kind)), count)
	}
	if show.customer {
		p.add(w.Say("customer"), w.typed(f.Customer.Name, maxName))
		p.add(w.Say("email"), w.foreign(clean(f.Customer.Email, maxURL)))
		p.add(w.Say("phone"), w.foreign(clean(f.Customer.Phone, maxName)))
		p.answers(w, f.Answers)
	}
	p.money(w, f, show)
	if show.total && !show.customer {
		p.policy(w, f)
	}
}

// answers adds what the customer answered.
func (p *page) answers(w *words, list []Answer) {
	for _, a := range list {
		lines := w.typedLines(a.Text)
		if a.Text == "" {
			lines = []string{w.Say(map[bool]string{true: "yes", false: "no"}[a.Yes])}
		}
		p.add(w.typed(w.translated(a.Label.Text, a.Label.Translations), maxName), lines...)
	}
}

func (p *page) money(w *words, f *Facts, show parts) {
	if show.total {
		p.total(w, f)
		p.add(w.Say("paid"), w.amount(f.Subject.Paid))
		p.add(w.Say("rest"), w.amount(f.Subject.Rest))
	}
	if show.payment {
		p.add(w.Say("due"), w.amount(f.Payment.Amount))
		if !f.Payment.Due.IsZero() {
			p.add(w.Say("pay_by"), w.when(When{Start: f.Payment.Due}, f.Business.Zone)...)
		}
	}
	if show.refund && f.Refund != nil && !f.Refund.isZero() {
		p.add(w.Say("refund"), w.amount(*f.Refund))
	}
}

// total adds the total, and how it came about.
func (p *page) total(w *words, f *Facts) {
	lines := []string{w.amount(f.Subject.Total)}
	if lines[0] == "" {
		return
	}
	for _, u := range f.Subject.Units {
		lines = append(lines, w.Number(u.Quantity)+" × "+w.amount(u.Price))
	}
	for _, label := range f.Subject.Changes {
		lines = append(lines, w.typed(label, maxName))
	}
	p.add(w.Say("total"), lines...)
}

// policy adds until when what comes back, and until when the customer may cancel.
func (p *page) policy(w *words, f *Facts) {
	at := func(moment time.Time) string { return strings.Join(w.when(When{Start: moment}, f.Business.Zone), ", ") }
	var lines []string
	for _, step := range f.Subject.Policy {
		if step.Percent == 100 {
			lines = append(lines, w.With("policy_free_until", "When", at(step.Until)))
			continue
		}
		lines = append(lines, w.Fill("policy_refund_until", map[string]string{"When": at(step.Until), "Percent": w.Number(step.Percent)}))
	}
	if n := len(f.Subject.Policy); n > 0 && f.Subject.Policy[n-1].Until.Before(f.Subject.When.Start) {
		lines = append(lines, w.Say("policy_none"))
	}
	if !f.Subject.Deadline.IsZero() {
		lines = append(lines, w.With("policy_cancel_until", "When", at(f.Subject.Deadline)))
	}
	p.add(w.Say("policy"), lines...)
}

// text is the page as plain text.
func (p *page) text() string {
	var b strings.Builder
	block := func(lines ...string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for _, line := range lines {
			b.WriteString(line + "\n")
		}
	}
	block(p.Business)
	block(p.Title)
	if p.Greeting != "" {
		block(p.Greeting)
	}
	for _, paragraph := range p.Paragraphs {
		block(paragraph)
	}
	for _, r := range p.Rows {
		lines := []string{r.Label}
		for _, v := range r.Value {
			lines = append(lines, "  "+v)
		}
		block(lines...)
	}
	if len(p.Note) > 0 {
		block(append([]string{p.NoteTitle}, p.Note...)...)
	}
	if p.Link != "" {
		block(p.Button, p.Link)
	}
	if p.Questions != "" {
		block(p.Questions)
	}
	if len(p.Footer) > 0 {
		block(p.Footer...)
	}
	return b.String()
}
