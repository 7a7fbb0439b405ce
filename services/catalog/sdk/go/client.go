// Package slotmesh reads what a business offers, asks when it is free, books, and checks webhooks, by the public interface of a Slotmesh.
//
// A [Client] is of one business. Reading needs no key; booking takes one, and is for servers. Dates are YYYY-MM-DD and times HH:MM, both in the
// business's time zone; prices are in its currency. Requests that may pass later are sent again (see [WithRetries]): a booking always carries an
// Idempotency-Key, so it is made once. Refusals are [*Error]s, told apart by their [Code]:
//
//	if errors.Is(err, slotmesh.CodeSlotUnavailable) { … }
//
// The package has no dependencies. Its types are those of the OpenAPI document of version [APIVersion].
package slotmesh

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
	// Version is that of this package. Its major number is the API's.
	Version = "1.0.0"
	// APIVersion is that of the OpenAPI document that this package speaks: info.version.
	APIVersion = "1"
)

// answerMost bounds what is read of an answer, in bytes.
const answerMost = 32 << 20

// Client asks for one business. It is safe for concurrent use.
type Client struct {
	address string // up to the business's name
	key     string
	http    *http.Client
	retries retries
}

// Option changes what [New] makes.
type Option func(*Client)

// WithKey sends an API key with bookings: sm_ and 64 hexadecimal digits, of scope write or all.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTPClient sends requests by h, whose Timeout bounds each attempt. Left out, an attempt may take 30 seconds.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithRetries sends a request that may pass later up to most times again, and waits longest at the most before each. Left out, it is 3 times and
// 30 seconds; 0 times sends every request once. Nothing waits beyond the deadline of its context.
func WithRetries(most int, longest time.Duration) Option {
	return func(c *Client) { c.retries = retries{most, longest} }
}

var slugs = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// New returns a client of a business at a Slotmesh, such as https://book.example and harbor-studio. It fails for what cannot be an address or a name.
func New(base, slug string, options ...Option) (*Client, error) {
	at, err := url.Parse(base)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, fmt.Errorf("slotmesh: %q is no address such as https://book.example", base)
	}
	if !slugs.MatchString(slug) {
		return nil, fmt.Errorf("slotmesh: %q is no name of a business: 1 to 63 of a-z, 0-9 and -", slug)
	}
	c := &Client{
		address: strings.TrimRight(at.String(), "/") + "/api/public/" + slug,
		http:    &http.Client{Timeout: 30 * time.Second},
		retries: retries{3, 30 * time.Second},
	}
	for _, o := range options {
		o(c)
	}
	own := *c.http
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a key goes nowhere else
	c.http = &own
	return c, nil
}

// Info reads the business.
func (c *Client) Info(ctx context.Context) (*BusinessInfo, error) {
	return get[BusinessInfo](ctx, c, "/info", nil)
}

// Services reads what can be booked by the appointment.
func (c *Client) Services(ctx context.Context, q OfferQuery) (*ServiceList, error) {
	return get[ServiceList](ctx, c, "/services", q.values())
}

// Staff reads who works there.
func (c *Client) Staff(ctx context.Context, q StaffQuery) (*StaffList, error) {
	return get[StaffList](ctx, c, "/staff", q.values())
}

// Events reads what tickets can be had for.
func (c *Client) Events(ctx context.Context, q EventQuery) (*EventList, error) {
	return get[EventList](ctx, c, "/events", q.values())
}

// Rentals reads what can be rented.
func (c *Client) Rentals(ctx context.Context, q OfferQuery) (*RentalList, error) {
	return get[RentalList](ctx, c, "/rentals", q.values())
}

// Slots reads the bookable starts of a date. Where Computed is false they could not be read: never show that as fully booked.
func (c *Client) Slots(ctx context.Context, q SlotQuery) (*SlotList, error) {
	return get[SlotList](ctx, c, "/slots", q.values())
}

// AvailableDates counts the bookable starts of each date.
func (c *Client) AvailableDates(ctx context.Context, q DateQuery) (*AvailableDates, error) {
	return get[AvailableDates](ctx, c, "/available-dates", q.values())
}

// RentalAvailability asks whether units of a rental are free.
func (c *Client) RentalAvailability(ctx context.Context, q RentalQuery) (*RentalAvailability, error) {
	return get[RentalAvailability](ctx, c, "/rental-availability", q.values())
}

// RentalDates counts the free units of each date and rental.
func (c *Client) RentalDates(ctx context.Context, q RentalDateQuery) (*RentalDates, error) {
	return get[RentalDates](ctx, c, "/rental-available-dates", q.values())
}

// Book books an appointment. Where it fails and [OutcomeUnknown] says so, the same order with the same IdempotencyKey books once, and tells.
func (c *Client) Book(ctx context.Context, order BookingRequest) (*BookingConfirmation, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	key := order.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	if c.key != "" {
		header.Set("Authorization", "Bearer "+c.key)
	}
	var made BookingConfirmation
	answered, err := c.do(ctx, http.MethodPost, "/book", header, body, &made)
	if err != nil {
		return nil, err
	}
	made.Replayed = answered.Get("Idempotent-Replayed") == "true"
	return &made, nil
}

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

// do asks until there is an answer that stays, and decodes a success into out. It returns the answer's header.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte, out any) (http.Header, error) {
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

// once sends a request once. An answer that refuses is an [*Error].
func (c *Client) once(ctx context.Context, method, path string, header http.Header, body []byte) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.address+path, bytes.NewReader(body))
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

// refusal is what an answer without success says. One that a proxy wrote has no code.
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
