// Package peer provides the HTTP client for calls between services. It sends JSON and the trace context. Each call has
// a deadline and a circuit breaker, and is counted in a metric with its outcome. If the other service answers with a
// fault, the call returns a fault of the same kind. If the other service cannot be reached, the fault is
// [fault.PeerUnavailable].
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

// Client sends calls to one other service, the peer.
type Client struct {
	name         string
	base         string
	transport    *transport
	timeout      time.Duration
	patience     time.Duration
	writeTimeout time.Duration // timeout of calls that may change data at the peer; if it is 0, the field `timeout` applies
	secret       string
	breakers     *breakers
	calls        metric.Int64Counter
	outcome      map[string]metric.MeasurementOption
}

// These constants are the values of the label for the outcome of a call in the metric slotmesh.peer.calls.
const (
	answered    = "answered"
	refused     = "refused"
	unavailable = "unavailable"
)

// Option changes a setting of a [Client].
type Option func(*Client)

// Timeout sets the maximal duration of a call. An earlier deadline
// of the call's context takes precedence. The default is 2 s.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// Patience sets the value that [Client.Patience] returns; the default is 0.
func Patience(d time.Duration) Option { return func(c *Client) { c.patience = d } }

// WriteTimeout sets the maximal duration of calls that may change data at the peer. It must be longer than the time
// that the peer needs for the change. A caller that stops waiting earlier cannot know whether the peer made the change.
func WriteTimeout(d time.Duration) Option { return func(c *Client) { c.writeTimeout = d } }

// Secret sets the credential that the client sends with every call. Internal ports require it.
func Secret(secret string) Option { return func(c *Client) { c.secret = secret } }

// New returns a client for the peer with this name at baseURL.
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

// Close closes the client's idle connections.
func (c *Client) Close() { c.transport.close() }

// Patience returns how long a reader of cached values should wait for a newer version before it uses the cached value.
// 0 means that the wait has no maximum.
func (c *Client) Patience() time.Duration { return c.patience }

// Request is the request of one call. If Body is a []byte, it is sent
// unchanged. Any other value is sent as JSON, and nil sends no body.
type Request struct {
	Method string
	Path   string // path below the base URL, with the query
	Header http.Header
	Body   any
	// Repeatable permits the client to send a POST again if the peer has
	// closed an idle connection. The client always repeats a GET in this case.
	Repeatable bool
	// ReadOnly means that a POST changes no data at the peer, like a GET.
	ReadOnly bool
}

// isWrite reports whether a request may change data at the peer.
func (r Request) isWrite() bool {
	return !r.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// Response is an answer with a status below 400.
type Response struct {
	Status int
	Header http.Header // only the headers in callerHeaders
	Body   []byte
}

// Call sends a request and decodes the JSON answer. The argument `in` is the body, which is sent as
// JSON; nil sends no body. The argument `out` is a pointer to the result; nil ignores the answer.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.decodeInto(ctx, Request{Method: method, Path: path, Body: in}, out)
}

// Ask sends a POST that changes no data at the peer. It encodes and decodes like [Client.Call].
func (c *Client) Ask(ctx context.Context, path string, in, out any) error {
	return c.decodeInto(ctx, Request{Method: http.MethodPost, Path: path, Body: in, Repeatable: true, ReadOnly: true},
		out)
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

// Do sends a request and returns the answer. It returns a fault if the status is 400 or more, or if no answer arrives:
//
//   - The peer's own fault, if the status is below 500. The same applies
//     to status 503 with a code of the peer, such as availability_unverified.
//   - [fault.OutcomeUnknown], if the answer to a write was lost and the peer may have received the write.
//   - [fault.PeerUnavailable] in all other cases: the peer could
//     not be reached, or failed with a status of 500 or more.
//
// A call ends at its deadline. If ctx is done before the call, Do does not make the call, and neither
// the breaker nor the metric counts it. If ctx is cancelled during the call, the call continues.
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

// encodeBody returns the bytes of a request body as the client sends them.
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

// callIfClosed calls the peer unless the circuit breaker is open, and records the result in the
// breaker. It returns an error if the breaker is open, the peer did not answer, or the peer failed.
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

// failure is the error for an answer with a status of 500 or more. The answer shows a problem of the peer that also
// concerns other requests. The field `code` is the peer's error code. It is "" if a proxy in front of the peer sent the
// answer.
type failure struct {
	status int
	code   string
}

func (f *failure) Error() string { return fmt.Sprintf("answered %d %s", f.status, f.code) }

// MayHaveSucceeded reports whether the peer may have executed a call that returned err. It
// returns false if the peer itself refused the call with service_unavailable (semantics.md §7).
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

// classifyError derives the state of the peer from an exchange without an answer.
func classifyError(err error) health {
	var network *net.OpError
	// A dial timeout does not prove that the peer is unreachable,
	// because the deadline of this call may have been short.
	if errors.As(err, &network) && network.Op == "dial" && !network.Timeout() {
		return unreachable
	}
	return failing
}

// classify derives the state of the peer from an answer. Status 500 concerns only one request; other requests may
// succeed. A gateway error, or a 503 that hasOwnMeaning does not accept, shows that the peer cannot serve requests.
func (a *Response) classify() health {
	switch {
	case a.Status < http.StatusInternalServerError:
		return healthy
	case a.Status == http.StatusInternalServerError || a.hasOwnMeaning():
		return inconclusive
	}
	return failing
}

// hasOwnMeaning reports whether a working peer sent a 503 because of this request.
// For example, booking answers 503 if another service that the request needs is down.
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
