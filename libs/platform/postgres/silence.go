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

// dialer returns a dial function for connections whose reads fail if the server sends nothing for the time
// silence. silence must be longer than statement_timeout, after which a working server reports an error.
//
// A server that sends nothing for longer is stopped, or the network drops
// its packets. TCP keep-alive does not detect this if a proxy is in between.
func dialer(connect, silence time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := dial.Dialer()
	d.Timeout = connect
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		made, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatient{Conn: made, silence: silence}, nil
	}
}

// impatient is a connection whose reads last at most for the time silence, or until an earlier deadline that was set.
type impatient struct {
	net.Conn
	silence time.Duration

	mu    sync.Mutex
	limit time.Time // zero: no deadline
}

// Read waits at most for the time silence and then closes the connection. It then returns the
// error of a broken connection, because pgx would continue to use the connection after a timeout.
func (c *impatient) Read(b []byte) (int, error) {
	ours, err := c.begin()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if ours && errors.Is(err, os.ErrDeadlineExceeded) && !c.limited() {
		_ = c.Conn.Close()
		return n, fmt.Errorf("the server said nothing for %s: %w", c.silence, io.ErrUnexpectedEOF)
	}
	return n, err
}

// begin sets the deadline of the next read. It returns true if the limit silence is the earlier one.
func (c *impatient) begin() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ours := time.Now().Add(c.silence), true //nolint:forbidigo // bounds a wait
	if !c.limit.IsZero() && c.limit.Before(until) {
		until, ours = c.limit, false
	}
	return ours, c.Conn.SetReadDeadline(until)
}

// limited reports whether the caller's deadline has passed, possibly during a read.
func (c *impatient) limited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.limit.IsZero() && time.Until(c.limit) <= 0
}

// SetDeadline also applies to reads that start later.
func (c *impatient) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline also applies to reads that start later.
func (c *impatient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetReadDeadline(t)
}
