package mail

import (
	"bytes"
	"errors"
	"net/mail"

	gomail "github.com/wneessen/go-mail"
)

// compose writes the message: plain text, HTML and, for calendars that take part in the conversation, the calendar as alternatives of
// each other, and the calendar again as a file for all others (RFC 6047 §2.4).
func (s *Sender) compose(m Message) (*gomail.Msg, error) {
	to, err := bare("", m.To)
	if err != nil {
		return nil, errors.New("the address is not one that mail can be sent to")
	}
	from, err := bare(line(m.FromName), s.cfg.From)
	if err != nil {
		return nil, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(to)
	if m.ReplyTo != "" {
		reply, err := bare(line(m.FromName), m.ReplyTo)
		if err != nil {
			return nil, errors.New("reply_to is not one bare e-mail address")
		}
		msg.ReplyToMailAddress(reply)
	}
	msg.SetGenHeader(gomail.HeaderContentLang, m.Language)
	msg.Subject(line(m.Subject))
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain)
	if m.Thread != "" {
		msg.SetGenHeader(gomail.HeaderReferences, "<"+m.Thread+"@"+s.domain+">")
	}
	// Nobody's absence note is to answer, and no mailing list's habits apply (RFC 3834 §5).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(gomail.HeaderXAutoResponseSuppress, "All")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	if len(m.Calendar) > 0 {
		msg.AddAlternativeString(gomail.ContentType("text/calendar; method="+m.Method), string(m.Calendar), gomail.WithPartEncoding(gomail.EncodingB64))
		if err := msg.AttachReader("booking.ics", bytes.NewReader(m.Calendar), gomail.WithFileContentType("application/ics")); err != nil {
			return nil, err
		}
	}
	return msg, nil
}

// bare reads a bare address, whose domain is then in ASCII.
func bare(name, address string) (*mail.Address, error) {
	local, domain, err := split(address)
	if err != nil {
		return nil, err
	}
	return &mail.Address{Name: name, Address: local + "@" + domain}, nil
}
