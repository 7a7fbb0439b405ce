// Package front is the single public address of the services. It forwards each public path to the
// service that owns the path, by the table of components, and answers 404 to any other path. The
// one-process program always has a front. In a cluster the front is optional: use it with a load
// balancer that supports only one path prefix, if the ingress controller cannot hold the exact routes
// of the chart.
//
// The front is a server of libs/platform/server, so the first span, JSON faults, body limit, deadline
// and client address work as in every service. It forwards with the client of fasthttp, which needs no
// conversion between two HTTP implementations. It never sends a request twice, because a second
// booking could be created.
package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// ServiceNames returns the sorted names of the services with public paths. The front needs an address for each.
func ServiceNames() []string {
	return slices.DeleteFunc(components.Names(), func(name string) bool {
		return !components.All[name].Fronted()
	})
}

// Config holds the settings of the front. The request timeout must be longer than the timeouts of the
// services, so that their error responses reach the client.
type Config struct {
	Server server.Config
	Limits limits.Config
	// Upstreams are the addresses of the public ports of all [Services]: "booking=slotmesh-booking:8080,catalog=…".
	Upstreams map[string]string `env:"UPSTREAMS, required, separator=="`
}

// Validate checks all settings together.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Limits.Validate()}
	for _, service := range ServiceNames() {
		if _, _, err := net.SplitHostPort(c.Upstreams[service]); err != nil {
			errs = append(errs, fmt.Errorf("UPSTREAMS: write where the public port of %s is, as in %s=slotmesh-%s:8080",
				service, service, service))
		}
	}
	for name := range c.Upstreams {
		if !slices.Contains(ServiceNames(), name) {
			errs = append(errs, fmt.Errorf("UPSTREAMS: %q has no public paths; leave it out", name))
		}
	}
	return errors.Join(errs...)
}

// docsPath is the page for developers. The root of the public host redirects to it.
const docsPath = "/api/public/docs"

// HealthPath is the path for health checks of load balancers. Cloud load balancers check the port that they forward to.
const HealthPath = "/healthz"

// New returns the front, ready to run. It connects to nothing yet.
func New(_ context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	deriveCredential := func(service string) string {
		if secrets := cfg.Server.Peers.Secrets; len(secrets) > 0 {
			return peer.Credential(secrets[0], service)
		}
		return ""
	}
	upstreams := make(map[string]*upstream)
	for _, service := range ServiceNames() {
		upstreams[service] = newUpstream(service, cfg.Upstreams[service], deriveCredential(service), rt.Telemetry)
	}
	srv, err := server.New(cfg.Server, rt)
	if err != nil {
		return nil, err
	}
	srv.Public.Get(HealthPath, func(c *fiber.Ctx) error {
		if srv.Draining() {
			return fault.New(fault.PeerUnavailable, "This front is stopping; ask another.")
		}
		return c.SendString("ok\n")
	})
	refuse := refuser{limits.New(cfg.Limits, ratelimit.NewLocal(clock.System()), rt.Telemetry)}
	srv.Public.Get("/", refuse.redirectHome)
	for service, upstream := range upstreams {
		// The front forwards every method. The service answers 405 if the path does not support the method.
		for _, suffix := range components.All[service].Business {
			srv.Public.All("/api/public/:slug/"+suffix, refuse.refuseInvalidSlug, upstream.forward)
		}
		for _, path := range components.All[service].Exact {
			srv.Public.All(path, upstream.forward)
		}
		for _, prefix := range components.All[service].Below {
			srv.Public.All(prefix+"/+", refuse.refuseInvalidPath, upstream.forward)
		}
	}
	srv.Public.Use(refuse.refuseUnknown)
	srv.OnStop("upstream connections", func(context.Context) error {
		for _, u := range upstreams {
			u.client.CloseIdleConnections()
		}
		return nil
	})
	return srv, nil
}

// refuser answers requests that are not forwarded. It counts them against the limits, because the
// services count only forwarded requests.
type refuser struct{ gate *limits.Gate }

// refuse counts a request against the limit of its address. It returns
// the limit's error, or fault if the request is within the limit.
func (r refuser) refuse(c *fiber.Ctx, fault error) error {
	if err := r.gate.Pass(c.UserContext(), server.ClientIP(c), c.Method(), c.Path(),
		server.AnswerHeader(c)); err != nil {
		return err
	}
	return fault
}

// redirectHome redirects the root to the page for developers.
func (r refuser) redirectHome(c *fiber.Ctx) error {
	if err := r.refuse(c, nil); err != nil {
		return err
	}
	return c.Redirect(docsPath)
}

// refuseUnknown answers 404 to paths that are not in the table.
func (r refuser) refuseUnknown(c *fiber.Ctx) error { return r.refuse(c, fiber.ErrNotFound) }

// upstream is the public port of one service.
type upstream struct {
	service string
	// proves to the service that the request is from the front, so that the service trusts X-Forwarded-For
	secret     string
	client     *fasthttp.HostClient
	propagator propagation.TextMapPropagator
}

// Limits of a forwarded request.
const (
	maxConnections = 512 // to one service; more requests wait for a connection
	// shorter than in the services, so that the front does not use a connection that a service has closed
	maxIdleTime      = 30 * time.Second
	maxHeaderBytes   = 16 << 10
	maxResponseBytes = 64 << 20
)

