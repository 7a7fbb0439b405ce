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

// newDialFunc returns a dial function for connections whose reads fail if the server sends nothing for the time
// silence. silence must be longer than statement_timeout, after which a working server reports an error.
//
// A server that sends nothing for longer is stopped, or the network drops
// its packets. TCP keep-alive does not detect this if a proxy is in between.
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

// silenceLimitedConn is a connection whose reads last at most for the time silence, or until an earlier deadline that
// was set.
type silenceLimitedConn struct {
	net.Conn
	silence time.Duration

	mu       sync.Mutex
	deadline time.Time // zero: no deadline
}

// Read waits at most for the time silence and then closes the connection. It then returns the
// error of a broken connection, because pgx would continue to use the connection after a timeout.
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

// startRead sets the deadline of the next read. It returns true if the limit silence is the earlier one.
func (c *silenceLimitedConn) startRead() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline, isOwnDeadline := time.Now().Add(c.silence), true //nolint:forbidigo // bounds a wait
	if !c.deadline.IsZero() && c.deadline.Before(deadline) {
		deadline, isOwnDeadline = c.deadline, false
	}
	return isOwnDeadline, c.Conn.SetReadDeadline(deadline)
}

// isPastDeadline reports whether the caller's deadline has passed, possibly during a read.
func (c *silenceLimitedConn) isPastDeadline() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && time.Until(c.deadline) <= 0
}

// SetDeadline sets the deadline of reads and writes, including those that start later.
func (c *silenceLimitedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline sets the deadline of reads, including those that start later.
func (c *silenceLimitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}
