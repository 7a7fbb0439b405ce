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

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Client calls one peer.
type Client struct {
	name    string
	base    string
	wire    *wire
	timeout time.Duration
	patient time.Duration
	writes  time.Duration // the bound of a call that may change something; 0: timeout
	secret  string
	health  *breakers
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

// Patience bounds how long readers wait for news of what they have in memory; without this option there is no such bound.
func Patience(d time.Duration) Option { return func(c *Client) { c.patient = d } }

// WriteTimeout bounds a call that may change something, where that is to be waited for longer than a look-up: who gives a write up
// before the peer does cannot say what became of it.
func WriteTimeout(d time.Duration) Option { return func(c *Client) { c.writes = d } }

// Secret is shown with every call, at internal ports that ask for it.
func Secret(secret string) Option { return func(c *Client) { c.secret = secret } }

// New returns a client of the peer called name at baseURL.
func New(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	c := &Client{
		name:    name,
		base:    strings.TrimRight(baseURL, "/"),
		timeout: 2 * time.Second,
		health:  newBreakers(clock.System()),
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
	c.wire.secret = c.secret
	return c
}

// Close frees idle connections.
func (c *Client) Close() { c.wire.close() }

// Patience is how long readers wait for news of what they have in memory, where that can stand in; 0 is no bound.
func (c *Client) Patience() time.Duration { return c.patient }

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
	Header http.Header // Content-Type, ETag, Age, Idempotent-Replayed and Retry-After alone
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
// [fault.PeerUnavailable] when it could not be asked or failed (from 500 on, but for a 503 with a code of its own, such
// as availability_unverified, which is the answer to this very request). A write that may have reached the peer, whose
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
	bound := c.timeout
	if r.writes() && c.writes > 0 {
		bound = c.writes
	}
	deadline := time.Now().Add(bound) //nolint:forbidigo // bounds a wait
	if nearer, ok := ctx.Deadline(); ok && nearer.Before(deadline) {
		deadline = nearer
	}
	response, err := c.spared(ctx, r, body, deadline)
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

// ErrSpared says that a peer was not asked, as it has not been well.
var ErrSpared = errors.New("not asked: it has failed too often just now")

// spared asks the peer unless it is unwell, and learns from what becomes of it. It returns an error for no answer and for a
// failure on the peer's side.
func (c *Client) spared(ctx context.Context, r Request, body []byte, deadline time.Time) (*Response, error) {
	tenant := r.tenant()
	if c.health.open(tenant) {
		return nil, ErrSpared
	}
	answer, err := c.wire.exchange(ctx, c.base, r, body, deadline)
	if err != nil {
		c.health.learn(tenant, withoutAnswer(err))
		return nil, err
	}
	c.health.learn(tenant, answer.health())
	if answer.Status >= http.StatusInternalServerError && !answer.considered() {
		return nil, &failure{status: answer.Status, code: fault.Decode(answer.Status, answer.Body, 0).Kind.Code}
	}
	return answer, nil
}

// failure is an answer from 500 on that says nothing to the caller but that. code is the peer's own word for it: "" where the answer is
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
	return !errors.Is(err, ErrSpared) && !errors.Is(err, fasthttp.ErrNoFreeConns)
}

// withoutAnswer is what an exchange without an answer says of the peer.
func withoutAnswer(err error) health {
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "dial" && !network.Timeout() { // a time out may be this call's own short time
		return noAnswer
	}
	return unwell
}

// health is what an answer says of the peer. A 500 is about this request, and others may go well; a gateway's answer, or
// a 503 that is not the peer's answer to this very request, says that it cannot serve.
func (a *Response) health() health {
	switch {
	case a.Status < http.StatusInternalServerError:
		return well
	case a.Status == http.StatusInternalServerError || a.considered():
		return noWord
	}
	return unwell
}

// considered reports whether a failure is the peer's answer to this very request, made in good health, as when a booking
// is refused because somebody else could not be asked.
func (a *Response) considered() bool {
	kind := fault.Decode(a.Status, a.Body, 0).Kind
	return a.Status == http.StatusServiceUnavailable && kind.Code != "" && kind.Code != fault.Internal.Code && kind.Code != fault.PeerUnavailable.Code
}

func (c *Client) unavailable(err error) error {
	return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: %w", c.name, err),
		"The "+c.name+" service does not answer; try again shortly.")
}

func (c *Client) count(ctx context.Context, outcome string) { c.calls.Add(ctx, 1, c.outcome[outcome]) }
