// Package adminapi is a client of the admin API. Every request carries an API token.
// Every write carries an Idempotency-Key, so that a repeated write takes effect once.
package adminapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// maxAnswer is the maximal size of a response body, in bytes.
const maxAnswer = 64 << 20

// Client calls the admin API of one installation. It is safe for concurrent use.
type Client struct {
	Base  string // base URL without a trailing slash
	Token string // API token; "" for requests without authentication
	HTTP  *http.Client

	Attempts       int           // maximal number of attempts per request; 0 means one
	Pause          time.Duration // pause before the second attempt; later pauses grow like Fibonacci numbers
	RepeatTimeouts bool          // reports whether to retry requests that took longer than HTTP.Timeout
}

// New returns a client with its own connections. The argument `timeout` is the time limit
// of each attempt. The client retries a request if there is no response or if the service
// is unavailable. The argument `attempts` is the maximal number of attempts per request.
func New(base, token string, timeout time.Duration, attempts int) *Client {
	return &Client{
		Base: base, Token: token, Attempts: attempts, Pause: time.Second / 2,
		HTTP: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: timeout},
	}
}

// Close closes the idle connections of the client.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Request is one request to the admin API. Body is sent unchanged.
type Request struct {
	Method, Path string
	Header       map[string]string
	Body         []byte
}

// Answer is the response to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NoAnswerError reports that there was no response, or that its body could not be read.
type NoAnswerError struct{ cause error }

// Error returns a message without the URL of the request, which the error of net/http contains.
func (e *NoAnswerError) Error() string { return "no answer: " + e.cause.Error() }

// Unwrap returns the error of net/http.
func (e *NoAnswerError) Unwrap() error { return e.cause }

// TimedOut reports whether the request took longer than its timeout.
func (e *NoAnswerError) TimedOut() bool {
	var network net.Error
	return errors.As(e.cause, &network) && network.Timeout()
}

func newNoAnswerError(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &NoAnswerError{err}
}

// Send sends a request. After a temporary error, Send repeats the request with the same Idempotency-Key.
//
// Errors: [*fault.Error] if the server refused the request;
// [*fault.Error] without a code if a proxy refused it; [*NoAnswerError].
func (c *Client) Send(ctx context.Context, r Request) (*Answer, error) {
	key := uuid.NewString()
	backoff := retry.WithMaxRetries(uint64(max(c.Attempts-1, 0)), retry.NewFibonacci(max(c.Pause, 1)))
	var last error
	answer, err := retry.DoValue(ctx, backoff, func(ctx context.Context) (*Answer, error) {
		var answer *Answer
		if answer, last = c.doAttempt(ctx, r, key); c.shouldRetry(last) {
			return nil, retry.RetryableError(last)
		}
		return answer, last
	})
	return answer, cmp.Or(last, err) // if ctx ends during a pause, the last answer of the server says more
}

// doAttempt makes one attempt. It returns a response with a status of 400 or higher as an error.
func (c *Client) doAttempt(ctx context.Context, r Request, key string) (*Answer, error) {
	answer, err := c.Do(ctx, r, key)
	if err == nil && answer.Status >= http.StatusBadRequest {
		return nil, answer.Refusal()
	}
	return answer, err
}

// shouldRetry reports whether a retry after the given error may succeed.
func (c *Client) shouldRetry(err error) bool {
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

// Do sends a request once and returns the response, whatever its status. The argument
// `key` is the Idempotency-Key of a write; "" sends no key. Error: [*NoAnswerError].
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
		return nil, newNoAnswerError(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return nil, newNoAnswerError(err)
	}
	return &Answer{Status: got.StatusCode, Header: got.Header, Body: body}, nil
}

// Refusal returns the fault in the body of the response. If the body contains no fault of the
// admin API, for example because a proxy sent the response, the result is a fault without a code.
func (a *Answer) Refusal() error {
	f := fault.Decode(a.Status, a.Body, 0)
	if f.Kind.Code == "" || f.Kind == fault.Internal {
		return &fault.Error{Kind: fault.Kind{Status: a.Status}}
	}
	return f
}

// BusinessPath returns the path of a business in the admin API. The argument `rest` holds further
// segments of the path, such as the name and the id of a resource of the business.
func BusinessPath(slug string, rest ...string) string {
	path := "/admin/businesses/" + url.PathEscape(slug)
	for _, part := range rest {
		path += "/" + url.PathEscape(part)
	}
	return path
}
