// Package letter writes the messages to customers and owners in the 36 languages of Slotmesh (lifecycle.md §2). A
// letter has a subject line, a plain text, an HTML text and, for some kinds of messages, a calendar invitation. The
// functions of this package have no side effects.
//
// A letter is composed once as a list of lines, from which the plain text and the HTML are rendered. Both therefore
// have the same words in the same order. Text that a person typed is cleaned first: it becomes one line without control
// characters and direction marks. Text in the direction opposite to the direction of the letter is enclosed in
// direction marks. In HTML, the text is also escaped.
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
// language, otherwise in English. Render fails if the kind of message needs a fact that is missing; the error names the
// fact.
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
	l.Calendar, l.Method, err = buildInvitation(kind, w, &f)
	if err != nil {
		return Letter{}, fmt.Errorf("%s: %w", kind, err)
	}
	return l, nil
}

// page is the content of a letter, in reading order. It is rendered as plain text and as HTML.
type page struct {
	Language, Direction string // of the HTML document: a language code, and ltr or rtl
	Subject             string
	Business            string
	Title               string
	Greeting            string // may be empty
	Paragraphs          []string
	Rows                []row
	NoteTitle           string
	Note                []string // the lines of the owner's note; empty if there is none
	Button, Link        string   // both are empty if the letter has no button
	Questions           string   // the sentence with the address for questions; may be empty
	Footer              []string
	Accent              accent
}

