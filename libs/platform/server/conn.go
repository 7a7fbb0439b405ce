package server

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// maxHead and headTime bound the head of a request, which is the request line and the headers.
const (
	maxHead  = 16 << 10
	headTime = 10 * time.Second // from the first byte of the head to the last
)

// readTime is the time in which a request must arrive before its
// handler starts. After that, the deadline of the request applies.
const readTime = 15 * time.Second

// conn is one connection of a port. It checks the head of each request, passes
// one request at a time to the HTTP server, and counts the bytes of the body.
// It reads no bytes of the next request until the current request is answered.
//
// If a request is malformed, conn passes the constant `refusal` to the HTTP server instead of the request. The server
// answers this replacement with the fault. The answer therefore has a span and a metric, and is sent after the answers
// to earlier requests.
type conn struct {
	net.Conn
	port    *listener
	shares  []share
	groups  []membership // set before the HTTP server uses the connection
	state   atomic.Int32
	lingers atomic.Bool // whether the client may still send bytes, which Close discards

	in           []byte                // bytes that were read from the socket and not yet passed to the HTTP server
	checked      int                   // number of bytes at the start of c.in that may be passed to the HTTP server
	body         framing               // framing of the request that was last passed to the HTTP server
	readErr      error                 // error to return instead of the next read from the socket
	headDeadline time.Time             // deadline for the head that is being read
	refused      atomic.Pointer[error] // fault of a malformed request, which ends the connection
}

// These constants are the states of a connection. A connection becomes busy when the first byte of a request is passed
// to the HTTP server. It becomes idle again after the answer was written. The port reclaims a connection if it closes
// the connection while the connection is idle, for example to make room for another one. The state changes atomically.
// The port therefore never closes a connection whose request the HTTP server has received but not yet answered.
const (
	idle int32 = iota
	busy
	reclaimed
)

// refusal is the request that the HTTP server reads instead of a malformed
// request. A valid host contains no comma, so clients cannot send refusedHost.
const (
	refusedHost = "refused,"
	refusal     = "GET / HTTP/1.1\r\nHost: " + refusedHost + "\r\nConnection: close\r\n\r\n"
)

// findRefusal returns the fault of the malformed request that the connection `on` has replaced by the constant
// `refusal`. If the connection has replaced no request, findRefusal returns errHost.
func findRefusal(on net.Conn) error {
	if c, ok := on.(*conn); ok && c.refused.Load() != nil {
		return *c.refused.Load()
	}
	return errHost
}

// Read returns the next bytes of the current request, or waits for the next request.
func (c *conn) Read(p []byte) (int, error) {
	for {
		switch {
		case c.checked > 0:
			return c.copyChecked(p)
		case c.body.isOpen():
			return c.readBody(p)
		case c.refused.Load() != nil:
			return 0, io.EOF
		}
		if n, err := c.readHead(p); n > 0 || err != nil {
			return n, err
		}
	}
}

// copyChecked copies checked bytes to the buffer `p`.
func (c *conn) copyChecked(p []byte) (int, error) {
	if !c.markBusy() {
		return 0, io.EOF
	}
	n := copy(p, c.in[:c.checked])
	c.checked -= n
	if c.in = c.in[n:]; len(c.in) == 0 {
		c.in = nil
	}
	return n, nil
}

// readBody copies further bytes of the current request's body to the buffer `p`.
func (c *conn) readBody(p []byte) (int, error) {
	if c.readErr != nil {
		return 0, c.readErr
	}
	if len(c.in) > 0 {
		c.checked, c.readErr = c.body.consume(c.in)
		if c.checked > 0 {
			return c.copyChecked(p)
		}
		return 0, c.readErr
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		return 0, err
	}
	taken, framingErr := c.body.consume(p[:n])
	c.buffer(p[taken:n])
	if c.readErr = framingErr; taken == 0 {
		return 0, framingErr
	}
	return taken, nil
}

