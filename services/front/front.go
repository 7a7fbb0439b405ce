// Package front implements the front: a server whose address is the single public address of all services. It forwards
// each public path to the service that serves the path, as listed in the table of components
// (libs/contracts/components). Any other path gets 404.
//
// The program that runs all services in one process always has a front. In a cluster, the front is optional. Use it if
// the ingress controller cannot hold the exact routes of the chart and the load balancer supports only one path prefix.
//
// The front is a server of libs/platform/server. Therefore traces, JSON faults, body limit, deadline and client
// address work as in every service. It forwards with the HTTP client of fasthttp, which needs no conversion between
// two HTTP implementations. It never sends a request twice, because the second request could create a second booking.
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

// ServiceNames returns the sorted names of the services with public paths. The front needs the address of each of these
// services.
func ServiceNames() []string {
	return slices.DeleteFunc(components.Names(), func(name string) bool {
		return !components.All[name].IsPublic()
	})
}

// Config holds the settings of the front. The request timeout of the front must be longer than the timeouts of the
// services. If it is shorter, the error responses of the services do not reach the client.
type Config struct {
	Server server.Config
	Limits limits.Config
	// Upstreams maps the name of each service in [ServiceNames] to the
	// address of its public port: "booking=slotmesh-booking:8080,catalog=…".
	Upstreams map[string]string `env:"UPSTREAMS, required, separator=="`
}

// Validate checks all settings. Each error names its environment variable.
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

// notFoundPath is a path at which the pages service has no page. A browser that requests an unknown path gets the page
// that the pages service serves there.
const notFoundPath = "/not-found"

// HealthPath is the path for health checks of load balancers. It is on the public
// port, because cloud load balancers check the port to which they forward.
const HealthPath = "/healthz"

// New returns the front, ready to run. New opens no connection.
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
		if srv.IsDraining() {
			return fault.New(fault.PeerUnavailable, "This front is stopping; ask another.")
		}
		return c.SendString("ok\n")
	})
	local := ratelimit.NewLocal(clock.System())
	refuse := refuser{limits.New(cfg.Limits, local, local, rt.Telemetry), upstreams["pages"]}
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

// refuser answers the requests that the front does not forward. It counts these requests against
// the rate limits, because the services count only the requests that are forwarded to them.
type refuser struct {
	gate  *limits.Gate
	pages *upstream // the pages service
}

// refuse counts a request against the rate limit of the client's address. If the limit is exceeded, refuse returns the
// error of the limit. If not, it returns the argument `fault`.
func (r refuser) refuse(c *fiber.Ctx, fault error) error {
	if err := r.gate.Pass(c.UserContext(), server.ClientIP(c), c.Method(), c.Path(),
		server.AnswerHeader(c)); err != nil {
		return err
	}
	return fault
}

// refuseUnknown answers 404 to a path that is not in the table of components. A browser gets the page of the pages
// service for unknown paths. Other clients get JSON, and so does a browser if the pages service does not answer. The
// front never forwards the unknown path itself.
func (r refuser) refuseUnknown(c *fiber.Ctx) error {
	if err := r.refuse(c, nil); err != nil {
		return err
	}
	if acceptsPage(c) && r.pages.forwardTo(c, []byte(notFoundPath)) == nil {
		return nil
	}
	return fiber.ErrNotFound
}

// acceptsPage reports whether the request is from a browser that shows the answer as a page.
func acceptsPage(c *fiber.Ctx) bool {
	return c.Method() == fiber.MethodGet && strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}

// upstream is the public port of one service, to which the front forwards requests.
type upstream struct {
	service string
	// secret proves to the service that the request is from the front. The service then trusts the header
	// X-Forwarded-For.
	secret     string
	client     *fasthttp.HostClient
	propagator propagation.TextMapPropagator
}

