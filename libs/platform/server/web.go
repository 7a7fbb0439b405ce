package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// HTTPHandler answers a net/http request. If it returns an error, the server sends the
// error as a fault. In this case, the handler must not have written any part of an answer.
type HTTPHandler func(w http.ResponseWriter, r *http.Request) error

// HandleHTTP adds a net/http handler for exactly the given path. Services use it with libraries that require net/http.
// From then on, net/http serves the public port, and clients no longer reach the handlers on Public. Requests have the
// same span, metric, log line, deadline, body limit and faults as with fiber. The handler must check the HTTP method
// itself.
func (s *Server) HandleHTTP(path string, handler HTTPHandler) {
	if s.httpPort == nil {
		s.httpPort = newHTTPPort(s)
	}
	s.httpPort.routes[path] = handler
}

// httpPort is the public port of a service if net/http serves it.
type httpPort struct {
	server *Server
	routes map[string]HTTPHandler
	http   *http.Server
	bodies *memoryBudget // nil: no limit
}

// newHTTPPort returns the public port with a net/http server that has the same limits as a fiber port.
func newHTTPPort(s *Server) *httpPort {
	w := &httpPort{server: s, routes: make(map[string]HTTPHandler), bodies: s.newBodyBudget()}
	w.http = &http.Server{
		Handler:           w,
		ReadHeaderTimeout: readTime,
		ReadTimeout:       readTime,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if from, ok := c.(*conn); ok && state == http.StateIdle {
				from.markIdle()
			}
		},
		ErrorLog: slog.NewLogLogger(s.tel.Logger.Handler(), slog.LevelWarn),
	}
	return w
}

// connKey is the key for the connection of a request in the request's context.
type connKey struct{}

func (w *httpPort) serve() error {
	if err := w.http.Serve(w.server.public); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP handles one request and records its span, metric and log line.
func (w *httpPort) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	start := time.Now() //nolint:forbidigo // measures the request itself, with the monotonic clock
	tel := w.server.tel
	parent := tel.Propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := tel.Tracer.Start(parent, r.Method, serverSpan)
	defer span.End()
	tel.Propagator.Inject(ctx, propagation.HeaderCarrier(out.Header()))

	out.Header().Set("X-Content-Type-Options", string(nosniff))
	if w.server.isHTTPS || w.server.senders.isHTTPS(r) {
		out.Header().Set("Strict-Transport-Security", strictTransport)
	}

	body := &unreadBody{ReadCloser: r.Body, length: r.ContentLength, limit: w.server.cfg.PublicBodyLimit, out: out,
		budget: w.bodies}
	body.conn, _ = ctx.Value(connKey{}).(net.Conn)
	defer body.release()
	r = r.WithContext(clock.WithArrival(ctx, arrivalTime(start, r.Method, body.conn, "")))
	r.Body = body
	answer := &statusRecorder{ResponseWriter: out, body: body, status: http.StatusOK}
	route, handler := w.findRoute(r, body.conn)
	if w.server.draining.Load() || isRead(r.Method) && r.ContentLength != 0 {
		out.Header().Set("Connection", "close")
	}
	err := w.runHandler(answer, r, handler)
	var cause error
	if err != nil {
		f := FaultOf(err)
		cause = f
		sendHTTPFault(answer, f)
	}
	method := r.Method
	if !slices.Contains(knownMethods, method) {
		method = otherMethod // keeps arbitrary text of the client out of metric labels
	}
	w.server.observe.finish(ctx, span, start, requestRecord{method: method, route: route, status: answer.status,
		cause: cause})
}

// findRoute returns the route of a request for telemetry, and the handler for the request.
func (w *httpPort) findRoute(r *http.Request, on net.Conn) (string, HTTPHandler) {
	refuse := func(err error) HTTPHandler {
		return func(http.ResponseWriter, *http.Request) error { return err }
	}
	handler, known := w.routes[r.URL.Path]
	if r.Host == refusedHost {
		return noRoute, refuse(findRefusal(on))
	}
	if !known {
		return noRoute, refuse(fault.New(fault.NotFound, "There is nothing at this path."))
	}
	if isRead(r.Method) && r.ContentLength != 0 {
		return r.URL.Path, refuse(newReadBodyFault(r.Method))
	}
	return r.URL.Path, handler
}

// runHandler applies the limit and runs the handler with the deadline of the request,
// which counts from the arrival of the request. It converts a panic into an error.
func (w *httpPort) runHandler(out http.ResponseWriter, r *http.Request, handler HTTPHandler) error {
	ctx, cancel := context.WithDeadline(r.Context(), clock.ArrivalTime(r.Context()).Add(w.server.cfg.RequestTimeout))
	defer cancel()
	return fault.Guard(func() error {
		if limit := w.server.limit; limit != nil {
			if err := limit(ctx, w.server.senders.clientAddressHTTP(r), r.Method, r.URL.Path,
				out.Header()); err != nil {
				return err
			}
		}
		return handler(out, r.WithContext(ctx))
	})
}

// sendHTTPFault sends a fault as the answer to a net/http request. It corresponds to sendFault for fiber.
func sendHTTPFault(out http.ResponseWriter, f *fault.Error) {
	header := out.Header()
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(f.RetrySeconds()))
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	out.WriteHeader(f.Kind.Status)
	_, _ = out.Write(f.Body()) // a disconnected client needs no answer
}

// statusRecorder is a response writer that records the status of the answer.
type statusRecorder struct {
	http.ResponseWriter
	body   *unreadBody
	status int
	isSent bool
}

// WriteHeader sends the status. If the handler has not read the whole body, the connection closes after the answer.
func (a *statusRecorder) WriteHeader(status int) {
	if !a.isSent && a.body.hasRest() {
		a.Header().Set("Connection", "close")
		if from, ok := a.body.conn.(*conn); ok {
			from.lingers.Store(true)
		}
	}
	a.status, a.isSent = status, true
	a.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the answer. If no status was sent before, Write first sends status 200.
func (a *statusRecorder) Write(part []byte) (int, error) {
	if !a.isSent {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(part)
}

// Unwrap returns the underlying response writer. [http.ResponseController] needs it.
func (a *statusRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }
