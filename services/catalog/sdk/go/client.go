// Package slotmesh is a client of the public API of Slotmesh. It reads what a business offers, finds
// free times, books, and verifies webhooks.
//
// A [Client] is for one business. Only booking needs an API key, which must stay on servers. Dates are
// YYYY-MM-DD and times HH:MM, both in the business's time zone. Prices are in its currency. A request
// that failed for a moment is retried (see [WithRetries]). A booking always carries an
// Idempotency-Key, so that retries make it once. Refusals are of type [*Error] and have a [Code]:
//
//	if errors.Is(err, slotmesh.CodeSlotUnavailable) { … }
//
// The package has no dependencies. Its types and read operations are generated from the OpenAPI document of version
// [APIVersion].
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
	// Version is the version of this package. Its major number is that of the API.
	Version = "1.0.0"
	// APIVersion is the version of the OpenAPI document that this package implements: info.version.
	APIVersion = "1"
)

// answerMost is the maximum size of an answer, in bytes.
const answerMost = 32 << 20

// Client is a client of the API for one business. It is safe for concurrent use.
type Client struct {
	address string // of the Slotmesh, without a slash at the end
	slug    string
	key     string
	http    *http.Client
	retries retries
}

// Option is an option of [New].
type Option func(*Client)

// WithKey sends an API key with bookings: sm_ and 64 hexadecimal digits, with scope write or all.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTPClient sends requests with h, whose Timeout bounds each attempt. The default timeout is 30 seconds.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithRetries retries a failed request up to most times, if it may succeed later. It waits at most longest before each
// retry, and never beyond the deadline of the context. The defaults are 3 retries and 30 seconds; 0 disables retries.
func WithRetries(most int, longest time.Duration) Option {
	return func(c *Client) { c.retries = retries{most, longest} }
}

var slugs = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// New returns a client of a business. base is the address of a Slotmesh, such as https://book.example; slug
// is the name of the business in it, such as harbor-studio. It returns an error if base or slug is invalid.
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
	// never send the key to another address
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	return c, nil
}

// Confirmation is a booking that was made.
type Confirmation struct {
	BookingConfirmation
	// Replayed is true if an earlier request with the same idempotency key made the booking.
	Replayed bool `json:"-"`
}

// Book books an appointment. The key makes a retry safe, also after a restart of the program: store a new random
// value with each order of a customer. With the key "", each call uses a new key for all its attempts.
//
// If Book fails and [OutcomeUnknown] is true, call it again with the same key and order. The order is booked once,
// and the second call returns the result.
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

// List is a list of ids, or of pairs serviceId:variantId.
type List []string

// setParameter adds a parameter to a query unless the value is zero: a text, a number, true or a list.
func setParameter(query url.Values, name string, value any) {
	text := fmt.Sprint(value)
	if list, ok := value.(List); ok {
		text = strings.Join(list, ",")
	}
	if text != "" && value != false && value != 0 {
		query.Set(name, text)
	}
}

// get sends a read request. The path is the document's, with {slug} for the name of the business.
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

// do sends a request until an attempt succeeds or fails for good, and decodes a success into out. It
// returns the answer's header.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte,
	out any) (http.Header, error) {
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "slotmesh-go/"+Version)
	for attempt := 0; ; attempt++ {
		answered, text, err := c.once(ctx, method, path, header, body)
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

// once sends a request once. A refusal is returned as an [*Error].
func (c *Client) once(ctx context.Context, method, path string, header http.Header,
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

// refusal returns the error in an answer without success. An answer of a proxy has no code.
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
