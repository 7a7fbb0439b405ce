package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// HTTPHandler answers a request by net/http. An error is sent as a fault; nothing may have been written before it.
type HTTPHandler func(w http.ResponseWriter, r *http.Request) error

// HandleHTTP gives the public port to net/http, for handlers of libraries that are made for it, and adds an exact path
// to what it serves. Requests pass the same span, metric, log line, deadline, body bound and faults as with fiber;
// nothing mounted on Public is reached any more. Handlers tell methods apart themselves.
func (s *Server) HandleHTTP(path string, handler HTTPHandler) {
	if s.web == nil {
		s.web = newWeb(s)
	}
	s.web.routes[path] = handler
}

// web is the public port where net/http serves it.
type web struct {
	server *Server
	routes map[string]HTTPHandler
	http   *http.Server
}

// newWeb prepares the net/http server, with the bounds that the fiber ports have.
func newWeb(s *Server) *web {
	w := &web{server: s, routes: make(map[string]HTTPHandler)}
	w.http = &http.Server{
		Handler:           w,
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.tel.Logger.Handler(), slog.LevelWarn),
	}
	return w
}

func (w *web) serve() error {
	if err := w.http.Serve(w.server.public); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP observes one request.
func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	start := time.Now() //nolint:forbidigo // measures the request itself, with the monotonic clock
	tel := w.server.tel
	parent := tel.Propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := tel.Tracer.Start(parent, r.Method, serverSpan)
	defer span.End()
	tel.Propagator.Inject(ctx, propagation.HeaderCarrier(out.Header()))

	route, handler := r.URL.Path, w.routes[r.URL.Path]
	if handler == nil {
		route = noRoute
		handler = func(http.ResponseWriter, *http.Request) error {
			return fault.New(fault.NotFound, "There is nothing at this path.")
		}
	}
	answer := &answered{ResponseWriter: out, status: http.StatusOK}
	err := w.guarded(answer, r.WithContext(ctx), handler)
	var cause error
	if err != nil {
		f := FaultOf(err)
		cause = f
		sendHTTPFault(answer, f)
	}
	method := r.Method
	if !slices.Contains(knownMethods, method) {
		method = otherMethod // the caller's text stays out of labels
	}
	w.server.observe.finish(ctx, span, start, seen{method: method, route: route, status: answer.status, cause: cause})
}

// guarded gives the request its deadline and its body, and turns a panic into an error.
func (w *web) guarded(out http.ResponseWriter, r *http.Request, handler HTTPHandler) (err error) {
	ctx, cancel := context.WithTimeout(r.Context(), w.server.cfg.RequestTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	body, err := readBody(out, r.Body, w.server.cfg.PublicBodyLimit)
	if err != nil {
		return err
	}
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return handler(out, r)
}

// readBody reads up to limit bytes; of a larger body it reads on, so that the client has sent it before the answer comes.
func readBody(out http.ResponseWriter, from io.Reader, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidParameter, err, "The request body broke off before its end.")
	}
	if len(body) > limit {
		_, _ = io.CopyN(io.Discard, from, drainLimit)
		out.Header().Set("Connection", "close")
		return nil, fault.Newf(fault.PayloadTooLarge, "The request body is too large; send at most %d bytes.", limit)
	}
	return body, nil
}

// sendHTTPFault writes a fault as the response, as [SendFault] does.
func sendHTTPFault(out http.ResponseWriter, f *fault.Error) {
	header := out.Header()
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(f.RetrySeconds()))
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	out.WriteHeader(f.Kind.Status)
	_, _ = out.Write(f.Body()) // a client that has gone needs no answer
}

// answered remembers the status that was sent.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader sends the status.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
