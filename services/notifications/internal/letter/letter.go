// Package letter writes the messages to customers and owners in the 36 languages of Slotmesh (lifecycle.md §2). A
// letter has a subject line, a plain text, an HTML text and, for some kinds of messages, a calendar invitation. The
// functions of this package have no side effects.
//
// A letter is composed once as a list of lines, from which the plain text and the HTML are rendered. The plain text and
// the HTML therefore have the same words in the same order. Text that a person typed is cleaned first: it becomes one
// line without control characters and direction marks. Text in the direction opposite to the direction of the letter is
// enclosed in direction marks. In HTML, the text is also escaped.
package letter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of message (lifecycle.md §2).
type Kind string

// The kinds of messages.
const (
	BookingReceived      Kind = "booking_received"
	BookingConfirmed     Kind = "booking_confirmed"
	BookingRescheduled   Kind = "booking_moved"
	BookingCancelled     Kind = "booking_cancelled"
	Reminder             Kind = "reminder"
	PaymentDue           Kind = "payment_due"
	PaymentFailed        Kind = "payment_failed"
	Refunded             Kind = "refunded"
	Ticket               Kind = "ticket"
	TicketRescheduled    Kind = "ticket_moved"
	TicketWithdrawn      Kind = "ticket_withdrawn"
	BookingWithdrawn     Kind = "booking_withdrawn"
	ReservationWithdrawn Kind = "reservation_withdrawn"
	TicketCancelled      Kind = "ticket_cancelled"
	Reservation          Kind = "reservation"
	ReservationDue       Kind = "reservation_due" // the time to return rented things has come
	ReservationCancelled Kind = "reservation_cancelled"
	OwnerNotice          Kind = "owner_notice" // a notice to the owner; Facts.Notice is the reason
)

// IsKnown reports whether `k` is a kind of message.
func (k Kind) IsKnown() bool {
	_, toCustomers := layouts[k]
	return toCustomers || k == OwnerNotice
}

// Letter is a message in its final form, which can be sent.
type Letter struct {
	Language string // BCP 47 tag for the header Content-Language
	From     string // the business's name, in the language of the letter if possible
	Subject  string // one line
	Text     string // plain text; each line ends with \n
	HTML     string
	// Calendar is an iCalendar object. Method is the object's method (REQUEST, CANCEL or PUBLISH), which the MIME part
	// of the mail must also name. Both fields are empty if the message has no calendar entry.
	Calendar []byte
	Method   string
}

// Render writes a message in the language that matches `locale` (semantics.md §6), otherwise in the business's
// language, otherwise in English. Render fails if `f` lacks a value that the kind of message needs; the error names the
// value.
func Render(kind Kind, locale string, f Facts) (Letter, error) {
	w, err := findWords(locale, f.Business.Language, f.Business.Region)
	if err != nil {
		return Letter{}, err
	}
	f.Business.Name = w.translate(f.Business.Name, f.Business.Names)
	p, err := compose(kind, w, &f)
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	html, err := p.renderHTML()
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	l := Letter{Language: w.Code, From: f.Business.Name, Subject: p.Subject, Text: p.renderText(), HTML: html}
	if f.IsTest {
		return l, nil
	}
	l.Calendar, l.Method, err = buildInvitation(kind, w, &f)
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	return l, nil
}

// layout describes the content of one kind of message.
type layout struct {
	title  string
	leads  []string // ids of the first sentences
	button string   // id of the button's text
	show   parts
}

// parts selects the details that a kind of message shows.
type parts struct{ payment, refund, customer, total, due bool }

var layouts = map[Kind]layout{
	BookingReceived:    {"title_booking_received", []string{"booking_received"}, "manage", parts{total: true}},
	BookingConfirmed:   {"title_booking_confirmed", []string{"booking_confirmed"}, "manage", parts{total: true}},
	BookingRescheduled: {"title_booking_moved", []string{"booking_moved"}, "manage", parts{total: true}},
	BookingWithdrawn:   {"title_booking_withdrawn", []string{"booking_withdrawn"}, "manage_booking", parts{}},
	BookingCancelled:   {"title_booking_cancelled", []string{"booking_cancelled"}, "view", parts{refund: true}},
	Reminder:           {"title_reminder", []string{"reminder"}, "manage", parts{}},
	PaymentDue:         {"title_payment_due", []string{"payment_due"}, "pay", parts{payment: true}},
	PaymentFailed:      {"title_payment_failed", []string{"payment_failed"}, "pay", parts{payment: true}},
	Refunded:           {"title_refunded", []string{"refunded"}, "view", parts{refund: true}},
	Ticket:             {"title_ticket", nil, "view", parts{total: true}},
	TicketRescheduled:  {"title_ticket_moved", []string{"ticket_moved"}, "view", parts{}},
	TicketWithdrawn:    {"title_ticket_withdrawn", []string{"ticket_withdrawn"}, "view", parts{}},
	TicketCancelled:    {"title_ticket_cancelled", []string{"ticket_cancelled"}, "view", parts{refund: true}},
	Reservation:        {"title_reservation", []string{"reservation"}, "manage", parts{total: true}},
	ReservationWithdrawn: {"title_reservation_withdrawn", []string{"reservation_withdrawn"}, "manage_reservation",
		parts{}},
	ReservationDue: {"title_reservation_due", []string{"reservation_due"}, "view", parts{due: true}},
	ReservationCancelled: {"title_reservation_cancelled", []string{"reservation_cancelled"}, "view",
		parts{refund: true}},
}

// notices are the layouts of the mails to owners ([OwnerNotice]), by the reason for the notice. If a subject was
// created or cancelled, findLayout chooses the title by the kind of subject.
var notices = map[Notice]layout{
	NoticeCreated:         {"", nil, "view", parts{customer: true, total: true}},
	NoticeRescheduled:     {"title_booking_moved", []string{"owner_moved"}, "view", parts{customer: true}},
	NoticeCancelled:       {"", []string{"owner_cancelled"}, "view", parts{customer: true, refund: true}},
	NoticeRefundFailed:    {"title_refund_failed", []string{"owner_refund_failed"}, "view", parts{customer: true}},
	NoticeDisputed:        {"title_disputed", []string{"owner_disputed"}, "view", parts{customer: true}},
	NoticeWebhookDisabled: {"title_webhook_disabled", []string{"webhook_failing"}, "view", parts{}},
}

func findLayout(kind Kind, f *Facts) (layout, error) {
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
	if kind == BookingRescheduled && f.FormerTime == nil && f.FormerStaff != "" {
		l.title, l.leads = "title_booking_changed", []string{"booking_person"}
	}
	if kind == BookingRescheduled && f.FormerTime == nil && f.FormerPlace != "" {
		l.title, l.leads = "title_booking_changed", []string{"booking_place"}
	}
	if kind == BookingRescheduled && f.FormerTime == nil && f.FormerStaff == "" && f.FormerPlace == "" {
		l.title, l.leads = "title_booking_changed", nil // the customer's address is new; the details show it
	}
	if kind != OwnerNotice {
		return l, nil
	}
	switch f.Notice {
	case NoticeCreated:
		l.title = "title_owner_" + string(f.Subject.Kind)
		if f.Subject.IsPending {
			l.title, l.leads = "title_owner_request", []string{"owner_pending"}
		}
		l.show.payment = !f.Payment.Due.IsZero()
	case NoticeCancelled:
		l.title = "title_" + string(f.Subject.Kind) + "_cancelled"
	case NoticeWebhookDisabled:
		if f.Webhook.IsGone {
			l.leads = []string{"webhook_gone"}
		}
	default: // other notices keep the layout's title
	}
	return l, nil
}

func compose(kind Kind, w *words, f *Facts) (*page, error) {
	l, err := findLayout(kind, f)
	if err != nil {
		return nil, err
	}
	isAboutWebhook := kind == OwnerNotice && f.Notice == NoticeWebhookDisabled
	if err := f.check(!isAboutWebhook); err != nil {
		return nil, err
	}
	p := newPage(w, w.sanitize(f.Business.Name, maxName), f.Business.Accent)
	p.State, p.Tone = w.formatTitle(kind, l, f), chooseTone(kind, f)
	if isAboutWebhook {
		p.Subject, p.Headline, p.State = p.State, p.State, ""
		p.addRow(w.Say("endpoint"), w.isolateLTR(clean(f.Webhook.URL, maxURL)))
	} else {
		p.Headline = w.formatFact(kind, f, l.show.due)
		p.Subject = w.formatSubject(kind, p.State, f, l.show.due)
		p.addDetails(kind, w, f, l.show)
	}
	if kind == Ticket {
		p.addCodes(w, f)
	}
	p.Paragraphs = w.formatIntro(f)
	isGreeted := len(p.Paragraphs) > 0 && f.greets(w)
	if len(p.Paragraphs) == 0 || !isReplaceable(kind) {
		p.addLeads(kind, w, f, l)
	}
	if kind != OwnerNotice {
		p.addCustomerParts(w, f, isGreeted)
	}
	p.Preheader = p.formatPreview(kind, w, f)
	p.addButtons(kind, w, f, l)
	p.addFooter(kind, w, f)
	if f.IsTest {
		p.Subject, p.Test = w.With("test_subject", "Subject", p.Subject), w.Say("test_body")
	}
	return p, w.Fault()
}

