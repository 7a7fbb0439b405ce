package server

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// listener closes, with itself, the connections on which nothing was ever sent. Clients open some in reserve, and the
// HTTP server counts them as busy: stopping would wait for them until they time out.
type listener struct {
	net.Listener

	mu     sync.Mutex
	closed bool
	unused map[*conn]struct{}
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, unused: make(map[*conn]struct{})}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, from: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return c, accepted.Close()
	}
	l.unused[c] = struct{}{}
	return c, nil
}

// Close may be called more than once.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	for c := range l.unused {
		_ = c.Conn.Close()
	}
	l.unused = nil
	return l.Listener.Close()
}

// conn leaves the listener's set when its first bytes arrive or it is closed.
type conn struct {
	net.Conn
	from    *listener
	once    sync.Once
	lingers atomic.Bool // bytes of a body that nobody wanted may still come
}

// CloseWrite closes the sending side, where the connection has two.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *conn) used() {
	c.once.Do(func() {
		c.from.mu.Lock()
		defer c.from.mu.Unlock()
		delete(c.from.unused, c)
	})
}

// Read takes the connection out of the unused ones.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.used()
	}
	return n, err
}

// Close closes the connection.
func (c *conn) Close() error {
	c.used()
	if c.lingers.Swap(false) {
		linger(c.Conn)
	}
	return c.Conn.Close()
}
