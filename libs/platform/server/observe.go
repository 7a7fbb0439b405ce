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

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// observer is middleware that gives each request a deadline, a server span and a duration
// metric by route. It logs a line if the request fails with a status of 500 or more.
//
// The OpenTelemetry middleware for this version of fiber is not used, because it names spans without the HTTP method.
type observer struct {
	tel      *telemetry.Telemetry
	timeout  time.Duration // maximal duration of one request
	internal *fiber.App    // app of the internal port; only its requests carry WaitHeader
	show     ShowFault     // sends the faults of the public port; nil: faults are sent as JSON
	duration metric.Float64Histogram
	// labels caches the attribute sets of the metric, because creating a set is slow and every request needs one.
	// There are few routes and statuses, so the cache stays small. To add a set, the map is copied and replaced.
	labels atomic.Pointer[map[label]metric.MeasurementOption]
}

func newObserver(tel *telemetry.Telemetry, timeout time.Duration) *observer {
	o := &observer{tel: tel, timeout: timeout, duration: tel.Seconds("http.server.request.duration",
		"Duration of HTTP requests by route.")}
	o.labels.Store(&map[label]metric.MeasurementOption{})
	return o
}

func (o *observer) middleware(c *fiber.Ctx) error {
	start := time.Now() //nolint:forbidigo // measures the request itself, with the monotonic clock
	peerWait := ""      // value of WaitHeader; read only from requests to the internal port
	if c.App() == o.internal {
		peerWait = c.Get(peer.WaitHeader)
	}
	arrived := arrivalTime(start, c.Method(), c.Context().Conn(), peerWait)
	parent := o.tel.Propagator.Extract(c.UserContext(), requestHeaders{c})
	spanned, span := o.tel.Tracer.Start(parent, c.Method(), serverSpan)
	defer span.End()
	ctx, end := newDeadline(clock.WithArrival(spanned, arrived), arrived.Add(o.timeout))
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
		route = noRoute // no route matched the path, only middleware ran
	}
	o.finish(ctx, span, start, requestRecord{method: c.Method(), route: route, status: status, cause: cause})
	return nil
}

// ShowFault answers a request to the public port with a fault.
type ShowFault func(c *fiber.Ctx, f *fault.Error) error

// ShowFaults sets the function that sends the faults of the public port in a form other than JSON, such as an HTML
// page. If the argument `show` returns an error, the server sends the fault as JSON. ShowFaults must be called before
// Run.
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

// nosniffKey and nosniff are the name and the value of a header that makes browsers respect the
// Content-Type of an answer. Without the header, a browser could show a JSON answer as an HTML page.
var nosniffKey, nosniff = []byte(fiber.HeaderXContentTypeOptions), []byte("nosniff")

// serverSpan is the option that marks a span as a server span. The option is created once, because every request uses
// it.
var serverSpan = trace.WithSpanKind(trace.SpanKindServer)

// noRoute is the route in telemetry for a path without a handler. The
// path itself is not recorded, because the client can choose any text.
const noRoute = "none"

// requestRecord holds the data of a finished request for telemetry. The field `cause` is the fault that was sent, or
// nil.
type requestRecord struct {
	method, route string
	status        int
	cause         error
}

// finish sets the name and the attributes of the span, and records the
// duration of the request. If the status is 500 or more, it also logs a line.
func (o *observer) finish(ctx context.Context, span trace.Span, start time.Time, s requestRecord) {
	if span.IsRecording() {
		span.SetName(s.method + " " + s.route)
		span.SetAttributes(s.attributes()...)
	}
	o.duration.Record(ctx, time.Since(start).Seconds(), o.findLabels(s))
	if s.status >= fiber.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
		o.tel.Logger.ErrorContext(ctx, "request failed", "method", s.method, "route", s.route, "status", s.status,
			"error", s.cause)
	}
}

func (s requestRecord) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("http.request.method", s.method),
		attribute.String("http.route", s.route),
		attribute.Int("http.response.status_code", s.status),
	}
}

// label identifies a time series of the metric. The values of a label come from known methods and mounted routes, so
// that there are few time series.
type label struct {
	method, route string
	status        int
}

func (o *observer) findLabels(s requestRecord) metric.MeasurementOption {
	key := label{s.method, s.route, s.status}
	known := o.labels.Load()
	if labels, ok := (*known)[key]; ok {
		return labels
	}
	labels := metric.WithAttributeSet(attribute.NewSet(s.attributes()...))
	more := maps.Clone(*known)
	more[key] = labels
	// if another request has replaced the map in the meantime, a later request adds the set
	o.labels.CompareAndSwap(known, &more)
	return labels
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
