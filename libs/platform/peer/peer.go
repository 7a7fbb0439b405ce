// Package peer is the HTTP client for calls between services. It sends JSON and the trace context. Each call
// has a deadline, a circuit breaker and a metric by outcome. A fault of the other service is returned as a
// fault of the same kind. If the other service cannot be reached, the fault is [fault.PeerUnavailable].
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

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Client calls one peer.
type Client struct {
	name         string
	base         string
	transport    *transport
	timeout      time.Duration
	patience     time.Duration
	writeTimeout time.Duration // timeout of calls that may change something; 0: timeout
	secret       string
	breakers     *breakers
	calls        metric.Int64Counter
	outcome      map[string]metric.MeasurementOption
}

// The outcomes of a call, for the metric.
const (
	answered    = "answered"
	refused     = "refused"
	unavailable = "unavailable"
)

// Option changes how a client calls.
type Option func(*Client)

// Timeout sets the timeout of a call whose context has no earlier deadline; the default is 2 s.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// Patience sets the value of [Client.Patience]; the default is 0.
func Patience(d time.Duration) Option { return func(c *Client) { c.patience = d } }

// WriteTimeout sets the timeout of calls that may change something. It must be longer than the time
// that the peer takes, because a caller that gives up earlier cannot know whether the change was made.
func WriteTimeout(d time.Duration) Option { return func(c *Client) { c.writeTimeout = d } }

// Secret sets the credential that is sent with every call, for internal ports that require one.
func Secret(secret string) Option { return func(c *Client) { c.secret = secret } }

// New returns a client of the peer called name at baseURL.
func New(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	c := &Client{
		name:     name,
		base:     strings.TrimRight(baseURL, "/"),
		timeout:  2 * time.Second,
		breakers: newBreakers(clock.System()),
		calls:    tel.Counter("slotmesh.peer.calls", "Calls to other services by outcome."),
		outcome:  map[string]metric.MeasurementOption{},
	}
	for _, o := range []string{answered, refused, unavailable} {
		c.outcome[o] = metric.WithAttributeSet(attribute.NewSet(attribute.String("peer", name),
			attribute.String("outcome", o)))
	}
	for _, option := range options {
		option(c)
	}
	c.transport = newTransport(name, baseURL, tel)
	c.transport.secret = c.secret
	return c
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.close() }

// Patience returns how long readers wait for a newer version of a
// value that they have in memory. 0 means that there is no bound.
func (c *Client) Patience() time.Duration { return c.patience }

// Request is one call. A []byte as Body is sent unchanged, any other value as JSON; nil sends no body.
type Request struct {
	Method string
	Path   string // below the base URL, with its query
	Header http.Header
	Body   any
	// Repeatable permits that a POST is sent again if the peer
	// has closed an idle connection. A GET is always repeatable.
	Repeatable bool
	// ReadOnly reports that a POST changes nothing, like a GET.
	ReadOnly bool
}

// isWrite reports whether a request may change something at the peer.
func (r Request) isWrite() bool {
	return !r.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// Response is an answer with a status below 400.
type Response struct {
	Status int
	Header http.Header // only Content-Type, ETag, Age, Idempotent-Replayed, Retry-After
	Body   []byte
}

// Call sends in as JSON and decodes the answer into out; nil sends or decodes nothing.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.decodeInto(ctx, Request{Method: method, Path: path, Body: in}, out)
}

// Ask sends a POST that only reads.
func (c *Client) Ask(ctx context.Context, path string, in, out any) error {
	return c.decodeInto(ctx, Request{Method: http.MethodPost, Path: path, Body: in, Repeatable: true, ReadOnly: true}, out)
}

func (c *Client) decodeInto(ctx context.Context, r Request, out any) error {
	response, err := c.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(response.Body, out); err != nil {
		if r.isWrite() {
			return fault.Unknown(fmt.Errorf("%s: unreadable answer: %w", c.name, err))
		}
		return c.unavailable(fmt.Errorf("unreadable answer: %w", err))
	}
	return nil
}

