package server

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Bounds of a request's head.
const (
	maxHead  = 16 << 10
	headTime = 10 * time.Second // from its first byte to its last
)

// readTime is how long a request may take to come before its handler begins; from then on its own deadline holds.
const readTime = 15 * time.Second

// conn is one connection of a port. It gives its HTTP server one request at a time, whose head it has checked and whose body it
// counts, so that nothing behind a request is read before that one is answered. What is refused reaches the server as a request
// of its own, by which the refusal gets its span, its metric and its turn among the answers.
type conn struct {
	net.Conn
	from    *listener
	shares  []share
	groups  []membership // set before the connection is served
	state   atomic.Int32
	lingers atomic.Bool // bytes that nobody wants may still come

	in      []byte                // read from the socket and not given to the server
	checked int                   // so many bytes at the beginning of in may be given to it
	body    framing               // of the request that was given last
	ended   error                 // what the next read from the socket would say
	headBy  time.Time             // when the head that has begun must be whole
	refused atomic.Pointer[error] // the fault that the connection ends with
}

// A connection is idle until the server is given the first byte of a request, and again once the answer was written. Only an idle
// one is given up to stop, in one step with its state: no request that was read goes unanswered.
const (
	idle int32 = iota
	busy
	givenUp
)

// refusal is what the server reads in the place of a request that it cannot be given. No other has a host with a comma.
const (
	refusedHost = "refused,"
	refusal     = "GET / HTTP/1.1\r\nHost: " + refusedHost + "\r\nConnection: close\r\n\r\n"
)

// refusalOf returns the fault that a request to refusedHost stands for.
func refusalOf(on net.Conn) error {
	if c, ok := on.(*conn); ok && c.refused.Load() != nil {
		return *c.refused.Load()
	}
	return errHost
}

// Read gives the server what may be given of one request.
func (c *conn) Read(p []byte) (int, error) {
	for {
		switch {
		case c.checked > 0:
			return c.give(p)
		case c.body.open():
			return c.readBody(p)
		case c.refused.Load() != nil:
			return 0, io.EOF
		}
		if n, err := c.readHead(p); n > 0 || err != nil {
			return n, err
		}
	}
}

// give hands over bytes that were checked.
func (c *conn) give(p []byte) (int, error) {
	if !c.claim() {
		return 0, io.EOF
	}
	n := copy(p, c.in[:c.checked])
	c.checked -= n
	if c.in = c.in[n:]; len(c.in) == 0 {
		c.in = nil
	}
	return n, nil
}

// readBody reads on in the body of the request that was given last.
func (c *conn) readBody(p []byte) (int, error) {
	if c.ended != nil {
		return 0, c.ended
	}
	if len(c.in) > 0 {
		c.checked, c.ended = c.body.take(c.in)
		if c.checked > 0 {
			return c.give(p)
		}
		return 0, c.ended
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		return 0, err
	}
	taken, broken := c.body.take(p[:n])
	c.keep(p[taken:n])
	if c.ended = broken; taken == 0 {
		return 0, broken
	}
	return taken, nil
}

// readHead reads until a head is whole and hands it over, with what came of its body. Nothing and no error: look again.
func (c *conn) readHead(p []byte) (int, error) {
	if len(c.in) == 0 {
		n, err := c.Conn.Read(p)
		if n == 0 && c.state.Load() == givenUp {
			return 0, io.EOF
		}
		if n == 0 {
			return 0, err
		}
		if taken := c.whole(p[:n]); taken > 0 { // mostly: a head in one piece needs no copy
			if !c.claim() {
				return 0, io.EOF
			}
			c.keep(p[taken:n])
			return taken, nil
		}
		c.keep(p[:n])
	}
	for len(c.in) >= 2 && c.in[0] == '\r' && c.in[1] == '\n' { // an empty line before a request is passed over (RFC 9112 §2.2)
		c.in = c.in[2:]
	}
	end, body, err := readHead(c.in)
	switch {
	case err == nil:
		c.body, c.headBy = body, time.Time{}
		taken, broken := c.body.take(c.in[end:])
		c.checked, c.ended = end+taken, broken
		return 0, nil
	case errors.Is(err, errMore):
		return 0, c.readMore()
	}
	c.refuse(err)
	return 0, nil
}

// whole takes a head that b begins with, and reports how much of b is of its request; 0 where it is not whole or refused.
func (c *conn) whole(b []byte) int {
	end, body, err := readHead(b)
	if err != nil {
		return 0
	}
	c.body = body
	taken, broken := c.body.take(b[end:])
	c.ended = broken
	return end + taken
}

// readMore waits for more of a head that has begun.
func (c *conn) readMore() error {
	if c.headBy.IsZero() { // a byte now and then makes it no longer
		c.headBy = time.Now().Add(headTime) //nolint:forbidigo // a deadline of the socket is the machine's time
	}
	if err := c.SetReadDeadline(c.headBy); err != nil {
		return err
	}
	var more [4 << 10]byte
	n, err := c.Conn.Read(more[:])
	c.keep(more[:n])
	if n > 0 {
		return nil
	}
	return err
}

func (c *conn) keep(b []byte) {
	if len(b) > 0 {
		c.in = append(c.in, b...)
	}
}

// refuse ends the connection with a fault in the place of a request.
func (c *conn) refuse(err error) {
	c.refused.Store(&err)
	c.in, c.checked = []byte(refusal), len(refusal)
	c.lingers.Store(true)
}

// claim makes the connection busy; it reports false if the connection was given up before.
func (c *conn) claim() bool {
	if c.state.Load() == busy {
		return true
	}
	if !c.state.CompareAndSwap(idle, busy) {
		return false
	}
	c.countIdle(-1)
	return true
}

// answered makes the connection idle, and gives it up if the port is stopping.
func (c *conn) answered() {
	if c.state.Load() == busy {
		c.from.becameIdle(c)
		c.countIdle(1)
		c.state.Store(idle)
	}
	if c.from.stopped.Load() {
		c.giveUp()
	}
}

// giveUp closes a connection on which no request is being answered, and reports whether it did.
func (c *conn) giveUp() bool {
	if !c.state.CompareAndSwap(idle, givenUp) {
		return false
	}
	c.countIdle(-1)
	_ = c.Conn.Close()
	return true
}

// CloseWrite closes the sending side, where the connection has two.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection.
func (c *conn) Close() error {
	if c.lingers.Swap(false) {
		linger(c.Conn, c.from.lingers)
	}
	err := c.Conn.Close()
	c.from.remove(c)
	return err
}