// formatPreview returns the text that lists of mails show after the subject: the first sentence. A letter without a
// sentence shows values that its subject does not contain: a notice has the customer's telephone number or address and
// the total, and a changed booking has its place. A letter without such values shows what happened.
func (p *page) formatPreview(kind Kind, w *words, f *Facts) string {
	switch {
	case len(p.Paragraphs) > 0:
		return p.Paragraphs[0]
	case kind != OwnerNotice:
		place := w.formatLocation(f)
		if place == w.sanitize(f.Business.Name, maxName) { // lists of mails show the business's name as the sender
			return p.State
		}
		return place
	}
	contact := w.isolateLTR(clean(cmp.Or(f.Customer.Phone, f.Customer.Email), maxName))
	values := []string{contact, w.formatAmount(f.Subject.Total)}
	return cmp.Or(strings.Join(slices.DeleteFunc(values, func(s string) bool { return s == "" }), " · "), p.State)
}

// formatTitle returns the sentence about what happened, such as "Booking confirmed".
func (w *words) formatTitle(kind Kind, l layout, f *Facts) string {
	if kind == Refunded && f.Refund != nil {
		return w.With("title_refunded_amount", "Amount", w.formatAmount(*f.Refund))
	}
	return w.Say(l.title)
}

// addCustomerParts adds the parts that only customers get: the greeting by name, unless the owner's first sentences greet
// the customer, the owner's note, and the sentence that invites the customer to reply with questions.
func (p *page) addCustomerParts(w *words, f *Facts, isGreeted bool) {
	name := w.isolate(w.chooseGreetingName(filterName(f.Customer.Name)))
	if name != "" && !isGreeted {
		p.Greeting = w.Fill("greeting", map[string]string{"Name": name})
	}
	if lines := f.Note.lines(w); len(lines) > 0 {
		p.NoteTitle, p.Note = w.Say("note"), lines
	}
	if f.Business.ReplyTo != "" {
		p.Questions = w.Say("questions")
	}
}

// addButtons adds the button that leads to the page of the subject. The owner of a booking that is not confirmed yet
// gets two buttons: the first leads to the page that confirms the booking, the second to the page that declines it.
func (p *page) addButtons(kind Kind, w *words, f *Facts, l layout) {
	link := checkLink(f.Link)
	if link == "" {
		return
	}
	decline := checkLink(f.DeclineLink)
	if kind != OwnerNotice || f.Notice != NoticeCreated || !f.Subject.IsPending || decline == "" {
		p.Buttons = []button{{Text: w.Say(f.chooseButton(l.button)), Link: link}}
		return
	}
	p.Buttons = []button{{Text: w.Say("confirm"), Link: link}, {Text: w.Say("decline"), Link: decline, IsPlain: true}}
}

// manageButton is the id of the button for a subject that the customer may still reschedule or cancel.
const manageButton = "manage"

// chooseButton returns the id of the text of the mail's button. If the argument `id` is manageButton and the customer
// may change the subject, the returned text names the kind of subject.
func (f *Facts) chooseButton(id string) string {
	switch {
	case id != manageButton:
		return id
	case f.CanCancel, f.CanReschedule && f.Subject.Kind == BookingSubject:
		return "manage_" + string(f.Subject.Kind)
	}
	return "view"
}

// addLeads adds the first sentences for the given kind of message. For a cancelled subject that was paid, it adds the
// sentence about the refund.
func (p *page) addLeads(kind Kind, w *words, f *Facts, l layout) {
	if kind == Ticket {
		p.Paragraphs = append(p.Paragraphs, w.Count("ticket", max(f.Subject.Count, f.Subject.Quantity, 1)))
	}
	for _, id := range l.leads {
		p.Paragraphs = append(p.Paragraphs, w.formatLead(id, f))
	}
	switch {
	case kind == Refunded || kind == OwnerNotice || !l.show.refund || f.Refund == nil:
	case f.Refund.isZero():
		p.Paragraphs = append(p.Paragraphs, w.Say("refund_none"))
	default:
		p.Paragraphs = append(p.Paragraphs, w.Say("refund_follows"))
	}
}

// formatLead returns the first sentence with the given id. The sentence about a reschedule contains the new time. A
// reminder of an appointment today or tomorrow contains the time of day.
func (w *words) formatLead(id string, f *Facts) string {
	start := f.Subject.When.Start.In(f.Business.Zone)
	switch id {
	case "booking_moved":
		return w.With(id, "When", w.formatMoment(f.Subject.When, f))
	case "reminder":
		now := f.Now.In(f.Business.Zone)
		for days, name := range []string{"reminder_today", "reminder_tomorrow"} {
			day := now.AddDate(0, 0, days)
			if !f.Now.IsZero() && !f.Subject.When.IsAllDay && day.YearDay() == start.YearDay() &&
				day.Year() == start.Year() {
				return w.With(name, "Time", w.ClockInText(start))
			}
		}
	}
	return w.Say(id)
}
