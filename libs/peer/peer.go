// Package peer is how services call each other: JSON over HTTP with the trace's context, a deadline, a circuit breaker
// and a metric by outcome. A fault that the other side sent arrives as the same kind of fault; a peer that cannot be
// reached is [fault.PeerUnavailable].
package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Client calls one peer.
type Client struct {
	name    string
	base    string
	http    *http.Client
	conns   *http.Transport
	timeout time.Duration
	breaker *gobreaker.CircuitBreaker[*Response]
	calls   metric.Int64Counter
}

// Option changes how a client calls.
type Option func(*Client)

// Timeout bounds a call whose context has no nearer deadline; 2 s without this option.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// New returns a client of the peer called name at baseURL.
func New(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.Proxy = nil
	c := &Client{
		name:    name,
		base:    strings.TrimRight(baseURL, "/"),
		timeout: 2 * time.Second,
		conns:   transport,
		http: &http.Client{Transport: otelhttp.NewTransport(transport, otelhttp.WithTracerProvider(tel.TracerProvider),
			otelhttp.WithMeterProvider(tel.MeterProvider), otelhttp.WithPropagators(tel.Propagator),
			otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + name }))},
		breaker: gobreaker.NewCircuitBreaker[*Response](gobreaker.Settings{
			Name:    name,
			Timeout: time.Second, // a peer that is back is found again after this long
			ReadyToTrip: func(n gobreaker.Counts) bool {
				return n.ConsecutiveFailures >= 10
			},
			IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, context.Canceled) },
		}),
		calls: tel.Counter("slotmesh.peer.calls", "Calls to other services by outcome."),
	}
	for _, option := range options {
		option(c)
	}
	return c
}

// Close frees idle connections.
func (c *Client) Close() { c.conns.CloseIdleConnections() }

// Request is one call. Body is sent as it is when it is a []byte, as JSON otherwise; nil sends none.
type Request struct {
	Method string
	Path   string // below the base URL, with its query
	Header http.Header
	Body   any
	// Reads says that a POST changes nothing, so that it may be sent again when a kept-alive connection turns out dead.
	Reads bool
}

// Response is an answer below status 400.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call sends in as JSON and reads the answer into out; nil sends or reads nothing.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.into(ctx, Request{Method: method, Path: path, Body: in}, out)
}

// Ask is a POST that only reads.
func (c *Client) Ask(ctx context.Context, path string, in, out any) error {
	return c.into(ctx, Request{Method: http.MethodPost, Path: path, Body: in, Reads: true}, out)
}

func (c *Client) into(ctx context.Context, r Request, out any) error {
	response, err := c.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(response.Body, out); err != nil {
		return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", c.name, err), c.sentence())
	}
	return nil
}

// Do sends a request and returns the answer, or a fault: the peer's own for a status from 400 on,
// [fault.PeerUnavailable] when it could not be asked or failed (from 500 on, but for availability_unverified and
// payment_unavailable, which say that somebody else failed).
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.breaker.Execute(func() (*Response, error) { return c.send(request) })
	if err != nil {
		c.count(ctx, "unavailable")
		return nil, fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: %w", c.name, err), c.sentence())
	}
	if response.Status >= http.StatusBadRequest {
		c.count(ctx, "refused")
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return nil, fault.Decode(response.Status, response.Body, time.Duration(seconds)*time.Second)
	}
	c.count(ctx, "answered")
	return response, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	body, raw := r.Body.([]byte)
	var err error
	if !raw && r.Body != nil {
		if body, err = json.Marshal(r.Body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.base+r.Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	if !raw && r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Reads {
		request.Header["Idempotency-Key"] = nil // lets net/http repeat it; nothing is sent for it
	}
	return request, nil
}

// send returns an error for what counts against the peer: no answer, or a failure on its side.
func (c *Client) send(request *http.Request) (*Response, error) {
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusInternalServerError && !considered(answer.StatusCode, body) {
		return nil, fmt.Errorf("answered %d", answer.StatusCode)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, nil
}

// considered reports whether a failure is the peer's answer to this very request, made in good health, as when a booking
// is refused because somebody else could not be asked.
func considered(status int, body []byte) bool {
	switch fault.Decode(status, body, 0).Kind {
	case fault.AvailabilityUnverified, fault.PaymentUnavailable:
		return true
	}
	return false
}

func (c *Client) sentence() string {
	return "The " + c.name + " service does not answer; try again shortly."
}

func (c *Client) count(ctx context.Context, outcome string) {
	c.calls.Add(ctx, 1, metric.WithAttributes(attribute.String("peer", c.name), attribute.String("outcome", outcome)))
}
