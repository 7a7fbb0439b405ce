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

// listener accepts the connections of one port and limits their number. After a call of [listener.Close], the listener
// closes each connection as soon as the current request of the connection is answered.
type listener struct {
	net.Listener
	bounds     bounds
	lingerTime time.Duration // maximal time for which input is discarded before a connection is closed

	stopped atomic.Bool

	mu          sync.Mutex
	open        map[*conn]struct{}
	all         group                   // all open connections
	byNetwork   map[netip.Prefix]*group // open connections by network
	lastWarning time.Time
	drained     chan struct{} // closed when the port has stopped and no connection is open
	isDrained   bool
}

// bounds holds the limits for the connections of a port; 0 means no limit.
type bounds struct {
	port             string
	total, byAddress int
	proxies          Proxies // addresses that many clients share; byAddress does not apply to them
	tel              *telemetry.Telemetry
	refused          metric.Int64Counter
	reclaimed        metric.Int64Counter
}

// prefix48Factor is the factor of the limit for a /48 network. With the
// default settings, the limit is half of the connections of the port.
const prefix48Factor = 4

// share is a network whose limit a connection counts against. The limit is multiplied by the field `factor`.
type share struct {
	network netip.Prefix
	factor  int
}

// networkShares returns the networks whose limits a connection counts against. For an IPv4 address,
// this is only the address. For an IPv6 address, these are the /64 and the /48 network. The /64
// belongs to one customer of a provider, and the /48 is the largest network that a customer gets.
func networkShares(remote netip.Addr) []share {
	in := func(bits, times int) share {
		network, _ := remote.Prefix(bits) // never fails for these sizes; all invalid addresses share one count
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

// Accept returns the next connection that the limits allow. It closes connections that exceed a limit.
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

// admit adds the given connection to the open connections. If a limit is reached, admit closes the connection that
// counts against this limit and has been idle for the longest time. If no connection is idle, admit returns false with
// the name of the limit. If the port has stopped, it returns false with "".
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

// makeRoom reports whether the group can accept one more connection. If the group already has `most` connections,
// makeRoom closes the connection that has been idle for the longest time. The caller must hold l.mu.
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

// add adds the given connection to the open connections and to the groups whose limits it counts against. The caller
// must hold l.mu.
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

// unregister removes the given connection from the open connections and from its groups. The caller must hold l.mu.
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

// moveToBack moves the given connection, which becomes idle, to the end of each of its groups.
func (l *listener) moveToBack(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range c.groups {
		m.group.members.MoveToBack(m.element)
	}
}

// warnInterval is the minimal interval between two log lines about refused connections.
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

// remove removes the given connection, which is closed, from the open connections.
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

// Close stops accepting connections and closes idle connections. Busy
// connections close after their current answer. Further calls have no effect.
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

// drain closes the port and waits until all connections are closed. It returns an error if ctx ends first.
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
