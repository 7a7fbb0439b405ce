package server

import (
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// callerCheck decides which requests the internal port accepts. Each service of Slotmesh
// identifies itself with its own credential. Requests for probes and metrics need no credential.
//
// A browser may be able to reach the port. The check therefore refuses requests of web pages,
// which have the header Origin. An attacker may also point a foreign domain name to the port
// (DNS rebinding). The check therefore refuses requests with a foreign name in the header Host.
type callerCheck struct {
	callers peer.Callers
	hosts   []string // additional host names, in lower case
	open    bool     // no credential is required
	refused metric.Int64Counter
}

func (s *Server) newCallerCheck(cfg Config, open bool) *callerCheck {
	g := &callerCheck{open: open, callers: s.senders.callers, refused: s.refused}
	for _, host := range cfg.InternalHosts {
		g.hosts = append(g.hosts, strings.ToLower(strings.TrimSpace(host)))
	}
	return g
}

// openPaths are the paths that need no credential, because Kubernetes and Prometheus request them.
var openPaths = map[string]bool{"/livez": true, "/readyz": true, "/metrics": true}

// callerKey is the key for the name of the calling service in the locals of a request.
type callerKey struct{}

// callerOf returns the name of the calling service, or "" for a path in openPaths.
func callerOf(c *fiber.Ctx) string {
	name, _ := c.Locals(callerKey{}).(string)
	return name
}

// check is middleware that refuses unknown callers before the body
// is read. It stores the name of the calling service in the request.
func (g *callerCheck) check(c *fiber.Ctx) error {
	header := &c.Request().Header
	switch {
	case len(header.Peek(fiber.HeaderOrigin)) > 0:
		return g.refuse(c, "origin", "Origin: the internal port does not answer web pages.")
	case !g.isInternalHost(string(header.Host())):
		return g.refuse(c, "host",
			"Host: ask the internal port by an address or one of its own names; INTERNAL_HOSTS adds some.")
	case openPaths[c.Path()] || g.open:
		return c.Next()
	}
	caller := g.callers.Find(header.Peek(peer.SecretHeader))
	if caller == "" {
		return g.refuse(c, "secret",
			peer.SecretHeader+": the internal port answers Slotmesh's own services alone; show a credential of "+
				"PEER_SECRETS whose hash is in PEER_CALLERS.")
	}
	c.Locals(callerKey{}, caller)
	return c.Next()
}

func (g *callerCheck) refuse(c *fiber.Ctx, by, sentence string) error {
	g.refused.Add(c.UserContext(), 1, metric.WithAttributes(attribute.String("by", by)))
	return fault.New(fault.SourceForbidden, sentence)
}

// isInternalHost reports whether the header Host of a request names an internal
// host. An internal host is an IP address, a name without a dot, a Kubernetes
// name, or a name in InternalHosts. An attacker cannot register such a name.
func (g *callerCheck) isInternalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if net.ParseIP(host) != nil || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".svc", ".cluster.local", ".localhost"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	for _, own := range g.hosts {
		if host == own {
			return true
		}
	}
	return false
}