// readHead reads from the socket until the head of a request is complete. It copies the head, and the part of the body
// that has arrived, to `p`. It returns the number of copied bytes. If readHead returns 0 without an error, the caller
// must call readHead again.
func (c *conn) readHead(p []byte) (int, error) {
	if len(c.in) == 0 {
		n, err := c.Conn.Read(p)
		if n == 0 && c.state.Load() == reclaimed {
			return 0, io.EOF
		}
		if n == 0 {
			return 0, err
		}
		// usual case: the head has arrived in one piece and needs no copy
		if taken := c.readWholeHead(p[:n]); taken > 0 {
			if !c.markBusy() {
				return 0, io.EOF
			}
			c.buffer(p[taken:n])
			return taken, nil
		}
		c.buffer(p[:n])
	}
	// Empty lines before a request are ignored (RFC 9112 §2.2).
	for len(c.in) >= 2 && c.in[0] == '\r' && c.in[1] == '\n' {
		c.in = c.in[2:]
	}
	end, body, err := readHead(c.in)
	switch {
	case err == nil:
		c.body, c.headDeadline = body, time.Time{}
		taken, framingErr := c.body.consume(c.in[end:])
		c.checked, c.readErr = end+taken, framingErr
		return 0, nil
	case errors.Is(err, errIncomplete):
		return 0, c.readMore()
	}
	c.refuse(err)
	return 0, nil
}

// readWholeHead parses a request head at the start of `b`. It returns how many bytes
// of `b` belong to the request. It returns 0 if the head is incomplete or malformed.
func (c *conn) readWholeHead(b []byte) int {
	end, body, err := readHead(b)
	if err != nil {
		return 0
	}
	c.body = body
	taken, framingErr := c.body.consume(b[end:])
	c.readErr = framingErr
	return end + taken
}

// readMore waits for further bytes of an incomplete head.
func (c *conn) readMore() error {
	if c.headDeadline.IsZero() { // later bytes do not extend the deadline
		c.headDeadline = time.Now().Add(headTime) //nolint:forbidigo // a deadline of the socket is the machine's time
	}
	if err := c.SetReadDeadline(c.headDeadline); err != nil {
		return err
	}
	var more [4 << 10]byte
	n, err := c.Conn.Read(more[:])
	c.buffer(more[:n])
	if n > 0 {
		return nil
	}
	return err
}

func (c *conn) buffer(b []byte) {
	if len(b) > 0 {
		c.in = append(c.in, b...)
	}
}

// refuse discards a malformed request and makes the HTTP server answer with the fault `err`. The connection ends after
// that answer.
func (c *conn) refuse(err error) {
	c.refused.Store(&err)
	c.in, c.checked = []byte(refusal), len(refusal)
	c.lingers.Store(true)
}

// markBusy sets the state of the connection to busy. It returns false if the port has reclaimed the connection.
func (c *conn) markBusy() bool {
	if c.state.Load() == busy {
		return true
	}
	if !c.state.CompareAndSwap(idle, busy) {
		return false
	}
	c.countIdle(-1)
	return true
}

// markIdle sets the state of the connection to idle. If the port is stopping, it closes the connection.
func (c *conn) markIdle() {
	if c.state.Load() == busy {
		c.port.moveToBack(c)
		c.countIdle(1)
		c.state.Store(idle)
	}
	if c.port.stopped.Load() {
		c.closeIfIdle()
	}
}

// closeIfIdle closes the connection if it is idle. closeIfIdle returns true if it has closed the connection.
func (c *conn) closeIfIdle() bool {
	if !c.state.CompareAndSwap(idle, reclaimed) {
		return false
	}
	c.countIdle(-1)
	_ = c.Conn.Close()
	return true
}

// CloseWrite closes the sending direction of the connection. It returns
// errors.ErrUnsupported if the connection has no such operation.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection and removes it from its port. If the client may still send bytes, Close first calls
// [linger].
func (c *conn) Close() error {
	if c.lingers.Swap(false) {
		linger(c.Conn, c.port.lingerTime)
	}
	err := c.Conn.Close()
	c.port.remove(c)
	return err
}
