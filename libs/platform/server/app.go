package server

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// app returns a fiber application with the middleware that all ports use. The argument `own` is additional middleware
// for one port. It runs after the common middleware. All middleware runs before any part of a body is read.
func (s *Server) app(bodyLimit int, own ...any) *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               s.name,
		DisableStartupMessage: true,
		Immutable:             true, // caches and goroutines use parameters after the end of the request
		CaseSensitive:         true,
		StrictRouting:         true,
		StreamRequestBody:     true, // the body is read only when a handler calls [Body]
		BodyLimit:             bodyLimit,

		DisablePreParseMultipartForm: true, // no route accepts multipart forms, so there is no need to parse them
		ReadBufferSize:               16 << 10,
		// most answers fit into the buffer, so one write sends them and wakes the client only once
		WriteBufferSize: 16 << 10,
		ReadTimeout:     readTime,
		WriteTimeout:    30 * time.Second,
		IdleTimeout:     120 * time.Second,
		RequestMethods:  knownMethods,
		ErrorHandler:    func(c *fiber.Ctx, err error) error { return sendFault(c, FaultOf(err)) },
	})
	app.Server().Handler = s.closeWhenDraining(discardBodies(replaceUnknownMethods(decodeTargets(app.Server().Handler)),
		s.newBodyBudget()))
	app.Server().ConnState = func(c net.Conn, state fasthttp.ConnState) {
		if from, ok := c.(*conn); ok && state == fasthttp.StateIdle {
			from.markIdle()
		}
	}
	app.Use(slices.Concat([]any{s.observe.middleware, handleMethods, recoverPanics, trustSenders(&s.senders)}, own,
		[]any{refuseMalformed})...)
	if s.cfg.AnswerBytesInFlight > 0 {
		app.Use(newAnswerBudget(s.cfg.AnswerBytesInFlight, &s.readSpeed, s.tel).middleware)
	}
	return app
}

// closeWhenDraining adds the header "Connection: close" to each answer while the server is stopping.
func (s *Server) closeWhenDraining(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		next(ctx)
		if s.draining.Load() {
			ctx.SetConnectionClose()
		}
	}
}

// recoverPanics converts a panic of a handler into an error, which is sent with status 500.
func recoverPanics(c *fiber.Ctx) error { return fault.Guard(c.Next) }

// sendFault sends a fault as the answer of a request.
func sendFault(c *fiber.Ctx, f *fault.Error) error {
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(f.RetrySeconds()))
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(f.Kind.Status).Send(f.Body())
}

// FaultOf returns the fault that is sent for an error of a handler. It converts the errors of fiber and fasthttp. If
// a deadline was exceeded or a store is unavailable, the fault has a 5xx status, because the client is not the cause.
func FaultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return newUnavailable(err, "The answer took too long; try again shortly.")
	}
	if sqlstate.IsUnavailable(err) {
		return newUnavailable(err, "A part of the platform is away for the moment; try again shortly.")
	}
	var small *fasthttp.ErrSmallBuffer
	if errors.As(err, &small) {
		return fault.New(fault.HeadersTooLarge, "The request's headers are too large.")
	}
	var own *fiber.Error
	if !errors.As(err, &own) {
		return fault.Of(err)
	}
	switch own.Code {
	case fiber.StatusNotFound:
		return fault.New(fault.NotFound, "There is nothing at this path.")
	case fiber.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowed, "This path does not answer that method.")
	case fiber.StatusRequestTimeout:
		return fault.New(fault.RequestTimeout, "No whole request came in time; send it again.")
	case fiber.StatusRequestEntityTooLarge:
		return fault.New(fault.PayloadTooLarge, "The request body is too large.")
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return fault.New(fault.HeadersTooLarge, "The request's headers are too large.")
	case fiber.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMediaType, "Send the body as application/json.")
	}
	if own.Code < fiber.StatusInternalServerError {
		return fault.Wrap(fault.InvalidParameter, err, "The request is not well-formed HTTP.")
	}
	return fault.Of(err)
}

// newUnavailable returns a fault for a store or a service that
// is unavailable now. The client may retry after one second.
func newUnavailable(err error, sentence string) *fault.Error {
	f := fault.Wrap(fault.PeerUnavailable, err, sentence)
	f.RetryAfter = time.Second
	return f
}

// mountProbes mounts the paths for Kubernetes and Prometheus on the internal port: /livez, /readyz and /metrics.
func (s *Server) mountProbes() {
	alive := "ok\nbuild " + build.Version() + "\n"
	s.internalApp.Get("/livez", func(c *fiber.Ctx) error { return c.SendString(alive) })
	s.internalApp.Get("/readyz", s.readyz)
	s.internalApp.Get("/metrics", adaptor.HTTPHandler(s.tel.MetricsHandler()))
}

// readyz handles GET /readyz. It answers 200 if each check has passed at least once, and otherwise 503 with the names
// of the checks that have not passed yet. While the server is stopping, it answers 503.
func (s *Server) readyz(c *fiber.Ctx) error {
	if s.draining.Load() {
		return c.Status(fiber.StatusServiceUnavailable).SendString("stopping\n")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), 2*time.Second)
	defer cancel()
	var failed string
	for _, check := range s.checks {
		if check.passed.Load() {
			continue
		}
		if err := check.run(ctx); err != nil {
			failed += check.name + ": not ready\n"
			s.tel.Logger.WarnContext(ctx, "not ready", "check", check.name, "error", err)
			continue
		}
		check.passed.Store(true)
	}
	if failed != "" {
		return c.Status(fiber.StatusServiceUnavailable).SendString(failed)
	}
	return c.SendString("ok\nzones " + zone.Current().String() + "\n")
}
