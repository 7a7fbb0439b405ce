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

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/clip"
)

const (
	// SendTimeout limits one attempt. The attempt begins with the name lookup and ends when the stored part of the
	// answer is read.
	SendTimeout = 15 * time.Second
	// maxAnswer is the number of bytes of an answer that are read and stored.
	maxAnswer  = 4 << 10
	maxHeaders = 16 << 10
	userAgent  = "Slotmesh-Webhooks/1.0"
)

// Sender sends webhooks by HTTP.
type Sender struct {
	client  *http.Client
	clock   clock.Clock
	timeout time.Duration
}

// NewSender returns a sender that connects only to addresses that `guard` allows. The argument `timeout` limits each
// attempt; it is normally [SendTimeout]. The argument `resolver` looks up names; nil means the resolver of this
// machine. The sender ignores proxy settings, because a proxy would look up the name again without the checks of
// `guard`.
func NewSender(guard Guard, resolver *net.Resolver, now clock.Clock, timeout time.Duration) *Sender {
	dialer := &net.Dialer{Timeout: timeout, Control: guard.Control, Resolver: resolver}
	return &Sender{clock: now, timeout: timeout, client: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeaders, DisableCompression: true,
			MaxIdleConns: 256, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Message is one webhook to send to an endpoint.
type Message struct {
	URL     string
	ID      string // id of the event
	Body    []byte
	Secrets [][]byte // the message gets one signature per secret
}

// Attempt is the result of one attempt to send a message.
type Attempt struct {
	At         time.Time
	Took       time.Duration
	Status     int           // HTTP status of the answer; 0 if there was no answer
	Error      string        // the reason why there was no answer
	Answer     string        // the beginning of the answer's body, as UTF-8
	RetryAfter time.Duration // the pause that the answer requests
}

// IsDelivered reports whether the receiver accepted the message.
func (a Attempt) IsDelivered() bool { return a.Status >= 200 && a.Status <= 299 }

// IsGone reports whether the receiver answered 410 (Gone), which means that it wants no further messages.
func (a Attempt) IsGone() bool { return a.Status == http.StatusGone }

// Send makes one attempt to send a message. The result of a failed attempt is in the returned Attempt. Send returns an
// error only if ctx ends during the attempt, so that the result is unknown.
func (s *Sender) Send(ctx context.Context, m Message) (Attempt, error) {
	a := Attempt{At: s.clock.Now()}
	start := time.Now() //nolint:forbidigo // measures
	err := s.send(ctx, m, &a)
	a.Took = time.Since(start)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if err != nil {
		a.Status, a.Error, a.Answer = 0, s.describeError(err), ""
	}
	return a, nil
}

func (s *Sender) send(ctx context.Context, m Message, a *Attempt) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
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
	a.Status, a.RetryAfter = response.StatusCode, ParseRetryAfter(response.Header.Get("Retry-After"), a.At)
	// After status 101, the body is the connection itself, and the end of the context does not close it.
	if a.Status == http.StatusSwitchingProtocols {
		return nil
	}
	// An incomplete body is not an error, because only the status decides the result.
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	a.Answer = sanitizeAnswer(answer)
	return nil
}

// sanitizeAnswer converts an answer to valid UTF-8 without NUL bytes, because PostgreSQL rejects other text.
func sanitizeAnswer(answer []byte) string {
	text := strings.ToValidUTF8(string(answer), string(utf8.RuneError))
	return strings.ReplaceAll(text, "\x00", string(utf8.RuneError))
}

// replaceUnprintable replaces the characters of a text that are not printable. Third parties choose parts of such
// texts, for example the names in a certificate. The result can be stored in PostgreSQL and JSON, and it cannot change
// the text direction of the owner's page.
func replaceUnprintable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}

// describeError describes for an owner why there was no answer. describeError omits details that only the operator may
// see.
func (s *Sender) describeError(err error) string {
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
		return fmt.Sprintf("There was no answer within %.0f seconds.", s.timeout.Seconds())
	case errors.As(err, &cert):
		return "The certificate is not trusted: " + replaceUnprintable(clip.Text(cert.Err.Error()))
	case errors.As(err, &record):
		return "The server does not speak TLS."
	case errors.As(err, &op) && op.Op == "dial":
		return "No connection could be made."
	}
	return "The connection broke off, or the answer was not HTTP."
}
