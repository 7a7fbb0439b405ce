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

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

const (
	maxAnswer      = 64 << 20         // bytes that are read of an answer
	maxConnections = 512              // to one peer; who finds none free waits for one until its deadline
	keptIdle       = 60 * time.Second // less than a server keeps an idle connection (libs/server), so that it is the client who ends it
)

// WaitedHeader says, of a write, for how many milliseconds the request that it is made for has been on its way already:
// its deadline, and what was refused meanwhile, count from there.
const WaitedHeader = "Slotmesh-Waited"

// wire exchanges one request for one answer, with a client span.
type wire struct {
	name   string
	kept   *fasthttp.HostClient // keeps connections
	single *fasthttp.HostClient // a connection for each request
	secret string               // shown to the peer; "" for none
	tel    *telemetry.Telemetry
}

// newWire prepares the connections to a peer.
func newWire(name, baseURL string, tel *telemetry.Telemetry) *wire {
	secure := strings.HasPrefix(baseURL, "https://")
	address := strings.TrimPrefix(strings.TrimPrefix(baseURL, "https://"), "http://")
	address, _, _ = strings.Cut(address, "/")
	client := func() *fasthttp.HostClient {
		return &fasthttp.HostClient{
			Addr: fasthttp.AddMissingPort(address, secure), IsTLS: secure,
			Dial:     Dial,
			MaxConns: maxConnections, MaxConnWaitTimeout: time.Minute, MaxIdleConnDuration: keptIdle,
			MaxResponseBodySize: maxAnswer, MaxIdemponentCallAttempts: 1, // exchange decides what is repeated
			DisablePathNormalizing: true, NoDefaultUserAgentHeader: true,
		}
	}
	return &wire{name: name, kept: client(), single: client(), tel: tel}
}

func (w *wire) close() {
	w.kept.CloseIdleConnections()
	w.single.CloseIdleConnections()
}

// exchange sends a request until deadline. A kept connection may have been closed by a peer that was stopped meanwhile,
// which shows only when it is used: what may be repeated is sent once more then, over a new one, and what may not be
// repeated never goes over a kept one. A connection that is refused has carried nothing: everything is tried once more, as
// behind one address another replica may take it.
func (w *wire) exchange(ctx context.Context, base string, r Request, body []byte, deadline time.Time) (*Response, error) {
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
	if r.writes() {
		waited := time.Since(clock.Arrived(ctx))
		request.Header.Set(WaitedHeader, strconv.FormatInt(max(0, waited.Milliseconds()), 10))
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
	return copied(answer), nil
}

func (w *wire) send(r Request, request *fasthttp.Request, answer *fasthttp.Response, deadline time.Time) error {
	if !r.Repeatable && r.Method != http.MethodGet && r.Method != http.MethodHead {
		request.SetConnectionClose()
		err := w.single.DoDeadline(request, answer, deadline)
		if NothingSent(err) {
			err = w.single.DoDeadline(request, answer, deadline)
		}
		return err
	}
	err := w.kept.DoDeadline(request, answer, deadline)
	if !broke(err) && !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	w.kept.CloseIdleConnections() // those that lie beside it are as old
	if again := w.kept.DoDeadline(request, answer, deadline); again != nil {
		return errors.Join(err, again) // the first tells that the request may have arrived
	}
	return nil
}

// broke reports whether a connection was lost, as opposed to one that could not be made, an answer that took too long
// and one that is too large.
func broke(err error) bool {
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Op != "dial" && !network.Timeout()
	}
	return errors.Is(err, fasthttp.ErrConnectionClosed) || errors.Is(err, io.ErrUnexpectedEOF)
}

// span begins a call's span and hands it to the peer. Under a span that records nothing, nothing new is begun.
func (w *wire) span(ctx context.Context, method string, request *fasthttp.Request) trace.Span {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() || !span.SpanContext().IsValid() {
		ctx, span = w.tel.Tracer.Start(ctx, method+" "+w.name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("peer.service", w.name)))
	} else {
		span = trace.SpanFromContext(context.Background()) // ends nothing
	}
	w.tel.Propagator.Inject(ctx, requestHeader{&request.Header})
	return span
}

// keptHeaders are those of answers that callers read, in the form that both kinds of header keep them in.
var keptHeaders = []string{"Content-Type", "Etag", "Age", "Idempotent-Replayed", "Retry-After"}

// copied is what outlives the exchange.
func copied(answer *fasthttp.Response) *Response {
	header := make(http.Header, len(keptHeaders))
	for _, name := range keptHeaders {
		if value := answer.Header.Peek(name); len(value) > 0 {
			header[name] = []string{string(value)}
		}
	}
	return &Response{Status: answer.StatusCode(), Header: header, Body: bytes.Clone(answer.Body())}
}

// requestHeader carries a trace's context.
type requestHeader struct{ *fasthttp.RequestHeader }

func (h requestHeader) Get(key string) string { return string(h.Peek(key)) }
func (h requestHeader) Keys() []string        { return nil }

var _ propagation.TextMapCarrier = requestHeader{}
