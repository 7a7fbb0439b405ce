package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

const (
	maxAnswer = 64 << 20 // maximal size of an answer, in bytes
	// maximal number of connections to one peer; when all are in use, further calls wait until their deadline
	maxConnections = 512
	// idleTimeout is shorter than the idle timeout of the server (libs/platform/server),
	// so that the client closes an idle connection before the server does.
	idleTimeout = 60 * time.Second
)

// WaitHeader is the name of a header of calls that may change data. The value of the header is the time, in
// milliseconds, since the arrival of the client's request that caused the call. The peer computes the arrival time from
// this value. Deadlines, and the check whether a write was refused, count from the arrival time.
const WaitHeader = "Slotmesh-Waited"

// transport sends HTTP requests to one peer, each within a client span.
type transport struct {
	name   string
	reused *fasthttp.HostClient // reuses connections for several requests
	single *fasthttp.HostClient // uses a new connection for each request
	secret string               // credential that is sent to the peer; "" for none
	tel    *telemetry.Telemetry
}

// newTransport returns the transport for a peer. It opens no connection yet.
func newTransport(name, baseURL string, tel *telemetry.Telemetry) *transport {
	secure := strings.HasPrefix(baseURL, "https://")
	address := strings.TrimPrefix(strings.TrimPrefix(baseURL, "https://"), "http://")
	address, _, _ = strings.Cut(address, "/")
	client := func() *fasthttp.HostClient {
		return &fasthttp.HostClient{
			Addr: fasthttp.AddMissingPort(address, secure), IsTLS: secure,
			Dial:     Dial,
			MaxConns: maxConnections, MaxConnWaitTimeout: time.Minute, MaxIdleConnDuration: idleTimeout,
			MaxResponseBodySize: maxAnswer, MaxIdemponentCallAttempts: 1, // only the method send retries
			DisablePathNormalizing: true, NoDefaultUserAgentHeader: true,
		}
	}
	return &transport{name: name, reused: client(), single: client(), tel: tel}
}

func (w *transport) close() {
	w.reused.CloseIdleConnections()
	w.single.CloseIdleConnections()
}

// exchange sends a request and waits for the answer until the deadline.
//
// A peer that was stopped may have closed an idle connection. The client notices this only when it uses the connection.
// If the request is repeatable, the client then sends it again over a new connection. If it is not, the client uses a
// new connection from the start.
//
// If the peer refuses the connection, nothing was sent. exchange then retries every
// request once, because another replica behind the same address may accept the connection.
func (w *transport) exchange(ctx context.Context, base string, r Request, body []byte,
	deadline time.Time) (*Response, error) {
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(answer)
	request.Header.SetMethod(r.Method)
	request.Header.SetNoDefaultContentType(true)
	request.SetRequestURI(base + r.Path)
	for name, values := range r.Header {
		for _, v := range values {
			request.Header.Add(name, v)
		}
	}
	if w.secret != "" {
		request.Header.Set(SecretHeader, w.secret)
	}
	if locations := actor.Locations(ctx); locations != nil {
		request.Header.Set(actor.LocationsHeader, actor.FormatLocations(locations))
	}
	if r.isWrite() {
		age := time.Since(clock.ArrivalTime(ctx))
		request.Header.Set(WaitHeader, strconv.FormatInt(max(0, age.Milliseconds()), 10))
		if key := idempotency.Of(ctx).Key; key != "" {
			request.Header.Set(idempotency.Header, key)
		}
		if by, set := actor.From(ctx); set {
			request.Header.Set(actor.Header, by.String())
		}
		if actor.IsSilent(ctx) {
			request.Header.Set(actor.NotifyHeader, actor.NotifyNo)
		}
	}
	if _, raw := r.Body.([]byte); body != nil && !raw {
		request.Header.SetContentType("application/json")
	}
	request.SetBodyRaw(body)
	span := w.span(ctx, r.Method, request)
	defer span.End()
	if err := w.send(r, request, answer, deadline); err != nil {
		span.SetStatus(codes.Error, "no answer")
		return nil, err
	}
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode()))
	}
	return copyResponse(answer), nil
}

func (w *transport) send(r Request, request *fasthttp.Request, answer *fasthttp.Response, deadline time.Time) error {
	if !r.Repeatable && r.Method != http.MethodGet && r.Method != http.MethodHead {
		request.SetConnectionClose()
		err := w.single.DoDeadline(request, answer, deadline)
		if IsUnsent(err) {
			err = w.single.DoDeadline(request, answer, deadline)
		}
		return err
	}
	err := w.reused.DoDeadline(request, answer, deadline)
	if !isConnectionLost(err) && !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	w.reused.CloseIdleConnections() // the other idle connections are probably closed too
	if retryErr := w.reused.DoDeadline(request, answer, deadline); retryErr != nil {
		return errors.Join(err, retryErr) // the result includes err, because err shows that the peer may have received the request
	}
	return nil
}

// isConnectionLost reports whether err means the loss of an established connection.
// It returns false for a failed dial, a timeout and an answer that is too large.
func isConnectionLost(err error) bool {
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Op != "dial" && !network.Timeout()
	}
	return errors.Is(err, fasthttp.ErrConnectionClosed) || errors.Is(err, io.ErrUnexpectedEOF)
}

// span starts the span of a call and adds the trace context to the
// request. If the span of ctx is not recorded, span starts no new span.
func (w *transport) span(ctx context.Context, method string, request *fasthttp.Request) trace.Span {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() || !span.SpanContext().IsValid() {
		ctx, span = w.tel.Tracer.Start(ctx, method+" "+w.name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("http.request.method", method),
				attribute.String("peer.service", w.name)))
	} else {
		span = trace.SpanFromContext(context.Background()) // a no-op span
	}
	w.tel.Propagator.Inject(ctx, requestHeader{&request.Header})
	return span
}

// callerHeaders are the response headers that callers read, in canonical form. Other headers are dropped.
var callerHeaders = []string{"Content-Type", "Etag", "Age", "Idempotent-Replayed", "Retry-After"}

// copyResponse copies an answer. The copy stays valid after fasthttp reuses the memory of the answer.
func copyResponse(answer *fasthttp.Response) *Response {
	header := make(http.Header, len(callerHeaders))
	for _, name := range callerHeaders {
		if value := answer.Header.Peek(name); len(value) > 0 {
			header[name] = []string{string(value)}
		}
	}
	return &Response{Status: answer.StatusCode(), Header: header, Body: bytes.Clone(answer.Body())}
}

// requestHeader adapts the header of a fasthttp request to the OpenTelemetry propagator.
type requestHeader struct{ *fasthttp.RequestHeader }

func (h requestHeader) Get(key string) string { return string(h.Peek(key)) }
func (h requestHeader) Keys() []string        { return nil }

var _ propagation.TextMapCarrier = requestHeader{}