// Limits of the connections to a service and of a forwarded request.
const (
	maxConnections = 512 // maximum number of connections to one service; more requests wait for a connection
	// maxIdleTime is shorter than in the services, so that the
	// front does not use a connection that a service has closed.
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
			MaxConnWaitTimeout:        time.Hour, // never reached, because the wait ends at the deadline of the request
			MaxIdleConnDuration:       maxIdleTime,
			MaxIdemponentCallAttempts: 1,
			MaxResponseBodySize:       maxResponseBytes,
			ReadBufferSize:            maxHeaderBytes,
			NoDefaultUserAgentHeader:  true,
			DisablePathNormalizing:    true,
		},
	}
}

// connectionHeaders are the headers that belong to one connection, not to the request (RFC 9110 §7.6.1).
var connectionHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// callerHeaders are the headers that identify the client and the trace. The front removes these headers from the
// client's request and sets its own.
var callerHeaders = []string{peer.SecretHeader, "Forwarded", "X-Forwarded-For", "X-Real-Ip", "Traceparent",
	"Tracestate", "Baggage"}

// forward sends the request to the service and responds with the answer of the service.
func (u *upstream) forward(c *fiber.Ctx) error {
	uri := c.Request().URI()
	target := uri.PathOriginal()
	if query := uri.QueryString(); len(query) > 0 {
		target = slices.Concat(target, []byte{'?'}, query)
	}
	return u.forwardTo(c, target)
}

// forwardTo forwards the request as [upstream.forward] does, but with the given path and query.
func (u *upstream) forwardTo(c *fiber.Ctx, target []byte) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	u.copyRequest(request, c, body)
	request.Header.SetRequestURIBytes(target)
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

// send sends a request and reads the response. If the connection failed before any byte of the request was sent, send
// tries once more with a new connection. The service still gets the request only once, because the first attempt sent
// nothing. Such a failure happens when a stopping pod closes its idle connections; another pod accepts the new
// connection.
func (u *upstream) send(request *fasthttp.Request, response *fasthttp.Response, deadline time.Time) error {
	err := u.client.DoDeadline(request, response, deadline)
	if !peer.IsUnsent(err) {
		return err
	}
	u.client.CloseIdleConnections() // a stopping pod has also closed the other idle connections
	return u.client.DoDeadline(request, response, deadline)
}

// copyRequest copies the request of `c` to the argument `request`, except its path and query. It replaces the client
// address and the trace context by the values that the front determined.
func (u *upstream) copyRequest(request *fasthttp.Request, c *fiber.Ctx, body []byte) {
	c.Request().Header.CopyTo(&request.Header)
	request.Header.SetProtocol("HTTP/1.1")
	request.Header.SetNoDefaultContentType(true) // do not add a content type that the client did not send
	// The front does not forward the body of a GET request, and therefore must not
	// forward Content-Length. For other requests, fasthttp sets Content-Length.
	request.Header.SetContentLength(0)
	request.SetBodyRaw(body)
	for _, connectionNames := range c.Request().Header.PeekAll(fiber.HeaderConnection) {
		for _, name := range strings.Split(string(connectionNames), ",") {
			// The header Connection names headers that belong to this connection only.
			request.Header.Del(strings.TrimSpace(name))
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
}

// refuseInvalidSlug refuses a slug with characters that URL decoders may interpret differently. No business has
// such a slug, so the answer is the same as for an unknown business (interface.md §7). A valid but unknown slug is
// forwarded, and the service refuses it. A path with an empty slug is not a path of a business: the answer is 404.
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

// refuseInvalidPath answers 404 to a path with escapes, empty
// segments or dot segments, which [components.PlainPath] rejects.
func (r refuser) refuseInvalidPath(c *fiber.Ctx) error {
	if !components.PlainPath(string(c.Request().URI().PathOriginal())) {
		return r.refuseUnknown(c)
	}
	return c.Next()
}

// headerCarrier writes the trace context into the headers of a forwarded request.
type headerCarrier struct{ header *fasthttp.RequestHeader }

func (h headerCarrier) Get(key string) string { return string(h.header.Peek(key)) }
func (h headerCarrier) Set(key, value string) { h.header.Set(key, value) }
func (h headerCarrier) Keys() []string        { return nil }

var _ propagation.TextMapCarrier = headerCarrier{}
