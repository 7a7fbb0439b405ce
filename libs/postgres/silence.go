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

	"github.com/slotmesh/slotmesh/libs/dial"
)

// dialer makes connections on which nobody waits longer than silence for a sign of life. A server that is alive says by then
// that the statement took too long (statement_timeout); one that says nothing is stopped, or the network swallows what it says,
// and keep-alive does not find that out where a proxy stands between.
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

// impatient is a connection of which each read takes silence at most, or until the deadline that was set, if that is nearer.
type impatient struct {
	net.Conn
	silence time.Duration

	mu    sync.Mutex
	limit time.Time // zero: none
}

// Read waits for silence at most, and closes the connection then. Its error is that of one that broke: pgx goes on using one
// on which a read merely timed out.
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

// begin sets until when the next read lasts, and reports whether that is the bound of silence.
func (c *impatient) begin() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ours := time.Now().Add(c.silence), true //nolint:forbidigo // bounds a wait
	if !c.limit.IsZero() && c.limit.Before(until) {
		until, ours = c.limit, false
	}
	return ours, c.Conn.SetReadDeadline(until)
}

// limited reports whether the deadline that was set has passed, maybe during a read.
func (c *impatient) limited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.limit.IsZero() && time.Until(c.limit) <= 0
}

// SetDeadline holds for reads that begin later, too.
func (c *impatient) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline holds for reads that begin later, too.
func (c *impatient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetReadDeadline(t)
}
