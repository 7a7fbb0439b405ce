// Package mail sends a message by SMTP and returns the result (lifecycle.md §2): accepted, rejected permanently, or not
// accepted now. The package stores nothing and does not depend on businesses. The package opens one connection for each
// message.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Message is one message to one address. No text in a Message can add a header or a second recipient: [Sender.Send]
// replaces line breaks with spaces and accepts only single, valid addresses.
type Message struct {
	ID       string    // unique, and the same in all attempts, so that receivers drop duplicates
	Thread   string    // id of the booking, order or reservation; mail programs group messages by it; or ""
	Date     time.Time // time at which the message was written
	FromName string    // the name of the business
	To       string    // address without a display name
	ReplyTo  string    // address without a display name, or ""
	Language string    // language of the text, as a BCP 47 tag
	Subject  string
	Text     string    // plain text
	HTML     string    // the same text as HTML
	Calendar []byte    // an iCalendar file, or nil
	Method   string    // method of the calendar: REQUEST, CANCEL or PUBLISH
	Pictures []Picture // the pictures that HTML shows as cid: and their ID
}

// Picture is a picture that is a part of a message.
type Picture struct {
	ID      string // the Content-ID, unique in the message
	Name    string // the name of the file
	Type    string // the media type
	Content []byte
}

// RefusedError means that the mail server rejected the message permanently, or that the address is invalid.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// UnsentError means that the mail server did not accept the message but may accept it in a later attempt.
//
// MayBeSent means that the connection was lost after the whole message had been sent, so the server may have accepted
// the message. WasAnswered means that the server works but rejects this message for now, for example because it cannot
// resolve the recipient's domain. Such a server may accept other messages.
type UnsentError struct {
	Reason      string
	MayBeSent   bool
	WasAnswered bool
}

func (e *UnsentError) Error() string { return e.Reason }

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	server server
	cfg    Config
	domain string // domain of the sender's address
	tls    *tls.Config
}

// NewSender returns a sender with the settings `cfg`. The settings must be valid and contain the URL of a mail server.
func NewSender(cfg Config) (*Sender, error) {
	server, err := parseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	_, domain, err := splitAddress(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("MAIL_FROM: %w", err)
	}
	return &Sender{
		server: server, cfg: cfg, domain: domain,
		tls: &tls.Config{ServerName: server.host, MinVersion: tls.VersionTLS12},
	}, nil
}

// Send sends a message to the mail server. It returns nil if the server accepted the message. Errors: [*RefusedError],
// [*UnsentError].
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return &RefusedError{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	var conn net.Conn
	client, err := s.newClient(func(ctx context.Context, network, address string) (net.Conn, error) {
		var err error
		conn, err = s.dial(ctx, network, address)
		return conn, err
	})
	if err != nil {
		return &UnsentError{Reason: describeError(err)}
	}
	defer func() {
		if conn != nil {
			_ = conn.Close() // go-mail leaves the connection open after some errors
		}
	}()
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return &UnsentError{Reason: "no session with the mail server: " + describeError(err)}
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = client.SendWithSMTPClient(session, msg)
	if msg.IsDelivered() {
		_ = client.CloseWithSMTPClient(session) // the message is accepted, even if closing fails
		return nil
	}
	return classifyError(err)
}

// Check opens a session with the mail server, which includes TLS and the login, and ends it without a message. The error
// is one line.
func (s *Sender) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	client, err := s.newClient(s.dial)
	if err != nil {
		return errors.New(describeError(err))
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return errors.New(describeError(err))
	}
	_ = client.CloseWithSMTPClient(session) // the session was accepted, even if closing fails
	return nil
}

func (s *Sender) newClient(dial gomail.DialContextFunc) (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.server.port), gomail.WithTimeout(s.cfg.Timeout), gomail.WithTLSConfig(s.tls),
		gomail.WithHELO(s.domain),
		gomail.WithDialContextFunc(dial), gomail.WithoutNoop(),
	}
	switch {
	case s.server.implicitTLS:
		options = append(options, gomail.WithSSL()) // dial has already started TLS, so STARTTLS is not needed
	case s.cfg.AllowPlaintext || s.server.isLocal():
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.server.user != "" {
		// The names of the mechanisms end in NoEnc, because go-mail does not recognize TLS that dial started. If
		// encryption is required, the connection has TLS, so no password is sent unencrypted.
		options = append(options, gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256,
			gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc),
			gomail.WithUsername(s.server.user), gomail.WithPassword(s.server.password))
	}
	return gomail.NewClient(s.server.host, options...)
}

func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.server.implicitTLS {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// classifyError converts an error of go-mail to a [*RefusedError] or an [*UnsentError]. A failed login to the mail
// server is an [*UnsentError], because it does not depend on the message.
func classifyError(err error) error {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return &UnsentError{Reason: describeError(err)}
	}
	code := failed.ErrorCode()
	switch code {
	case 530, 534, 535, 538: // RFC 4954: the server requires a login, or another login mechanism
		return &UnsentError{Reason: describeError(err)}
	}
	if code >= 500 && code < 600 {
		return &RefusedError{Reason: describeError(err)}
	}
	mayBeSent := code == 0 && failed.Reason == gomail.ErrSMTPDataClose
	// With code 421, the server closes the connection, whatever the message is (RFC 5321 §4.2.3).
	wasAnswered := code >= 400 && code < 500 && code != 421
	return &UnsentError{Reason: describeError(err), MayBeSent: mayBeSent, WasAnswered: wasAnswered}
}

// describeError returns an error as one line of limited length, which owners read. The line omits the details that
// go-mail appends.
func describeError(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected recipient(s): ")
	text, _, _ = strings.Cut(text, ", affected message ID: ")
	return cleanLine(text)
}

// maxHeaderRunes is the maximum length of a text in a header, in runes. Even if the text is one word, which cannot be
// split, the line is far shorter than the limit of 998 bytes (RFC 5322 §2.1.1).
const maxHeaderRunes = 240

// cleanLine converts a text to one short line for a header or an owner's list. cleanLine replaces line breaks, other
// control characters and characters that change the text direction with spaces. cleanLine also splits text that looks
// like an encoded word (RFC 2047). Directional isolates stay, because they enclose names in another script.
func cleanLine(text string) string {
	// Non-breaking spaces stay as they are, for example between an amount and its currency.
	isSpace := func(r rune) bool { return r == ' ' }
	text = strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' ||
			r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " ")), isSpace), " ")
	if runes := []rune(text); len(runes) > maxHeaderRunes {
		text = string(runes[:maxHeaderRunes]) + "…"
	}
	return strings.ReplaceAll(text, "=?", "= ?")
}