// row is one detail of a letter, such as the price: a label and the lines of the value.
type row struct {
	Label    string
	Value    []string
	IsStrong bool // whether the detail is the most important one
	IsOld    bool // whether the detail is no longer valid, such as the former time
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
	BookingReceived:      {"title_booking_received", []string{"booking_received"}, "manage", parts{total: true}},
	BookingConfirmed:     {"title_booking_confirmed", []string{"booking_confirmed"}, "manage", parts{total: true}},
	BookingRescheduled:   {"title_booking_moved", []string{"booking_moved"}, "manage", parts{total: true}},
	BookingWithdrawn:     {"title_booking_withdrawn", []string{"booking_withdrawn"}, "manage_cancel", parts{}},
	BookingCancelled:     {"title_booking_cancelled", []string{"booking_cancelled"}, "view", parts{refund: true}},
	Reminder:             {"title_reminder", []string{"reminder"}, "manage", parts{}},
	PaymentDue:           {"title_payment_due", []string{"payment_due"}, "pay", parts{payment: true}},
	PaymentFailed:        {"title_payment_failed", []string{"payment_failed"}, "pay", parts{payment: true}},
	Refunded:             {"title_refunded", []string{"refunded"}, "view", parts{refund: true}},
	Ticket:               {"title_ticket", nil, "view", parts{total: true}},
	TicketRescheduled:    {"title_ticket_moved", []string{"ticket_moved"}, "view", parts{}},
	TicketWithdrawn:      {"title_ticket_withdrawn", []string{"ticket_withdrawn"}, "view", parts{}},
	TicketCancelled:      {"title_ticket_cancelled", []string{"ticket_cancelled"}, "view", parts{refund: true}},
	Reservation:          {"title_reservation", []string{"reservation"}, "manage", parts{total: true}},
	ReservationWithdrawn: {"title_reservation_withdrawn", []string{"reservation_withdrawn"}, "manage_cancel", parts{}},
	ReservationDue:       {"title_reservation_due", []string{"reservation_due"}, "view", parts{due: true}},
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
	if kind != OwnerNotice {
		return l, nil
	}
	switch f.Notice {
	case NoticeCreated:
		l.title = "title_owner_" + string(f.Subject.Kind)
		if f.Subject.Kind == BookingSubject {
			l.leads = []string{"owner_created"}
		}
		if f.Subject.IsPending {
			l.leads = append(l.leads, "owner_pending")
		}
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
	p := &page{Language: w.Code, Direction: w.Direction(), Accent: newAccent(f.Business.Accent)}
	p.Business, p.Title = w.sanitize(f.Business.Name, maxName), w.Say(l.title)
	if isAboutWebhook {
		p.Subject = p.Title
		p.addRow(w.Say("endpoint"), w.isolateLTR(clean(f.Webhook.URL, maxURL)))
	} else {
		p.Subject = w.formatSubject(p.Title, f, l.show.due)
		p.addDetails(w, f, l.show)
	}
	p.addLeads(kind, w, f, l)
	if kind != OwnerNotice {
		p.addCustomerParts(w, f)
	}
	if link := checkLink(f.Link); link != "" {
		p.Button, p.Link = w.Say(f.chooseButton(l.button)), link
	}
	p.Footer = f.Business.footer(w)
	return p, w.Fault()
}

// addCustomerParts adds the parts that only customers get: the greeting by name, the owner's note and the address for
// questions.
func (p *page) addCustomerParts(w *words, f *Facts) {
	if name := w.isolate(filterName(f.Customer.Name)); name != "" {
		p.Greeting = w.Fill("greeting", map[string]string{"Name": name})
	}
	if lines := f.Note.lines(w); len(lines) > 0 {
		p.NoteTitle, p.Note = w.Say("note"), lines
	}
	if f.Business.ReplyTo != "" {
		p.Questions = w.Say("questions")
	}
}

// manageButton is the id of the button for a subject that the customer may still change.
const manageButton = "manage"

// chooseButton returns the id of the text of the mail's button. If the argument `id` is manageButton, it returns the id
// of a button text that names the permitted action of the customer, such as cancelling.
func (f *Facts) chooseButton(id string) string {
	if id != manageButton {
		return id
	}
	canReschedule := f.CanReschedule && f.Subject.Kind == BookingSubject
	switch {
	case canReschedule && f.CanCancel:
		return manageButton
	case canReschedule:
		return "manage_move"
	case f.CanCancel:
		return "manage_cancel"
	}
	return "view"
}

// addLeads adds the first sentences of a kind of message. For a cancelled subject that was paid, it adds the sentence
// about the refund.
func (p *page) addLeads(kind Kind, w *words, f *Facts, l layout) {
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

func (p *page) addRow(label string, value ...string) {
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

// addDetails adds the rows for items, times, people and prices. The argument `show` selects the optional rows.
func (p *page) addDetails(w *words, f *Facts, show parts) {
	s := &f.Subject
	var items []string
	for _, item := range s.Items {
		items = append(items, w.sanitize(item, maxName))
	}
	p.addRow(w.Say("label_"+string(s.Kind)), items...)
	zone := f.Business.Zone
	if show.due {
		p.addRow(w.Say("return_by"), w.formatTime(s.When.end(), zone)...)
	} else {
		p.addRow(w.Say("when"), w.formatTime(s.When, zone)...)
	}
	p.Rows[len(p.Rows)-1].IsStrong = true
	if f.FormerTime != nil {
		p.addRow(w.Say("before"), w.formatTime(*f.FormerTime, zone)...)
		p.Rows[len(p.Rows)-1].IsOld = true
	}
	p.addRow(w.Say("with"), w.sanitize(s.Staff, maxName))
	if f.FormerStaff != "" {
		p.addRow(w.Say("before"), w.sanitize(f.FormerStaff, maxName))
		p.Rows[len(p.Rows)-1].IsOld = true
	}
	if count := w.formatQuantity(s); count != "" {
		p.addRow(w.Say("count_"+string(s.Kind)), count)
	}
	if show.customer {
		p.addRow(w.Say("customer"), w.sanitize(f.Customer.Name, maxName))
		p.addRow(w.Say("email"), w.isolateLTR(clean(f.Customer.Email, maxURL)))
		p.addRow(w.Say("phone"), w.isolateLTR(clean(f.Customer.Phone, maxName)))
		p.addAnswers(w, f.Answers)
	}
	p.addAmounts(w, f, show)
	if show.total && !show.customer {
		p.addPolicy(w, f)
	}
}

func (p *page) addAnswers(w *words, list []Answer) {
	for _, a := range list {
		lines := w.sanitizeLines(a.Text)
		if a.Text == "" {
			lines = []string{w.Say(map[bool]string{true: "yes", false: "no"}[a.IsYes])}
		}
		p.addRow(w.sanitize(w.translate(a.Label.Text, a.Label.Translations), maxName), lines...)
	}
}

func (p *page) addAmounts(w *words, f *Facts, show parts) {
	if show.total {
		p.addTotal(w, f)
		p.addRow(w.Say("paid"), w.formatAmount(f.Subject.Paid))
		p.addRow(w.Say("rest"), w.formatAmount(f.Subject.Rest))
	}
	if show.payment {
		p.addRow(w.Say("due"), w.formatAmount(f.Payment.Amount))
		if !f.Payment.Due.IsZero() {
			p.addRow(w.Say("pay_by"), w.formatTime(When{Start: f.Payment.Due}, f.Business.Zone)...)
		}
	}
	if show.refund && f.Refund != nil && !f.Refund.isZero() {
		p.addRow(w.Say("refund"), w.formatAmount(*f.Refund))
	}
}

// addTotal adds a row with the total, the prices per person and the labels of the pricing rules that changed a price.
func (p *page) addTotal(w *words, f *Facts) {
	lines := []string{w.formatAmount(f.Subject.Total)}
	if lines[0] == "" {
		return
	}
	for _, u := range f.Subject.Units {
		lines = append(lines, w.Number(u.Quantity)+" × "+w.formatAmount(u.Price))
	}
	for _, label := range f.Subject.Changes {
		lines = append(lines, w.sanitize(label, maxName))
	}
	p.addRow(w.Say("total"), lines...)
}

// addPolicy adds a row with the refund steps and the deadline for cancelling online.
func (p *page) addPolicy(w *words, f *Facts) {
	at := func(moment time.Time) string {
		return strings.Join(w.formatTime(When{Start: moment}, f.Business.Zone), ", ")
	}
	var lines []string
	for _, step := range f.Subject.Policy {
		if step.Percent == 100 {
			lines = append(lines, w.With("policy_free_until", "When", at(step.Until)))
			continue
		}
		lines = append(lines,
			w.Fill("policy_refund_until", map[string]string{"When": at(step.Until), "Percent": w.Number(step.Percent)}))
	}
	if n := len(f.Subject.Policy); n > 0 && f.Subject.Policy[n-1].Until.Before(f.Subject.When.Start) {
		lines = append(lines, w.Say("policy_none"))
	}
	if !f.Subject.Deadline.IsZero() {
		lines = append(lines, w.With("policy_cancel_until", "When", at(f.Subject.Deadline)))
	}
	p.addRow(w.Say("policy"), lines...)
}

func (p *page) renderText() string {
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
