package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/dial"
)

// newDialFunc returns a dial function. A read from a connection of this function fails if the server sends nothing for
// the duration `silence`. This duration must be longer than statement_timeout, after which a working server reports an
// error.
//
// If a server sends nothing for longer, the server is stopped, or the network drops the packets.
// TCP keep-alive does not detect this if a proxy is between the service and the server.
func newDialFunc(connect, silence time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := dial.Dialer()
	d.Timeout = connect
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &silenceLimitedConn{Conn: conn, silence: silence}, nil
	}
}

// silenceLimitedConn is a connection with a time limit for reads. A read waits at most for the duration `silence`, or
// until an earlier deadline that the caller has set.
type silenceLimitedConn struct {
	net.Conn
	silence time.Duration

	mu       sync.Mutex
	deadline time.Time // deadline that the caller has set; zero: no deadline
}

// Read waits for data at most for the duration `silence`. If no data arrives, Read closes the connection and returns
// the error of a broken connection. It does not return a timeout error, because pgx continues to use a connection after
// a timeout.
func (c *silenceLimitedConn) Read(b []byte) (int, error) {
	isOwnDeadline, err := c.startRead()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if isOwnDeadline && errors.Is(err, os.ErrDeadlineExceeded) && !c.isPastDeadline() {
		_ = c.Conn.Close()
		return n, fmt.Errorf("the server sent nothing for %s: %w", c.silence, io.ErrUnexpectedEOF)
	}
	return n, err
}

// startRead sets the deadline of the next read. It returns true if this deadline comes from the duration `silence`, and
// false if the caller's deadline is earlier.
func (c *silenceLimitedConn) startRead() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline, isOwnDeadline := time.Now().Add(c.silence), true //nolint:forbidigo // bounds a wait
	if !c.deadline.IsZero() && c.deadline.Before(deadline) {
		deadline, isOwnDeadline = c.deadline, false
	}
	return isOwnDeadline, c.Conn.SetReadDeadline(deadline)
}

// isPastDeadline reports whether the deadline that the caller has
// set has passed. The caller may have set it during the read.
func (c *silenceLimitedConn) isPastDeadline() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && time.Until(c.deadline) <= 0
}

// SetDeadline sets the deadline of current and later reads and writes.
func (c *silenceLimitedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline sets the deadline of current and later reads.
func (c *silenceLimitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}
