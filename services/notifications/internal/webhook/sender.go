package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/clip"
	"github.com/slotmesh/slotmesh/libs/clock"
)

const (
	// SendWithin bounds an attempt, from looking the name up to the end of the answer's kept part.
	SendWithin = 15 * time.Second
	// maxAnswer is how much of an answer is read and kept, in bytes.
	maxAnswer  = 4 << 10
	maxHeaders = 16 << 10
	userAgent  = "Slotmesh-Webhooks/1.0"
)

// Sender sends webhooks.
type Sender struct {
	client *http.Client
	clock  clock.Clock
	within time.Duration
}

// NewSender returns a sender to addresses that guard allows, which gives an attempt up after within, as a rule [SendWithin]; resolver looks names
// up (nil: as this machine does). Settings of proxies are not followed: a proxy would look the name up anew.
func NewSender(guard Guard, resolver *net.Resolver, now clock.Clock, within time.Duration) *Sender {
	dialer := &net.Dialer{Timeout: within, Control: guard.Control, Resolver: resolver}
	return &Sender{clock: now, within: within, client: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: maxHeaders, DisableCompression: true,
			MaxIdleConns: 256, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close frees idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Message is what is sent.
type Message struct {
	URL     string
	ID      string // of the event
	Body    []byte
	Secrets [][]byte // each signs
}

// Attempt is what became of sending a message once.
type Attempt struct {
	At         time.Time
	Took       time.Duration
	Status     int           // of the answer; 0: there was none
	Error      string        // why there was none
	Answer     string        // its beginning, as UTF-8
	RetryAfter time.Duration // that the answer asks for
}

// Delivered reports whether the receiver has taken the message.
func (a Attempt) Delivered() bool { return a.Status >= 200 && a.Status <= 299 }

// Gone reports whether the receiver wants no more messages.
func (a Attempt) Gone() bool { return a.Status == http.StatusGone }

// Send sends a message once. Every failure is an attempt; an error says that ctx ended before its time, so that nothing is known of it.
func (s *Sender) Send(ctx context.Context, m Message) (Attempt, error) {
	a := Attempt{At: s.clock.Now()}
	begun := time.Now() //nolint:forbidigo // measures
	err := s.send(ctx, m, &a)
	a.Took = time.Since(begun)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if err != nil {
		a.Status, a.Error, a.Answer = 0, s.reason(err), ""
	}
	return a, nil
}

func (s *Sender) send(ctx context.Context, m Message, a *Attempt) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	if err := Sign(r.Header, m.ID, a.At, m.Body, m.Secrets...); err != nil {
		return err
	}
	response, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	a.Status, a.RetryAfter = response.StatusCode, RetryAfter(response.Header.Get("Retry-After"), a.At)
	if a.Status == http.StatusSwitchingProtocols { // its body is the connection, which ends with no context
		return nil
	}
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // what the status says stands, whatever follows it
	a.Answer = readable(answer)
	return nil
}

// readable is text as PostgreSQL and JSON take it.
func readable(answer []byte) string {
	text := strings.ToValidUTF8(string(answer), string(utf8.RuneError))
	return strings.ReplaceAll(text, "\x00", string(utf8.RuneError))
}

// printable is text of one line of which others may have chosen a part, as the names in a certificate: PostgreSQL and JSON take it, and it turns
// nothing around where an owner reads it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}

// reason says in words why there was no answer, without what only we know.
func (s *Sender) reason(err error) string {
	var (
		name   *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		op     *net.OpError
	)
	switch {
	case errors.Is(err, errAddress):
		return "The name leads to an address that is not public."
	case errors.As(err, &name):
		return "The name does not resolve."
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("There was no answer within %.0f seconds.", s.within.Seconds())
	case errors.As(err, &cert):
		return "The certificate is not trusted: " + printable(clip.Text(cert.Err.Error()))
	case errors.As(err, &record):
		return "The server does not speak TLS."
	case errors.As(err, &op) && op.Op == "dial":
		return "No connection could be made."
	}
	return "The connection broke off, or the answer was not HTTP."
}
