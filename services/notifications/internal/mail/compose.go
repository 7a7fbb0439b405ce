package mail

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// compose builds the mail. The plain text, the HTML and the calendar are alternatives in the mail, so that mail
// programs can process the invitation. For other mail programs, the calendar is also attached as a file (RFC 6047
// §2.4). The logo is a part beside these alternatives (RFC 2387), because mail programs show such a part without
// asking, but ask before they load a picture from a web server.
func (s *Sender) compose(m Message) (*gomail.Msg, error) {
	to, err := parseBareAddress("", m.To)
	if err != nil {
		return nil, errors.New("the address is not one that mail can be sent to")
	}
	from, err := parseBareAddress(cleanLine(m.FromName), s.cfg.From)
	if err != nil {
		return nil, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(to)
	if m.ReplyTo != "" {
		reply, err := parseBareAddress(cleanLine(m.FromName), m.ReplyTo)
		if err != nil {
			return nil, errors.New("reply_to is not one bare e-mail address")
		}
		msg.ReplyToMailAddress(reply)
	}
	msg.SetGenHeader(gomail.HeaderContentLang, m.Language)
	setSubject(msg, cleanLine(m.Subject))
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain)
	if m.Thread != "" {
		msg.SetGenHeader(gomail.HeaderReferences, "<"+m.Thread+"@"+s.domain+">")
	}
	// These headers suppress automatic replies and the processing by mailing lists (RFC 3834 §5).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(gomail.HeaderXAutoResponseSuppress, "All")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	for _, p := range m.Pictures {
		if err := msg.EmbedReader(p.Name, bytes.NewReader(p.Content), gomail.WithFileContentID("<"+p.ID+">"),
			gomail.WithFileContentType(gomail.ContentType(p.Type))); err != nil {
			return nil, err
		}
	}
	if len(m.Calendar) > 0 {
		msg.AddAlternativeString(gomail.ContentType("text/calendar; method="+m.Method), string(m.Calendar),
			gomail.WithPartEncoding(gomail.EncodingB64))
		if err := msg.AttachReader("booking.ics", bytes.NewReader(m.Calendar),
			gomail.WithFileContentType("application/ics")); err != nil {
			return nil, err
		}
	}
	return msg, nil
}

const (
	maxLine     = 76 // maximum length of a header line with encoded words (RFC 2047 §2)
	wordBegin   = "=?UTF-8?q?"
	wordEnd     = "?="
	subjectName = "Subject: "
)

// setSubject writes the Subject header. It encodes the text itself: if the first encoded word does not fit on the first
// line, go-mail would start the text on a second line. Some mail programs show such a subject as empty.
func setSubject(msg *gomail.Msg, subject string) {
	if isASCII(subject) {
		msg.Subject(subject)
		return
	}
	msg.SetGenHeaderPreformatted(gomail.HeaderSubject, encodeWords(subject, len(subjectName)))
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// encodeWords encodes a text as encoded words (RFC 2047), on lines of at most maxLine characters. The argument `column`
// is the column in which the first encoded word begins.
func encodeWords(text string, column int) string {
	var b strings.Builder
	b.WriteString(wordBegin)
	column += len(wordBegin)
	for _, r := range text {
		encoded := encodeRune(r)
		if column+len(encoded)+len(wordEnd) > maxLine {
			b.WriteString(wordEnd + "\r\n " + wordBegin)
			column = len(" " + wordBegin)
		}
		b.WriteString(encoded)
		column += len(encoded)
	}
	b.WriteString(wordEnd)
	return b.String()
}

// encodeRune encodes a rune in the Q encoding (RFC 2047).
func encodeRune(r rune) string {
	switch {
	case r == ' ':
		return "_"
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return string(r)
	}
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, "=%02X", c)
	}
	return b.String()
}

// parseBareAddress parses an address without a display name, adds the argument `name` as its display name, and converts
// its domain to ASCII.
func parseBareAddress(name, address string) (*mail.Address, error) {
	local, domain, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	return &mail.Address{Name: name, Address: local + "@" + domain}, nil
}
