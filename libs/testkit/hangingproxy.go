package testkit

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// HangingProxy is a proxy for PostgreSQL that can stop forwarding data. The connections of the proxy then stay open,
// and the operating system still acknowledges data that the proxy does not forward. A paused server, or a network that
// drops packets, has the same effect.
type HangingProxy struct {
	URL string // URL of the database through the proxy

	network, address string
	listener         net.Listener
	goroutines       sync.WaitGroup

	mu      sync.Mutex
	hang    bool // whether new connections hang
	closed  bool
	open    map[net.Conn]*forwarder
	callers int
}

// forwarder forwards the data of one connection. The forwarder stops while the lock `forward` is held.
type forwarder struct {
	forward sync.RWMutex
	hanging bool
	to      net.Conn
}

// NewHangingProxy returns a proxy for the database with this URL. It forwards
// data until [HangingProxy.Hang] is called. It closes when the test ends.
func NewHangingProxy(t testing.TB, database string) *HangingProxy {
	t.Helper()
	parsed, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &HangingProxy{listener: listener, open: map[net.Conn]*forwarder{}}
	h.network, h.address = pgconn.NetworkAddress(parsed.Host, parsed.Port)
	at := url.URL{Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password),
		Host: listener.Addr().String(),
		Path: parsed.Database, RawQuery: "sslmode=disable"}
	h.URL = at.String()
	h.goroutines.Go(h.accept)
	t.Cleanup(h.close)
	return h
}

func (h *HangingProxy) accept() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial(h.network, h.address)
		if err != nil {
			_ = conn.Close()
			continue
		}
		l := &forwarder{to: to}
		h.mu.Lock()
		if h.closed { // the connection was accepted just before the listener was closed
			h.mu.Unlock()
			_, _ = conn.Close(), to.Close()
			return
		}
		h.callers++
		h.open[conn] = l
		if h.hang {
			l.stop()
		}
		h.mu.Unlock()
		h.goroutines.Go(func() { l.copyData(to, conn) })
		h.goroutines.Go(func() { l.copyData(conn, to) })
	}
}

// copyData forwards data until one side closes. While the connection hangs, copyData keeps the last data that it has
// read.
func (l *forwarder) copyData(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			l.forward.RLock()
			_, sent := to.Write(buffer[:n])
			l.forward.RUnlock()
			if sent != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *forwarder) stop() {
	if !l.hanging {
		l.forward.Lock()
		l.hanging = true
	}
}

func (l *forwarder) resume() {
	if l.hanging {
		l.hanging = false
		l.forward.Unlock()
	}
}

// Hang stops forwarding on all open connections. If the argument `all` is true, later connections also hang.
func (h *HangingProxy) Hang(all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hang = all
	for _, l := range h.open {
		l.stop()
	}
}

// Resume makes the proxy forward data on all connections again.
func (h *HangingProxy) Resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hang = false
	for _, l := range h.open {
		l.resume()
	}
}

// Connections returns the number of connections that clients have opened since the start.
func (h *HangingProxy) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.callers
}

func (h *HangingProxy) close() {
	_ = h.listener.Close()
	h.mu.Lock()
	h.closed = true
	for from, l := range h.open {
		_, _ = from.Close(), l.to.Close()
		l.resume()
	}
	h.mu.Unlock()
	h.goroutines.Wait()
}
