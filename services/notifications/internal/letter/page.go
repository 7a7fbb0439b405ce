package letter

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// page is the content of a letter, in reading order. It is rendered as plain text and as HTML.
type page struct {
	Language, Direction string // language code and direction (ltr or rtl) of the HTML document
	Subject             string
	Test                string // sentence that marks the letter as a test; "" for other letters
	Preheader           string // the text that lists of mails show after the subject; only in HTML, and not visible
	Business            string
	Initial             string // first letter of Business, as a mark in HTML
	IsPlatform          bool   // whether the mark is that of Slotmesh instead of Initial
	State               string // what happened; may be empty
	Tone                tone
	Headline            string // the time and what was sold ([words.formatFact])
	Greeting            string // may be empty
	Paragraphs          []string
	Rows                []row
	Codes               []code // the QR codes of tickets
	NoteTitle           string
	Note                []string // the lines of the owner's note; empty if there is none
	Buttons             []button
	Questions           string // sentence that invites the customer to reply with questions; may be empty
	Footer              []line
	Accent              accent
}

// row is one detail of a letter, such as the price: a label and the lines of the value.
type row struct {
	Label    string
	Value    []line
	IsStrong bool // whether the detail is the most important one
	IsOld    bool // whether the detail is no longer valid, such as the former time
}

// line is one line of text, which may be a link. The functions of this package build Href only from URLs and addresses
// that they have checked.
type line struct {
	Text string
	Href templ.SafeURL // "" for plain text
}

// isWebLink reports whether the line is a link to a web page. The plain text must show the URL of such a link, because
// the line's text does not contain the URL.
func (l line) isWebLink() bool { return strings.HasPrefix(string(l.Href), "http") }

// button is a link that the letter shows as a button.
type button struct {
	Text, Link string
	IsPlain    bool // whether the button is the less important of two buttons
}

// tone selects the colour of the state of a letter.
type tone string

const (
	toneGood tone = "good" // green: confirmed
	toneWarn tone = "warn" // amber: the reader must act or wait
	toneBad  tone = "bad"  // red: cancelled or failed
)

// chooseTone returns the tone for the given kind of message.
func chooseTone(kind Kind, f *Facts) tone {
	switch kind {
	case BookingConfirmed, Ticket, Reservation, Refunded:
		return toneGood
	case BookingCancelled, TicketCancelled, ReservationCancelled, PaymentFailed, BookingWithdrawn, TicketWithdrawn,
		ReservationWithdrawn:
		return toneBad
	case OwnerNotice:
		switch {
		case f.Notice == NoticeCreated && !f.Subject.IsPending && f.Payment.Due.IsZero():
			return toneGood
		case f.Notice == NoticeCreated, f.Notice == NoticeRescheduled:
			return toneWarn
		}
		return toneBad
	default: // the reader must act, wait, or look at a new time
	}
	return toneWarn
}

func newPage(w *words, business, colour string) *page {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(business, "\u2066\u2068"))
	return &page{Language: w.Code, Direction: w.Direction(), Accent: newAccent(colour), Business: business,
		Initial: strings.ToUpper(string(first))}
}

// addRow adds a detail. It leaves out empty lines, and a detail without lines.
func (p *page) addRow(label string, value ...string) {
	lines := make([]line, len(value))
	for i, text := range value {
		lines[i].Text = text
	}
	p.addLines(label, lines...)
}

func (p *page) addLines(label string, value ...line) {
	var lines []line
	for _, v := range value {
		if v.Text != "" {
			lines = append(lines, v)
		}
	}
	if len(lines) > 0 {
		p.Rows = append(p.Rows, row{Label: label, Value: lines})
	}
}

// newPhoneLine returns the given telephone number as a link that calls the number.
func (w *words) newPhoneLine(number string) line {
	number = clean(number, maxName)
	return line{Text: w.isolateLTR(number), Href: templ.SafeURL(phone.URI(number))}
}