func newUpstream(service, address, secret string, tel *telemetry.Telemetry) *upstream {
	return &upstream{
		service:    service,
		secret:     secret,
		propagator: tel.Propagator,
		client: &fasthttp.HostClient{
			Addr:                      address,
			Dial:                      peer.Dial,
			MaxConns:                  maxConnections,
			MaxConnWaitTimeout:        time.Hour, // not reached: the deadline of the request ends the wait
			MaxIdleConnDuration:       maxIdleTime,
			MaxIdemponentCallAttempts: 1,
			MaxResponseBodySize:       maxResponseBytes,
			ReadBufferSize:            maxHeaderBytes,
			NoDefaultUserAgentHeader:  true,
			DisablePathNormalizing:    true,
		},
	}
}

// connectionHeaders belong to one connection, not to the request (RFC 9110 §7.6.1).
var connectionHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// callerHeaders name the client and the trace. The front sets them itself and drops those of the client.
var callerHeaders = []string{peer.SecretHeader, "Forwarded", "X-Forwarded-For", "X-Real-Ip", "Traceparent",
	"Tracestate", "Baggage"}

// forward sends the request to the service and returns its response.
func (u *upstream) forward(c *fiber.Ctx) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	u.copyRequest(request, c, body)
	deadline, ok := c.UserContext().Deadline()
	if !ok {
		return errors.New("front: the request has no deadline")
	}
	if err := u.send(request, response, deadline); err != nil {
		if c.Method() == fiber.MethodPost && !peer.IsUnsent(err) && peer.MayHaveSucceeded(err) {
			return fault.Unknown(fmt.Errorf("%s: %w", u.service, err))
		}
		return fault.Wrap(fault.PeerUnavailable, err, "The "+u.service+" service does not answer; try again shortly.")
	}
	for _, name := range connectionHeaders {
		response.Header.Del(name)
	}
	response.CopyTo(c.Response())
	return nil
}

// send sends a request once. If no byte of it was sent, send tries once more with a new connection: a
// stopping pod closes its idle connections, and another pod accepts the new one.
func (u *upstream) send(request *fasthttp.Request, response *fasthttp.Response, deadline time.Time) error {
	err := u.client.DoDeadline(request, response, deadline)
	if !peer.IsUnsent(err) {
		return err
	}
	u.client.CloseIdleConnections() // a stopping pod has closed the other idle connections too
	return u.client.DoDeadline(request, response, deadline)
}

// copyRequest copies the request of c. It replaces the client address and the trace context with those
// of the front.
func (u *upstream) copyRequest(request *fasthttp.Request, c *fiber.Ctx, body []byte) {
	c.Request().Header.CopyTo(&request.Header)
	request.Header.SetProtocol("HTTP/1.1")
	request.Header.SetNoDefaultContentType(true) // do not add a content type that the client did not send
	// The body of a GET is not forwarded, so the length of that body must not be forwarded either. For other
	// requests, fasthttp sets the length.
	request.Header.SetContentLength(0)
	request.SetBodyRaw(body)
	for _, connectionNames := range c.Request().Header.PeekAll(fiber.HeaderConnection) {
		for _, name := range strings.Split(string(connectionNames), ",") {
			request.Header.Del(strings.TrimSpace(name)) // headers named by Connection belong to this connection only
		}
	}
	for _, name := range connectionHeaders {
		request.Header.Del(name)
	}
	for _, name := range callerHeaders {
		request.Header.Del(name)
	}
	if len(request.Header.Host()) == 0 { // HTTP/1.0 does not require the header Host
		request.Header.SetHost(u.client.Addr)
	}
	request.Header.Set(fiber.HeaderXForwardedFor, server.ClientIP(c).String())
	if u.secret != "" {
		request.Header.Set(peer.SecretHeader, u.secret)
	}
	u.propagator.Inject(c.UserContext(), headerCarrier{&request.Header})
	uri := c.Request().URI()
	requestURI := uri.PathOriginal()
	if query := uri.QueryString(); len(query) > 0 {
		requestURI = slices.Concat(requestURI, []byte{'?'}, query)
	}
	request.Header.SetRequestURIBytes(requestURI)
}

// refuseInvalidSlug refuses a slug with characters that decoders may read differently. No business has
// such a slug, so the answer is the one for an unknown business (interface.md §7). A valid but unknown
// slug is forwarded, and the service refuses it. An empty slug is not a path of a business: 404.
func (r refuser) refuseInvalidSlug(c *fiber.Ctx) error {
	slug := c.Params("slug")
	for i := range len(slug) {
		b := slug[i]
		isLetter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		isDigit := b >= '0' && b <= '9'
		if !isLetter && !isDigit && b != '-' && b != '_' {
			return r.refuse(c, fault.New(fault.BusinessNotFound, "Business not found"))
		}
	}
	if slug == "" {
		return r.refuseUnknown(c)
	}
	return c.Next()
}

// refuseInvalidPath answers 404 to a path with escapes, empty segments or dot segments
// ([components.PlainPath]).
func (r refuser) refuseInvalidPath(c *fiber.Ctx) error {
	if !components.PlainPath(string(c.Request().URI().PathOriginal())) {
		return r.refuseUnknown(c)
	}
	return c.Next()
}

// headerCarrier is the carrier that writes the trace context into a request.
type headerCarrier struct{ header *fasthttp.RequestHeader }

func (h headerCarrier) Get(key string) string { return string(h.header.Peek(key)) }
func (h headerCarrier) Set(key, value string) { h.header.Set(key, value) }
func (h headerCarrier) Keys() []string        { return nil }

var _ propagation.TextMapCarrier = headerCarrier{}
