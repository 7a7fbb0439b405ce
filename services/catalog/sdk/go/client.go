// Package slotmesh is a client of the public API of Slotmesh. It reads the offer
// of a business, finds free times, books appointments, and verifies webhooks.
//
// A [Client] is for one business. Only booking needs an API key. Keep the key on servers: a
// browser must not get it. Dates are YYYY-MM-DD and times HH:MM, both in the business's time
// zone. Prices are in the currency of the business. After a temporary failure, the client retries
// the request (see [WithRetries]). Each booking request has an Idempotency-Key, so that retries
// do not book twice. If Slotmesh refuses a request, the error is an [*Error] with a [Code]:
//
//	if errors.Is(err, slotmesh.CodeSlotUnavailable) { … }
//
// The package has no dependencies. The types and the read operations of the
// package are generated from version [APIVersion] of the OpenAPI document.
package slotmesh

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config codegen.yaml ../../internal/docs/public.yaml

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// Version is the version of this package. The major number of Version is the major number of the API.
	Version = "1.0.0"
	// APIVersion is the version of the OpenAPI document that this package implements (info.version in that document).
	APIVersion = "1"
)

// answerMost is the maximum size of an answer, in bytes.
const answerMost = 32 << 20

// Client is a client of the API for one business. It is safe for concurrent use.
type Client struct {
	address string // base URL of the Slotmesh server, without a slash at the end
	slug    string
	key     string
	http    *http.Client
	retries retries
}

// Option is an option of [New].
type Option func(*Client)

// WithKey sets the API key for bookings: sm_ and 64 hexadecimal digits. The key needs the scope write or all.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTPClient sends requests with h. The Timeout of h limits each attempt. The default timeout is 30 seconds.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithRetries limits how often and how long the client retries a failed request that may succeed later. The argument
// `most` is the maximum number of retries; 0 disables retries. The argument `longest` is the longest wait before a
// retry. If a retry needs a longer wait, or a wait beyond the deadline of the context, the client does not retry. The
// defaults are 3 retries and 30 seconds.
func WithRetries(most int, longest time.Duration) Option {
	return func(c *Client) { c.retries = retries{most, longest} }
}

var slugs = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// New returns a client of one business. The argument `base` is the base URL of a Slotmesh
// server, such as https://book.example. The argument `slug` is the name of the business on
// that server, such as harbor-studio. New returns an error if `base` or `slug` is invalid.
func New(base, slug string, options ...Option) (*Client, error) {
	at, err := url.Parse(base)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" ||
		at.Fragment != "" {
		return nil, fmt.Errorf("slotmesh: %q is no address such as https://book.example", base)
	}
	if !slugs.MatchString(slug) {
		return nil, fmt.Errorf("slotmesh: %q is no name of a business: 1 to 63 of a-z, 0-9 and -", slug)
	}
	c := &Client{
		address: strings.TrimRight(at.String(), "/"),
		slug:    slug,
		http:    &http.Client{Timeout: 30 * time.Second},
		retries: retries{3, 30 * time.Second},
	}
	for _, o := range options {
		o(c)
	}
	own := *c.http
	// A redirect is not followed, so that the API key is never sent to another URL.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	return c, nil
}

// Confirmation is the result of a successful [Client.Book].
type Confirmation struct {
	BookingConfirmation
	// Replayed is true if an earlier request with the same idempotency key made the booking.
	Replayed bool `json:"-"`
}

// Book books an appointment. The argument `key` is the Idempotency-Key, which makes a retry
// safe, even after a restart of the program. Store a new random key with each order of a
// customer. If `key` is empty, Book creates a key and uses it for all attempts of this call.
//
// If Book fails and [OutcomeUnknown] returns true, call Book again with the same key
// and order. The order is booked at most once, and the second call returns the result.
func (c *Client) Book(ctx context.Context, key string, order BookingRequest) (*Confirmation, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if key == "" {
		key = rand.Text()
	}
	header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	if c.key != "" {
		header.Set("Authorization", "Bearer "+c.key)
	}
	var made Confirmation
	answered, err := c.do(ctx, http.MethodPost, "/api/public/{slug}/book", header, body, &made)
	if err != nil {
		return nil, err
	}
	made.Replayed = answered.Get("Idempotent-Replayed") == "true"
	return &made, nil
}

// List is a list of ids, or of pairs of the form serviceId:variantId.
type List []string

// setParameter adds a query parameter unless its value is zero. The value is a string, a number, a bool or a [List].
func setParameter(query url.Values, name string, value any) {
	text := fmt.Sprint(value)
	if list, ok := value.(List); ok {
		text = strings.Join(list, ",")
	}
	if text != "" && value != false && value != 0 {
		query.Set(name, text)
	}
}

// get sends a read request. The argument `path` is a path of the OpenAPI document, with {slug} in place of the slug.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var answer T
	if _, err := c.do(ctx, http.MethodGet, path, http.Header{}, nil, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

// do sends a request, and retries it until an attempt succeeds or a retry is useless ([retries.wait]).
// It decodes the body of a successful answer into out and returns the header of that answer.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte,
	out any) (http.Header, error) {
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "slotmesh-go/"+Version)
	for attempt := 0; ; attempt++ {
		answered, text, err := c.sendOnce(ctx, method, path, header, body)
		if err == nil {
			if err := json.Unmarshal(text, out); err != nil {
				return nil, fmt.Errorf("slotmesh: the answer is not what the document describes: %w", err)
			}
			return answered, nil
		}
		if err = c.retries.wait(ctx, attempt, err); err != nil {
			return nil, err
		}
	}
}

// sendOnce sends a request once and returns the header and the body of the
// answer. If Slotmesh refuses the request, the error is an [*Error].
func (c *Client) sendOnce(ctx context.Context, method, path string, header http.Header,
	body []byte) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.address+strings.Replace(path, "{slug}", c.slug, 1),
		bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	request.Header = header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, fmt.Errorf("slotmesh: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerMost+1))
	if err != nil {
		return nil, nil, fmt.Errorf("slotmesh: the answer broke off: %w", err)
	}
	if len(text) > answerMost {
		return nil, nil, errTooLarge
	}
	if response.StatusCode >= 300 {
		return nil, nil, refusal(response, text)
	}
	return response.Header, text, nil
}

var errTooLarge = errors.New("slotmesh: the answer is larger than 32 MiB")

// refusal converts an answer whose status is not a success to an error. Code
// is empty if the body has no code, for example because a proxy answered.
func refusal(response *http.Response, text []byte) *Error {
	said := &Error{Status: response.StatusCode, Trace: response.Header.Get("traceparent")}
	var body struct {
		Error       string
		MessageCode Code
	}
	if json.Unmarshal(text, &body) == nil {
		said.Message, said.Code = body.Error, body.MessageCode
	}
	if said.Message == "" {
		said.Message = http.StatusText(response.StatusCode)
	}
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31); err == nil {
		said.RetryAfter = time.Duration(seconds) * time.Second
	}
	return said
}