// newMailLine returns the given e-mail address as a link that opens a new mail to the address, or as plain text if it
// is invalid.
func (w *words) newMailLine(address string) line {
	address = clean(address, maxURL)
	l := line{Text: w.isolateLTR(address)}
	if email.Valid(address) {
		name, host, _ := strings.Cut(address, "@")
		// Both parts are escaped; QueryEscape also escapes & (RFC 6068 §2).
		l.Href = templ.SafeURL("mailto:" + url.QueryEscape(name) + "@" + url.QueryEscape(host))
	}
	return l
}

// newLink returns a link to the URL `address`, or plain text if the URL is invalid.
func newLink(text, address string) line {
	return line{Text: text, Href: templ.SafeURL(checkLink(address))}
}

// addFooter adds the name of the business, its address, telephone number and legal texts, and the reason why the reader
// gets the message. If the subject has an address of its own, the footer has none, so that the message names one
// address. For owners, it adds only the name and the reason.
func (p *page) addFooter(kind Kind, w *words, f *Facts) {
	b, reason := &f.Business, line{Text: w.Say("reason")}
	if kind == SignIn {
		reason.Text = w.Say("reason_sign_in")
	}
	lines := []line{{Text: p.Business}}
	if kind == OwnerNotice {
		p.Footer = append(lines, line{Text: w.Say("reason_owner")})
		return
	}
	if at := f.Subject.Place; b.Place != nil && (at == nil || at.Address == (postal.Address{})) {
		lines = append(lines, line{Text: w.formatAddress(b.Place)})
	}
	lines = append(lines, w.newPhoneLine(b.Phone), w.newMailLine(b.ReplyTo))
	lines = append(lines, w.formatLegal(w.Say("imprint"), b.Imprint)...)
	if privacy := w.formatLegal(w.Say("privacy"), b.Privacy); len(privacy) == 1 && privacy[0].isWebLink() {
		lines = append(lines, privacy...) // the text of a privacy notice would be too long, so only a link is added
	}
	p.Footer = slices.DeleteFunc(append(lines, reason), func(l line) bool { return l.Text == "" })
}

// maxLegal is the maximum length of a legal text in the footer, in characters.
const maxLegal = 600

// formatLegal returns a legal text as a link or as its lines.
func (w *words) formatLegal(label string, n Note) []line {
	text := w.translate(n.Text, n.Translations)
	if address := catalog.LegalURL(text); address != "" {
		return []line{newLink(label, address)}
	}
	var lines []line
	for _, s := range w.sanitizeLines(cut(strings.TrimSpace(text), maxLegal)) {
		lines = append(lines, line{Text: s})
	}
	return lines
}

// renderText renders the page as plain text. A web link is one line: its text, a colon and its URL.
func (p *page) renderText() string {
	var b strings.Builder
	block := func(indent string, lines ...line) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for i, l := range lines {
			if i > 0 && indent != "" {
				b.WriteString(indent)
			}
			b.WriteString(l.Text)
			if l.isWebLink() {
				b.WriteString(": " + string(l.Href))
			}
			b.WriteByte('\n')
		}
	}
	for _, text := range append([]string{p.Test, p.Business, p.State, p.Headline, p.Greeting}, p.Paragraphs...) {
		if text != "" {
			block("", line{Text: text})
		}
	}
	for _, r := range p.Rows {
		block("  ", append([]line{{Text: r.Label}}, r.Value...)...)
	}
	if len(p.Codes) > 0 {
		lines := make([]line, len(p.Codes))
		for i, c := range p.Codes {
			lines[i].Text = c.Caption
		}
		block("", lines...)
	}
	if len(p.Note) > 0 {
		note := []line{{Text: p.NoteTitle}}
		for _, text := range p.Note {
			note = append(note, line{Text: text})
		}
		block("", note...)
	}
	for _, button := range p.Buttons {
		block("", line{Text: button.Text + ":"}, line{Text: button.Link})
	}
	if p.Questions != "" {
		block("", line{Text: p.Questions})
	}
	if len(p.Footer) > 0 {
		block("", p.Footer...)
	}
	return b.String()
}
