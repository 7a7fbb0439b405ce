// Package front is the one public address: it knows by the table of components which service owns which public path, and forwards to it. What
// is not in its table does not exist. The one process has it always; in a cluster it stands behind a front door that knows no more than one
// PathPrefix, where the chart's exact routes are more than a controller can do.
//
// It is itself a server of libs/server, so that the first span, the JSON faults, the bounded body, the deadline and the
// client's address are the same mechanism as everywhere. It forwards with fasthttp's client, which copies no bytes
// between two kinds of HTTP; nothing is sent twice, as a booking must not be.
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

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/components"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/limits"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Services names the services that answer public paths, sorted; the front needs an address of each.
func Services() []string {
	return slices.DeleteFunc(components.Names(), func(name string) bool {
		return !components.All[name].Fronted()
	})
}

// Config are the front's settings. Its deadline is to be longer than the services', so that their own answer comes through.
type Config struct {
	Server server.Config
	Limits limits.Config
	// Upstreams are the addresses of the public ports of all [Services]: "booking=slotmesh-booking:8080,catalog=…".
	Upstreams map[string]string `env:"UPSTREAMS, required, separator=="`
}

// Validate checks the settings as a whole.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Limits.Validate()}
	for _, service := range Services() {
		if _, _, err := net.SplitHostPort(c.Upstreams[service]); err != nil {
			errs = append(errs, fmt.Errorf("UPSTREAMS: write where the public port of %s is, as in %s=slotmesh-%s:8080", service, service, service))
		}
	}
	for name := range c.Upstreams {
		if !slices.Contains(Services(), name) {
			errs = append(errs, fmt.Errorf("UPSTREAMS: %q has no public paths; leave it out", name))
		}
	}
	return errors.Join(errs...)
}

// docsPath is the page for developers, to which the root of the public host leads.
const docsPath = "/api/public/docs"

// HealthPath is where a load balancer asks whether requests are taken: cloud load balancers ask at the port that they lead to.
const HealthPath = "/healthz"

