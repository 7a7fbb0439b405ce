// Package mail sends one message by SMTP and says what became of it (lifecycle.md §2): accepted, refused for good, or worth another
// attempt. It keeps nothing and knows no business; a connection is made for each message.
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

// Message is one message to one address. None of its texts can become a header or a second recipient: Send folds what would end a
// line into spaces, and parses the addresses strictly.
type Message struct {
	ID       string    // unique and the same over attempts: receivers drop what they have already
	Thread   string    // the same for all messages about one thing, which mail programs then show together; "" for none
	Date     time.Time // when it was written
	FromName string    // the business's name
	To       string    // a bare address
	ReplyTo  string    // a bare address; "" for none
	Language string    // BCP 47, of the words
	Subject  string
	Text     string // plain text
	HTML     string // the same words
	Calendar []byte // an .ics; nil for none
	Method   string // of the calendar: REQUEST or CANCEL
}

// RefusedError says that the mail server, or the address itself, refuses the message for good.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// UnsentError says that the message was not accepted now and may be later. Maybe says that the connection was lost after the whole
// message had been sent: the server may have taken it all the same. Answered says that the server is there and does not take this
// message, as where the domain of its recipient is not found; it may well take others.
type UnsentError struct {
	Reason   string
	Maybe    bool
	Answered bool
}

func (e *UnsentError) Error() string { return e.Reason }

// Sender sends messages. It is safe for many goroutines.
type Sender struct {
	server server
	cfg    Config
	domain string // of the sender's address
	tls    *tls.Config
}

// NewSender returns a sender with settings that are enabled and valid.
func NewSender(cfg Config) (*Sender, error) {
	server, err := parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	_, domain, err := split(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("MAIL_FROM: %w", err)
	}
	return &Sender{
		server: server, cfg: cfg, domain: domain,
		tls: &tls.Config{ServerName: server.host, MinVersion: tls.VersionTLS12},
	}, nil
}

// Send delivers the message to the mail server. A nil error says that the server has taken it. Errors: [*RefusedError],
// [*UnsentError].
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return &RefusedError{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.cfg.Timeout)
	defer cancel()
	var conn net.Conn
	client, err := s.client(func(ctx context.Context, network, address string) (net.Conn, error) {
		var err error
		conn, err = s.dial(ctx, network, address)
		return conn, err
	})
	if err != nil {
		return &UnsentError{Reason: readable(err)}
	}
	defer func() {
		if conn != nil {
			_ = conn.Close() // go-mail leaves it open after some errors
		}
	}()
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return &UnsentError{Reason: "no session with the mail server: " + readable(err)}
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = client.SendWithSMTPClient(session, msg)
	if msg.IsDelivered() {
		_ = client.CloseWithSMTPClient(session) // the message is accepted, whatever becomes of the farewell
		return nil
	}
	return judged(err)
}

func (s *Sender) client(dial gomail.DialContextFunc) (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.server.port), gomail.WithTimeout(s.cfg.Timeout), gomail.WithTLSConfig(s.tls), gomail.WithHELO(s.domain),
		gomail.WithDialContextFunc(dial), gomail.WithoutNoop(),
	}
	switch {
	case s.server.implicitTLS:
		options = append(options, gomail.WithSSL()) // the dialer has done it; go-mail must not ask for STARTTLS
	case s.cfg.AllowPlaintext || s.server.local():
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.server.user != "" {
		// Where it matters the connection is encrypted by now: go-mail knows of no TLS that it has not begun itself.
		options = append(options, gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc),
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

// judged tells refusals for good from what may go better. A refusal of our signing in is about the connection, not the message.
func judged(err error) error {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return &UnsentError{Reason: readable(err)}
	}
	code := failed.ErrorCode()
	switch code {
	case 530, 534, 535, 538: // RFC 4954: sign in, or do it otherwise
		return &UnsentError{Reason: readable(err)}
	}
	if code >= 500 && code < 600 {
		return &RefusedError{Reason: readable(err)}
	}
	maybe := code == 0 && failed.Reason == gomail.ErrSMTPDataClose
	answered := code >= 400 && code < 500 && code != 421 // RFC 5321 §4.2.3: 421 closes the connection, whatever the message
	return &UnsentError{Reason: readable(err), Maybe: maybe, Answered: answered}
}

// readable is an error as an owner may read it: one line of bounded length, without go-mail's own additions.
func readable(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected recipient(s): ")
	text, _, _ = strings.Cut(text, ", affected message ID: ")
	return line(text)
}

// longest bounds a line, in runes: a word that no header may fold stays far below the 998 bytes that a line may have (RFC 5322 §2.1.1).
const longest = 240

// line makes one short line of a text that a header or an owner's list shows: what ends lines, other controls and what turns the direction
// of letters around become spaces, and what reads as the beginning of an encoded word is parted (RFC 2047). Isolates stay, which
// names in another script are set in.
func line(text string) string {
	// Spaces that do not break, as between an amount and its currency, stay.
	isSpace := func(r rune) bool { return r == ' ' }
	text = strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " ")), isSpace), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strings.ReplaceAll(text, "=?", "= ?")
}
