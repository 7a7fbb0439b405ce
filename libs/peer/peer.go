// Package peer is how services call each other: JSON over HTTP with the trace's context, a deadline, a circuit breaker
// and a metric by outcome. A fault that the other side sent arrives as the same kind of fault; a peer that cannot be
// reached is [fault.PeerUnavailable].
package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Client calls one peer.
type Client struct {
	name    string
	base    string
	wire    *wire
	timeout time.Duration
	breaker *gobreaker.CircuitBreaker[*Response]
	calls   metric.Int64Counter
	outcome map[string]metric.MeasurementOption
}

// What became of a call, for the metric.
const (
	answered    = "answered"
	refused     = "refused"
	unavailable = "unavailable"
)

// Option changes how a client calls.
type Option func(*Client)

// Timeout bounds a call whose context has no nearer deadline; 2 s without this option.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// New returns a client of the peer called name at baseURL.
func New(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	c := &Client{
		name:    name,
		base:    strings.TrimRight(baseURL, "/"),
		timeout: 2 * time.Second,
		breaker: gobreaker.NewCircuitBreaker[*Response](gobreaker.Settings{
			Name:    name,
			Timeout: time.Second, // a peer that is back is found again after this long
			ReadyToTrip: func(n gobreaker.Counts) bool {
				return n.ConsecutiveFailures >= 10
			},
		}),
		calls:   tel.Counter("slotmesh.peer.calls", "Calls to other services by outcome."),
		outcome: map[string]metric.MeasurementOption{},
	}
	for _, o := range []string{answered, refused, unavailable} {
		c.outcome[o] = metric.WithAttributeSet(attribute.NewSet(attribute.String("peer", name), attribute.String("outcome", o)))
	}
	for _, option := range options {
		option(c)
	}
	c.wire = newWire(name, baseURL, tel)
	return c
}

// Close frees idle connections.
func (c *Client) Close() { c.wire.close() }

// Request is one call. Body is sent as it is when it is a []byte, as JSON otherwise; nil sends none.
type Request struct {
	Method string
	Path   string // below the base URL, with its query
	Header http.Header
	Body   any
	// Repeatable says that a POST may be sent again when a kept connection turns out dead, as every GET may.
	Repeatable bool
	// Reads says that a POST changes nothing, as a GET.
	Reads bool
}

// writes reports whether a request may change something at the peer.
func (r Request) writes() bool {
	return !r.Reads && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// Response is an answer below status 400.
type Response struct {
	Status int
	Header http.Header // Content-Type, ETag, Idempotent-Replayed and Retry-After alone
	Body   []byte
}

// Call sends in as JSON and reads the answer into out; nil sends or reads nothing.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.into(ctx, Request{Method: method, Path: path, Body: in}, out)
}

// Ask is a POST that only reads.
func (c *Client) Ask(ctx context.Context, path string, in, out any) error {
	return c.into(ctx, Request{Method: http.MethodPost, Path: path, Body: in, Repeatable: true, Reads: true}, out)
}

func (c *Client) into(ctx context.Context, r Request, out any) error {
	response, err := c.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(response.Body, out); err != nil {
		if r.writes() {
			return fault.Unknown(fmt.Errorf("%s: unreadable answer: %w", c.name, err))
		}
		return c.unavailable(fmt.Errorf("unreadable answer: %w", err))
	}
	return nil
}

// Do sends a request and returns the answer, or a fault: the peer's own for a status from 400 on,
// [fault.PeerUnavailable] when it could not be asked or failed (from 500 on, but for availability_unverified and
// payment_unavailable, which say that somebody else failed, and outcome_unknown). A write that may have reached the peer, whose
// answer was lost, is [fault.OutcomeUnknown].
//
// A call ends at its deadline. A context that is over before keeps it from beginning, which says nothing of the peer: the
// breaker and the metric know only of calls that began. A context that is cancelled later changes nothing.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	body, err := encoded(r.Body)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, c.unavailable(err)
	}
	deadline := time.Now().Add(c.timeout) //nolint:forbidigo // bounds a wait
	if nearer, ok := ctx.Deadline(); ok && nearer.Before(deadline) {
		deadline = nearer
	}
	response, err := c.breaker.Execute(func() (*Response, error) { return c.send(ctx, r, body, deadline) })
	if err != nil {
		c.count(ctx, unavailable)
		if r.writes() && MayBeDone(err) {
			return nil, fault.Unknown(fmt.Errorf("%s: %w", c.name, err))
		}
		return nil, c.unavailable(err)
	}
	if response.Status >= http.StatusBadRequest {
		c.count(ctx, refused)
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return nil, fault.Decode(response.Status, response.Body, time.Duration(seconds)*time.Second)
	}
	c.count(ctx, answered)
	return response, nil
}

// encoded is the body as it is sent.
func encoded(body any) ([]byte, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return b, nil
	}
	return json.Marshal(body)
}

// send returns an error for what counts against the peer: no answer, or a failure on its side.
func (c *Client) send(ctx context.Context, r Request, body []byte, deadline time.Time) (*Response, error) {
	answer, err := c.wire.exchange(ctx, c.base, r, body, deadline)
	if err != nil {
		return nil, err
	}
	if answer.Status >= http.StatusInternalServerError && !considered(answer.Status, answer.Body) {
		return nil, &failure{status: answer.Status, code: fault.Decode(answer.Status, answer.Body, 0).Kind.Code}
	}
	return answer, nil
}

// failure is an answer from 500 on that counts against the peer. code is the peer's own word for it: "" where the answer is
// not the peer's, but that of a proxy before it.
type failure struct {
	status int
	code   string
}

func (f *failure) Error() string { return fmt.Sprintf("answered %d %s", f.status, f.code) }

// MayBeDone reports whether a call that failed so may have reached the peer and done its work there. What the peer itself
// refuses with service_unavailable it has not done (semantics.md §7).
func MayBeDone(err error) bool {
	var answered *failure
	var network *net.OpError
	switch {
	case errors.As(err, &answered):
		return answered.code != fault.PeerUnavailable.Code
	case errors.As(err, &network):
		return network.Op != "dial"
	}
	return !errors.Is(err, gobreaker.ErrOpenState) && !errors.Is(err, gobreaker.ErrTooManyRequests) && !errors.Is(err, fasthttp.ErrNoFreeConns)
}

// considered reports whether a failure is the peer's answer to this very request, made in good health, as when a booking
// is refused because somebody else could not be asked.
func considered(status int, body []byte) bool {
	switch fault.Decode(status, body, 0).Kind {
	case fault.AvailabilityUnverified, fault.PaymentUnavailable, fault.OutcomeUnknown:
		return true
	}
	return false
}

func (c *Client) unavailable(err error) error {
	return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: %w", c.name, err),
		"The "+c.name+" service does not answer; try again shortly.")
}

func (c *Client) count(ctx context.Context, outcome string) { c.calls.Add(ctx, 1, c.outcome[outcome]) }
