// Package mailbox is an SMTP server for the demo and for tests. The server delivers no mail, but keeps the last
// messages in memory.
package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Mail is one received message.
type Mail struct {
	ID   int // number of the message, counted from 1 since [Open]
	From string
	To   []string
	Raw  []byte // headers and body, RFC 5322
}

// Options holds the options of a mailbox. With the zero value, the
// mailbox accepts all messages from all clients, without encryption.
type Options struct {
	// TLS enables STARTTLS; nil disables STARTTLS. For TLS from
	// the first byte, pass a listener of crypto/tls to [Open].
	TLS *tls.Config
	// User and Password are the credentials that clients must send, with or
	// without encryption. If they are empty, clients need no credentials.
	User, Password string
	// Refuse returns an error to reject a recipient (RCPT TO), and Lose returns an error to reject a whole message. If
	// the error is an [smtp.SMTPError], it sets the code of the answer. A function that is nil rejects nothing.
	Refuse func(to string) error
	Lose   func(m Mail) error
}

const (
	maxMessages       = 500      // maximal number of stored messages
	maxMessageBytes   = 10 << 20 // maximal size of a message
	connectionTimeout = time.Minute
)

// Box is a running SMTP server with its stored messages. It is safe for concurrent use.
type Box struct {
	options  Options
	listener net.Listener
	server   *smtp.Server
	done     chan struct{}

	mu      sync.Mutex
	mails   []Mail
	count   int
	changed chan struct{} // closed when the next message arrives
}

// Open starts an SMTP server on the listener and returns its mailbox. The server runs until Close.
func Open(listener net.Listener, options Options) *Box {
	b := &Box{options: options, listener: listener, done: make(chan struct{}), changed: make(chan struct{})}
	b.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{box: b}, nil }))
	b.server.Domain = "localhost"
	b.server.TLSConfig = options.TLS
	b.server.AllowInsecureAuth = options.User != ""
	b.server.EnableSMTPUTF8 = true
	b.server.MaxMessageBytes, b.server.MaxRecipients = maxMessageBytes, 100
	b.server.ReadTimeout, b.server.WriteTimeout = connectionTimeout, connectionTimeout
	b.server.ErrorLog = log.New(io.Discard, "", 0)
	go func() {
		defer close(b.done)
		_ = b.server.Serve(listener) // returns after Close
	}()
	return b
}

// Close stops the server and closes all connections.
func (b *Box) Close() error {
	err := b.listener.Close() // the server closes the listener only if Serve has started
	_ = b.server.Close()      // the error is ignored: Close also closes the listener, which is already closed
	<-b.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Mails returns the stored messages, oldest first.
func (b *Box) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Mail returns the message with this id, and whether the message is still stored.
func (b *Box) Mail(id int) (Mail, bool) {
	for _, m := range b.Mails() {
		if m.ID == id {
			return m, true
		}
	}
	return Mail{}, false
}

// Await waits until `n` messages have arrived since [Open], and returns the stored messages. The result can be shorter
// than `n`, because at most maxMessages are stored. If ctx ends first, Await also returns an error.
func (b *Box) Await(ctx context.Context, n int) ([]Mail, error) {
	for {
		b.mu.Lock()
		count, changed := b.count, b.changed
		b.mu.Unlock()
		if count >= n {
			return b.Mails(), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return b.Mails(), fmt.Errorf("%d of %d messages have come: %w", count, n, ctx.Err())
		}
	}
}

func (b *Box) keep(m Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	m.ID = b.count
	b.mails = append(b.mails, m)
	if len(b.mails) > maxMessages {
		b.mails = slices.Delete(b.mails, 0, len(b.mails)-maxMessages)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// session is one SMTP connection.
type session struct {
	box             *Box
	isAuthenticated bool
	mail            Mail
}

var (
	_ smtp.Session     = (*session)(nil)
	_ smtp.AuthSession = (*session)(nil)
)

func (s *session) AuthMechanisms() []string {
	if s.box.options.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.box.options.User || password != s.box.options.Password {
			return smtp.ErrAuthFailed
		}
		s.isAuthenticated = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.box.options.User != "" && !s.isAuthenticated {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	s.mail.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if refuse := s.box.options.Refuse; refuse != nil {
		if err := refuse(to); err != nil {
			return err
		}
	}
	s.mail.To = append(s.mail.To, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.Raw = raw
	if lose := s.box.options.Lose; lose != nil {
		if err := lose(s.mail); err != nil {
			return err
		}
	}
	s.box.keep(s.mail)
	return nil
}

func (s *session) Reset() { s.mail = Mail{} }

func (s *session) Logout() error { return nil }