// New returns the front, ready to run. It connects to nothing yet.
func New(_ context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	credential := func(service string) string {
		if own := cfg.Server.Peers.Secrets; len(own) > 0 {
			return peer.Credential(own[0], service)
		}
		return ""
	}
	upstreams := make(map[string]*upstream)
	for _, service := range Services() {
		upstreams[service] = newUpstream(service, cfg.Upstreams[service], credential(service), rt.Telemetry)
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
	srv.Public.Get("/", refuse.home)
	for service, upstream := range upstreams {
		// Every method is forwarded: the service says which ones its path answers, and with 405 which it does not.
		for _, part := range components.All[service].Business {
			srv.Public.All("/api/public/:slug/"+part, refuse.unplainSlugs, upstream.forward)
		}
		for _, path := range components.All[service].Exact {
			srv.Public.All(path, upstream.forward)
		}
		for _, beginning := range components.All[service].Below {
			srv.Public.All(beginning+"/+", refuse.unplainPaths, upstream.forward)
		}
	}
	srv.Public.Use(refuse.rest)
	srv.OnStop("upstream connections", func(context.Context) error {
		for _, u := range upstreams {
			u.client.CloseIdleConnections()
		}
		return nil
	})
	return srv, nil
}

// refuser answers what no service is asked. The services count what is forwarded to them; what is not, only this process can.
type refuser struct{ counts *limits.Gate }

// with counts a request by its address, and answers with the fault where it may pass.
func (r refuser) with(c *fiber.Ctx, fault error) error {
	if err := r.counts.Pass(c.UserContext(), server.ClientIP(c), c.Method(), c.Path(), server.AnswerHeader(c)); err != nil {
		return err
	}
	return fault
}

// home leads visitors of the root to the page for developers.
func (r refuser) home(c *fiber.Ctx) error {
	if err := r.with(c, nil); err != nil {
		return err
	}
	return c.Redirect(docsPath)
}

// rest answers what is not in the table.
func (r refuser) rest(c *fiber.Ctx) error { return r.with(c, fiber.ErrNotFound) }

// upstream is one service's public port.
type upstream struct {
	service   string
	secret    string // shown to the service, which then believes the client's address
	client    *fasthttp.HostClient
	propagate propagation.TextMapPropagator
}

// Limits of a forwarded request.
const (
	connections    = 512              // to one service; more requests wait for a free one
	idleConnection = 30 * time.Second // less than the services keep one, so that none is found closed
	headerBytes    = 16 << 10
	responseBytes  = 64 << 20
)

func newUpstream(service, address, secret string, tel *telemetry.Telemetry) *upstream {
	return &upstream{
		service:   service,
		secret:    secret,
		propagate: tel.Propagator,
		client: &fasthttp.HostClient{
			Addr:                      address,
			Dial:                      peer.Dial,
			MaxConns:                  connections,
			MaxConnWaitTimeout:        time.Hour, // the request ends before, by its deadline
			MaxIdleConnDuration:       idleConnection,
			MaxIdemponentCallAttempts: 1,
			MaxResponseBodySize:       responseBytes,
			ReadBufferSize:            headerBytes,
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

// callerHeaders say who asks and within which trace; the front says that itself.
var callerHeaders = []string{peer.SecretHeader, "Forwarded", "X-Forwarded-For", "X-Real-Ip", "Traceparent", "Tracestate", "Baggage"}

// forward sends the request to the service and its answer back.
func (u *upstream) forward(c *fiber.Ctx) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	u.fill(request, c, body)
	deadline, ok := c.UserContext().Deadline()
	if !ok {
		return errors.New("front: the request has no deadline")
	}
	if err := u.exchange(request, response, deadline); err != nil {
		if c.Method() == fiber.MethodPost && !peer.NothingSent(err) && peer.MayBeDone(err) {
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

// exchange sends a request once. One of which nothing was sent is begun anew: a service's pod that stops ends the connections that were kept to it,
// and behind one address another takes them.
func (u *upstream) exchange(request *fasthttp.Request, response *fasthttp.Response, deadline time.Time) error {
	err := u.client.DoDeadline(request, response, deadline)
	if !peer.NothingSent(err) {
		return err
	}
	u.client.CloseIdleConnections() // those that lie beside it are as old
	return u.client.DoDeadline(request, response, deadline)
}

// fill copies the request, with one client address and the front's own trace context.
func (u *upstream) fill(request *fasthttp.Request, c *fiber.Ctx, body []byte) {
	c.Request().Header.CopyTo(&request.Header)
	request.Header.SetProtocol("HTTP/1.1")
	request.Header.SetNoDefaultContentType(true) // a body that does not say what it is, goes on not saying it
	// The body of a read goes to no service, so its length must not go there. fasthttp sets the length of other bodies.
	request.Header.SetContentLength(0)
	request.SetBodyRaw(body)
	for _, named := range c.Request().Header.PeekAll(fiber.HeaderConnection) {
		for _, name := range strings.Split(string(named), ",") {
			request.Header.Del(strings.TrimSpace(name)) // what the caller says is of this connection alone
		}
	}
	for _, name := range connectionHeaders {
		request.Header.Del(name)
	}
	for _, name := range callerHeaders {
		request.Header.Del(name)
	}
	if len(request.Header.Host()) == 0 { // HTTP/1.0 may leave it out
		request.Header.SetHost(u.client.Addr)
	}
	request.Header.Set(fiber.HeaderXForwardedFor, server.ClientIP(c).String())
	if u.secret != "" {
		request.Header.Set(peer.SecretHeader, u.secret)
	}
	u.propagate.Inject(c.UserContext(), headers{&request.Header})
	uri := c.Request().URI()
	target := uri.PathOriginal()
	if query := uri.QueryString(); len(query) > 0 {
		target = slices.Concat(target, []byte{'?'}, query)
	}
	request.Header.SetRequestURIBytes(target)
}

// unplainSlugs refuses a slug whose text depends on who decodes it, with the words of interface.md §7: no business can be
// called so. A slug that is merely unknown goes on, so that the service says so; an empty one makes no path of a
// business's.
func (r refuser) unplainSlugs(c *fiber.Ctx) error {
	slug := c.Params("slug")
	for i := range len(slug) {
		b := slug[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		digit := b >= '0' && b <= '9'
		if !letter && !digit && b != '-' && b != '_' {
			return r.with(c, fault.New(fault.BusinessNotFound, "Business not found"))
		}
	}
	if slug == "" {
		return r.rest(c)
	}
	return c.Next()
}

// unplainPaths answers what is not written plainly as what does not exist.
func (r refuser) unplainPaths(c *fiber.Ctx) error {
	if !components.PlainPath(string(c.Request().URI().PathOriginal())) {
		return r.rest(c)
	}
	return c.Next()
}

// headers lets the trace context be written into a request.
type headers struct{ to *fasthttp.RequestHeader }

func (h headers) Get(key string) string { return string(h.to.Peek(key)) }
func (h headers) Set(key, value string) { h.to.Set(key, value) }
func (h headers) Keys() []string        { return nil }

var _ propagation.TextMapCarrier = headers{}