// Do sends a request and returns the answer. A status of 400 or more is returned as a fault:
//
//   - The peer's own fault, if the status is below 500, or if it is 503 with its own code (availability_unverified).
//   - [fault.OutcomeUnknown], if the answer to a write was lost and the peer may have received the write.
//   - Otherwise [fault.PeerUnavailable]: the peer could not be reached, or failed with a status of 500 or more.
//
// A call ends at its deadline. If ctx is done before the call, the call is not made, and
// neither the breaker nor the metric counts it. A later cancellation of ctx has no effect.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	body, err := encodeBody(r.Body)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, c.unavailable(err)
	}
	bound := c.timeout
	if r.isWrite() && c.writeTimeout > 0 {
		bound = c.writeTimeout
	}
	deadline := time.Now().Add(bound) //nolint:forbidigo // bounds a wait
	if nearer, ok := ctx.Deadline(); ok && nearer.Before(deadline) {
		deadline = nearer
	}
	response, err := c.callIfClosed(ctx, r, body, deadline)
	if err != nil {
		c.count(ctx, unavailable)
		if r.isWrite() && MayHaveSucceeded(err) {
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

// encodeBody returns the body in the form in which it is sent.
func encodeBody(body any) ([]byte, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return b, nil
	}
	return json.Marshal(body)
}

// ErrBreakerOpen is the error of a call that was not made because the circuit breaker is open.
var ErrBreakerOpen = errors.New("not called: the circuit breaker is open")

// callIfClosed calls the peer unless the breaker is open, and records the result in the breaker. It
// returns an error if the breaker is open, if the peer did not answer, or if the peer failed.
func (c *Client) callIfClosed(ctx context.Context, r Request, body []byte, deadline time.Time) (*Response, error) {
	tenant := r.tenant()
	if c.breakers.isOpen(tenant) {
		return nil, ErrBreakerOpen
	}
	answer, err := c.transport.exchange(ctx, c.base, r, body, deadline)
	if err != nil {
		c.breakers.record(tenant, classifyError(err))
		return nil, err
	}
	c.breakers.record(tenant, answer.classify())
	if answer.Status >= http.StatusInternalServerError && !answer.hasOwnMeaning() {
		return nil, &failure{status: answer.Status, code: fault.Decode(answer.Status, answer.Body, 0).Kind.Code}
	}
	return answer, nil
}

// failure is the error for a status of 500 or more that has no meaning for the
// caller. code is the peer's error code; "" if a proxy in front of the peer answered.
type failure struct {
	status int
	code   string
}

func (f *failure) Error() string { return fmt.Sprintf("answered %d %s", f.status, f.code) }

// MayHaveSucceeded reports whether the peer may have carried out a call that failed. It returns
// false if the peer itself refused the call with service_unavailable (semantics.md §7).
func MayHaveSucceeded(err error) bool {
	var answered *failure
	var network *net.OpError
	switch {
	case errors.As(err, &answered):
		return answered.code != fault.PeerUnavailable.Code
	case errors.As(err, &network):
		return network.Op != "dial"
	}
	return !errors.Is(err, ErrBreakerOpen) && !errors.Is(err, fasthttp.ErrNoFreeConns)
}

// classifyError returns the state of the peer after an exchange without an answer.
func classifyError(err error) health {
	var network *net.OpError
	// A timeout may only mean that this call's deadline was short.
	if errors.As(err, &network) && network.Op == "dial" && !network.Timeout() {
		return unreachable
	}
	return failing
}

// classify returns the state of the peer, judged by an answer. A 500 concerns one request, and others may succeed.
// An error of a gateway, or a 503 without a meaning for this request, shows that the peer cannot serve requests.
func (a *Response) classify() health {
	switch {
	case a.Status < http.StatusInternalServerError:
		return healthy
	case a.Status == http.StatusInternalServerError || a.hasOwnMeaning():
		return inconclusive
	}
	return failing
}

// hasOwnMeaning reports whether a 503 is a working peer's answer to this request. For
// example, booking answers 503 if another service that it needs for the request is down.
func (a *Response) hasOwnMeaning() bool {
	kind := fault.Decode(a.Status, a.Body, 0).Kind
	return a.Status == http.StatusServiceUnavailable && kind.Code != "" && kind.Code != fault.Internal.Code &&
		kind.Code != fault.PeerUnavailable.Code
}

func (c *Client) unavailable(err error) error {
	return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: %w", c.name, err),
		"The "+c.name+" service does not answer; try again shortly.")
}

func (c *Client) count(ctx context.Context, outcome string) { c.calls.Add(ctx, 1, c.outcome[outcome]) }
