package server

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// listener holds the open connections of one port and bounds their number. When the
// port stops, the listener closes each connection as soon as its requests are answered.
type listener struct {
	net.Listener
	bounds     bounds
	lingerTime time.Duration // how long input is discarded before a connection is closed

	stopped atomic.Bool

	mu          sync.Mutex
	open        map[*conn]struct{}
	all         group                   // all open connections
	byNetwork   map[netip.Prefix]*group // open connections by network
	lastWarning time.Time
	drained     chan struct{} // closed when the port has stopped and the last connection is closed
	isDrained   bool
}

// bounds are the bounds of a port's connections; 0 means no bound.
type bounds struct {
	port             string
	total, byAddress int
	proxies          Proxies // addresses that many clients share
	tel              *telemetry.Telemetry
	refused          metric.Int64Counter
	reclaimed        metric.Int64Counter
}

// prefix48Factor is the factor of the bound for a /48: by default, half of the port's connections.
const prefix48Factor = 4

// share is a network in which a connection counts, and the factor of the bound for it.
type share struct {
	network netip.Prefix
	factor  int
}

// networkShares returns the networks against whose bounds a connection counts. An IPv4 address counts by itself. An
// IPv6 address counts in its /64, which belongs to one customer, and in its /48, the largest network that a customer
// gets.
func networkShares(remote netip.Addr) []share {
	in := func(bits, times int) share {
		network, _ := remote.Prefix(bits) // never fails for these sizes; all invalid addresses count together
		return share{network, times}
	}
	if remote.Is6() {
		return []share{in(64, 1), in(48, prefix48Factor)}
	}
	return []share{in(32, 1)}
}

func newListener(l net.Listener, b bounds) *listener {
	b.refused = b.tel.Counter("slotmesh.connections.refused",
		"Connections closed at once because too many were open, by port and bound.")
	b.reclaimed = b.tel.Counter("slotmesh.connections.reclaimed",
		"Idle connections closed to make room for new ones, by port and bound.")
	return &listener{
		Listener: l, bounds: b, lingerTime: lingerTime, open: make(map[*conn]struct{}),
		byNetwork: make(map[netip.Prefix]*group), drained: make(chan struct{}),
	}
}

// Accept returns the next connection that is within the bounds.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote := remoteAddress(accepted)
		c := &conn{Conn: accepted, port: l, shares: networkShares(remote)}
		bound, ok := l.admit(c, remote)
		if ok {
			return c, nil
		}
		_ = accepted.Close()
		if bound == "" {
			return nil, net.ErrClosed
		}
		l.warn(bound)
	}
}

// admit adds a connection to the open ones. If a bound is reached, it closes the
// connection under that bound that has been idle for the longest time. It returns false if
// no connection is idle, with the name of the bound, or if the port has stopped, with "".
func (l *listener) admit(c *conn, remote netip.Addr) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped.Load() {
		return "", false
	}
	if l.bounds.byAddress > 0 && !l.bounds.proxies.isTrusted(remote) {
		for _, s := range c.shares {
			if !l.makeRoom(l.byNetwork[s.network], s.factor*l.bounds.byAddress, "address") {
				return "address", false
			}
		}
	}
	if l.bounds.total > 0 && !l.makeRoom(&l.all, l.bounds.total, "total") {
		return "total", false
	}
	l.add(c)
	return "", true
}

// makeRoom reports whether a group can take one more connection. If the group is full, it
// closes the connection that has been idle for the longest time. The caller must hold l.mu.
func (l *listener) makeRoom(g *group, most int, bound string) bool {
	if g == nil || g.members.Len() < most {
		return true
	}
	oldest := g.closeOldestIdle()
	if oldest == nil {
		return false
	}
	l.unregister(oldest)
	l.bounds.reclaimed.Add(context.Background(), 1,
		metric.WithAttributes(attribute.String("port", l.bounds.port), attribute.String("bound", bound)))
	return true
}

// add registers an open connection. The caller must hold l.mu.
func (l *listener) add(c *conn) {
	l.open[c] = struct{}{}
	c.joinGroup(&l.all)
	for _, s := range c.shares {
		if l.byNetwork[s.network] == nil {
			l.byNetwork[s.network] = new(group)
		}
		c.joinGroup(l.byNetwork[s.network])
	}
}

// unregister unregisters a connection. The caller must hold l.mu.
func (l *listener) unregister(c *conn) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	c.leaveGroups()
	for _, s := range c.shares {
		if g := l.byNetwork[s.network]; g != nil && g.members.Len() == 0 {
			delete(l.byNetwork, s.network)
		}
	}
	l.signalDrained()
}

// moveToBack moves a connection that is now idle to the back of its groups.
func (l *listener) moveToBack(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range c.groups {
		m.group.members.MoveToBack(m.element)
	}
}

// warnInterval is the minimal interval between log lines about refused connections.
const warnInterval = time.Minute

func (l *listener) warn(bound string) {
	l.bounds.refused.Add(context.Background(), 1, metric.WithAttributes(attribute.String("port", l.bounds.port),
		attribute.String("bound", bound)))
	now := time.Now() //nolint:forbidigo // bounds the log, by the machine's time
	l.mu.Lock()
	quiet := now.Sub(l.lastWarning) < warnInterval
	if !quiet {
		l.lastWarning = now
	}
	l.mu.Unlock()
	if !quiet {
		l.bounds.tel.Logger.Warn("connections are refused: too many are open", "port", l.bounds.port, "bound", bound)
	}
}

func remoteAddress(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// remove unregisters a closed connection.
func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unregister(c)
}

// signalDrained closes l.drained when the port has stopped and no connection is open.
func (l *listener) signalDrained() {
	if l.stopped.Load() && len(l.open) == 0 && !l.isDrained {
		l.isDrained = true
		close(l.drained)
	}
}

// Close stops accepting connections and closes idle ones; busy ones close after their answer. It is idempotent.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped.Swap(true) {
		return nil
	}
	for c := range l.open {
		c.closeIfIdle()
	}
	l.signalDrained()
	return l.Listener.Close()
}

// drain closes the port and waits until its last connection is closed.
func (l *listener) drain(ctx context.Context) error {
	if err := l.Close(); err != nil {
		return err
	}
	select {
	case <-l.drained:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		return fmt.Errorf("with %d connections open: %w", len(l.open), ctx.Err())
	}
}
