// Package adminapi calls the admin API as programs do: with a token, and every write under an Idempotency-Key, so that what is sent again is done
// once.
package adminapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// Client calls one admin API. It is safe for concurrent use.
type Client struct {
	Base  string // its address, without a slash at its end
	Token string // "" for what needs none
	HTTP  *http.Client

	Attempts       int           // how often a request is sent at most; 0 is once
	Pause          time.Duration // before the second attempt, before the third twice as long, and so on
	RepeatTimeouts bool          // what took longer than HTTP.Timeout is sent again, too
}

// New returns a client with connections of its own. timeout bounds each attempt. What did not come back, or was refused as something was away, is
// sent up to attempts times.
func New(base, token string, timeout time.Duration, attempts int) *Client {
	return &Client{
		Base: base, Token: token, Attempts: attempts, Pause: time.Second / 2,
		HTTP: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: timeout},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Request is one request. Body is sent as it is.
type Request struct {
	Method, Path string
	Header       map[string]string
	Body         []byte
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NoAnswerError says that the server gave no answer that could be read.
type NoAnswerError struct{ cause error }

// Error does not repeat the request's URL, as net/http would.
func (e *NoAnswerError) Error() string { return "no answer: " + e.cause.Error() }

// Unwrap returns what kept the answer away.
func (e *NoAnswerError) Unwrap() error { return e.cause }

// TimedOut reports whether it was waited for as long as it may be.
func (e *NoAnswerError) TimedOut() bool {
	var network net.Error
	return errors.As(e.cause, &network) && network.Timeout()
}

func noAnswer(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &NoAnswerError{err}
}

// Send sends a request, and sends it again, with the same Idempotency-Key, where that may go better. Errors: [*fault.Error] for what the server
// refused, without a code where a proxy answered; [*NoAnswerError].
func (c *Client) Send(ctx context.Context, r Request) (*Answer, error) {
	key := uuid.NewString()
	for attempt := 1; ; attempt++ {
		answer, err := c.once(ctx, r, key)
		if attempt >= c.Attempts || !c.worthRepeating(err) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(c.Pause * time.Duration(attempt)):
		}
	}
}

// once sends a request once, and returns the answer below status 400.
func (c *Client) once(ctx context.Context, r Request, key string) (*Answer, error) {
	answer, err := c.Do(ctx, r, key)
	if err == nil && answer.Status >= http.StatusBadRequest {
		return nil, answer.Refusal()
	}
	return answer, err
}

// worthRepeating reports whether the next attempt may go better.
func (c *Client) worthRepeating(err error) bool {
	var refused *fault.Error
	var lost *NoAnswerError
	switch {
	case errors.As(err, &refused):
		return refused.Kind.Status == http.StatusServiceUnavailable || refused.Kind == fault.IdempotencyInProgress
	case errors.As(err, &lost):
		return c.RepeatTimeouts || !lost.TimedOut()
	}
	return false
}

// Do sends a request once, under an Idempotency-Key unless it is "", and returns the answer of any status. Error: [*NoAnswerError].
func (c *Client) Do(ctx context.Context, r Request, key string) (*Answer, error) {
	call, err := http.NewRequestWithContext(ctx, r.Method, c.Base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if c.Token != "" {
		call.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if key != "" && r.Method != http.MethodGet {
		call.Header.Set(idempotency.Header, key)
	}
	for name, value := range r.Header {
		call.Header.Set(name, value)
	}
	got, err := c.HTTP.Do(call)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return nil, noAnswer(err)
	}
	return &Answer{Status: got.StatusCode, Header: got.Header, Body: body}, nil
}

// Refusal is the server's fault, a [*fault.Error]; an answer of another shape, as a proxy gives, becomes one without a code.
func (a *Answer) Refusal() error {
	f := fault.Decode(a.Status, a.Body, 0)
	if f.Kind.Code == "" || f.Kind == fault.Internal {
		return &fault.Error{Kind: fault.Kind{Status: a.Status}}
	}
	return f
}

// At is the path of a business, or of something below it.
func At(slug string, rest ...string) string {
	path := "/admin/businesses/" + url.PathEscape(slug)
	for _, part := range rest {
		path += "/" + url.PathEscape(part)
	}
	return path
}
