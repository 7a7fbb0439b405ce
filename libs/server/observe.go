package server

import (
	"context"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// observer gives each request a deadline, a server span, a duration metric by route and, when it fails on our side, a log line.
// It is ours because the ready-made middleware for this fiber version names spans without the method.
type observer struct {
	tel      *telemetry.Telemetry
	timeout  time.Duration // of one request
	internal *fiber.App    // the internal port, whose requests say how long they have waited
	show     ShowFault     // of the public port; nil: as JSON
	duration metric.Float64Histogram
	// labels are the sets made so far, replaced by a copy with one more: routes and statuses are few, making a set takes
	// long, and every request looks one up.
	labels atomic.Pointer[map[label]metric.MeasurementOption]
}

func newObserver(tel *telemetry.Telemetry, timeout time.Duration) *observer {
	o := &observer{tel: tel, timeout: timeout, duration: tel.Seconds("http.server.request.duration", "Duration of HTTP requests by route.")}
	o.labels.Store(&map[label]metric.MeasurementOption{})
	return o
}

func (o *observer) middleware(c *fiber.Ctx) error {
	start := time.Now() //nolint:forbidigo // measures the request itself, with the monotonic clock
	said := ""          // of the time before: a peer's word, on the internal port alone
	if c.App() == o.internal {
		said = c.Get(peer.WaitedHeader)
	}
	arrived := arrival(start, c.Method(), c.Context().Conn(), said)
	parent := o.tel.Propagator.Extract(c.UserContext(), requestHeaders{c})
	spanned, span := o.tel.Tracer.Start(parent, c.Method(), serverSpan)
	defer span.End()
	ctx, end := within(clock.WithArrival(spanned, arrived), arrived.Add(o.timeout))
	defer end()
	c.SetUserContext(ctx)
	own := c.Route().Path

	err := c.Next()
	var cause error
	if err != nil {
		f := FaultOf(err)
		cause = f
		if sendErr := o.send(c, f); sendErr != nil {
			return sendErr
		}
	}
	endNotModified(c)
	o.tel.Propagator.Inject(ctx, responseHeaders{c})
	c.Response().Header.SetCanonical(nosniffKey, nosniff)
	status := c.Response().StatusCode()
	route := c.Route().Path
	if route == own {
		route = noRoute // only the middleware matched
	}
	o.finish(ctx, span, start, seen{method: c.Method(), route: route, status: status, cause: cause})
	return nil
}

// ShowFault answers a request of the public port with a fault.
type ShowFault func(c *fiber.Ctx, f *fault.Error) error

// ShowFaults makes the public port answer with faults in another form than JSON: a service whose readers are people shows them a page.
// Where show fails, the fault is sent as JSON. It is set before Run.
func (s *Server) ShowFaults(show ShowFault) { s.observe.show = show }

func (o *observer) send(c *fiber.Ctx, f *fault.Error) error {
	if o.show == nil || c.App() == o.internal || o.show(c, f) != nil {
		return sendFault(c, f)
	}
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(f.RetrySeconds()))
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(f.Kind.Status)
	return nil
}

// This header keeps browsers to the Content-Type of an answer: they must not take JSON for a page.
var nosniffKey, nosniff = []byte(fiber.HeaderXContentTypeOptions), []byte("nosniff")

// serverSpan is made once: every request passes it.
var serverSpan = trace.WithSpanKind(trace.SpanKindServer)

// noRoute stands for a path that nothing is mounted on: the path itself is the caller's text and stays out.
const noRoute = "none"

// seen is what telemetry keeps of a request. cause is the fault that was sent, nil without one.
type seen struct {
	method, route string
	status        int
	cause         error
}

// finish names the span and records the metric and, for a failure on our side, the log line.
func (o *observer) finish(ctx context.Context, span trace.Span, start time.Time, s seen) {
	if span.IsRecording() {
		span.SetName(s.method + " " + s.route)
		span.SetAttributes(s.attributes()...)
	}
	o.duration.Record(ctx, time.Since(start).Seconds(), o.labelled(s))
	if s.status >= fiber.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
		o.tel.Logger.ErrorContext(ctx, "request failed", "method", s.method, "route", s.route, "status", s.status, "error", s.cause)
	}
}

func (s seen) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("http.request.method", s.method),
		attribute.String("http.route", s.route),
		attribute.Int("http.response.status_code", s.status),
	}
}

// label is what tells the requests of a metric apart. Method and route are among those that routes were added for, so
// that there are few.
type label struct {
	method, route string
	status        int
}

func (o *observer) labelled(s seen) metric.MeasurementOption {
	key := label{s.method, s.route, s.status}
	known := o.labels.Load()
	if made, ok := (*known)[key]; ok {
		return made
	}
	made := metric.WithAttributeSet(attribute.NewSet(s.attributes()...))
	more := maps.Clone(*known)
	more[key] = made
	o.labels.CompareAndSwap(known, &more) // who loses makes it once more another time
	return made
}

type requestHeaders struct{ c *fiber.Ctx }

func (h requestHeaders) Get(key string) string { return h.c.Get(key) }
func (h requestHeaders) Set(string, string)    {}
func (h requestHeaders) Keys() []string        { return nil }

type responseHeaders struct{ c *fiber.Ctx }

func (h responseHeaders) Get(key string) string { return h.c.GetRespHeader(key) }
func (h responseHeaders) Set(key, value string) { h.c.Set(key, value) }
func (h responseHeaders) Keys() []string        { return nil }

var (
	_ propagation.TextMapCarrier = requestHeaders{}
	_ propagation.TextMapCarrier = responseHeaders{}
)
