package testkit

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Failure is the way in which a message to PostgreSQL, or the connection that carries it, fails.
type Failure int

// These constants are the kinds of failures.
const (
	// BreakBefore closes the connection instead of sending the message. The sender gets an error.
	BreakBefore Failure = iota
	// DropMessage reports the message as sent, but the message never arrives. The connection closes without an answer.
	DropMessage
	// DropAnswer delivers the message and closes the connection before the answer arrives.
	DropAnswer
	// HoldMessage delivers the message only when [FaultyConns.Release]
	// is called, even if the sender no longer waits for the answer.
	HoldMessage
)

// FaultyConns holds the connections of a pool. A test can make these connections fail.
type FaultyConns struct {
	mu        sync.Mutex
	marker    []byte // text in the message that fails; nil: no message fails
	failure   Failure
	breaksAll bool // whether isBroken becomes true when the message fails
	isBroken  bool // whether new connections fail and existing connections send nothing
	happened  chan struct{}
	released  chan struct{} // closed when held messages may be delivered
	pending   sync.WaitGroup
}

var errBroken = errors.New("testkit: the connection is broken")

// OpenFaultyPool returns a pool with the same settings as the argument
// `pool`. The test can make the connections of the new pool fail.
func OpenFaultyPool(t testing.TB, pool *pgxpool.Pool) (*pgxpool.Pool, *FaultyConns) {
	t.Helper()
	w := &FaultyConns{released: make(chan struct{})}
	cfg := pool.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = w.wrapDial(dial)
	faultyPool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Release(); faultyPool.Close(); w.pending.Wait() })
	return faultyPool, w
}

// Break sets the failure of the next message that contains `marker`. If the argument `all` is true, all connections
// stop working after that failure, until [FaultyConns.Restore] is called. The returned channel is closed when the
// failure has happened.
func (w *FaultyConns) Break(marker string, failure Failure, all bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	met := make(chan struct{})
	w.happened, w.marker, w.failure, w.breaksAll = met, []byte(marker), failure, all
	return met
}

// Restore makes connections work again after [FaultyConns.Break] was called with the argument `all` = true.
func (w *FaultyConns) Restore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isBroken = false
}

// Release delivers the held messages. It returns when PostgreSQL has answered them.
func (w *FaultyConns) Release() {
	w.mu.Lock()
	close(w.released)
	w.released = make(chan struct{})
	w.mu.Unlock()
	w.pending.Wait()
}

func (w *FaultyConns) wrapDial(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		w.mu.Lock()
		isBroken := w.isBroken
		w.mu.Unlock()
		if isBroken {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errBroken}
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &faultyConn{Conn: conn, conns: w, abandoned: make(chan struct{})}, nil
	}
}

// applyFailure returns the failure of the given message. It returns false if the message must not fail. The returned
// channel is closed when a held message may be delivered.
func (w *FaultyConns) applyFailure(message []byte) (Failure, <-chan struct{}, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isBroken { // existing connections do not work either
		return BreakBefore, nil, true
	}
	if w.marker == nil || !bytes.Contains(message, w.marker) {
		return 0, nil, false
	}
	w.marker, w.isBroken = nil, w.breaksAll
	if w.failure == HoldMessage {
		w.pending.Add(1)
	}
	close(w.happened)
	return w.failure, w.released, true
}

type faultyConn struct {
	net.Conn
	conns        *FaultyConns
	mu           sync.Mutex
	dropsAnswers bool          // answers are dropped: the next read fails
	isExpired    bool          // pgx has set a deadline in the past, because it no longer uses the connection
	isHolding    bool          // deliverHeld reads from the connection and closes it
	abandoned    chan struct{} // closed when pgx no longer waits for the held message
}

func (c *faultyConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.isHolding {
		c.mu.Unlock()
		return len(b), nil // discarded, because these bytes follow the held message
	}
	if c.isExpired {
		c.mu.Unlock()
		return c.Conn.Write(b) // fails, because the deadline has passed
	}
	failure, released, met := c.conns.applyFailure(b)
	c.isHolding, c.dropsAnswers = met && failure == HoldMessage, c.dropsAnswers || met && failure == DropAnswer
	if c.isHolding {
		_ = c.Conn.SetReadDeadline(time.Now()) //nolint:forbidigo // wakes who reads; a deadline of the socket is the machine's time
	}
	c.mu.Unlock()
	switch {
	case met && failure == BreakBefore:
		_ = c.Conn.Close()
		return 0, &net.OpError{Op: "write", Err: errBroken}
	case met && failure == DropMessage:
		_ = c.Conn.Close()
		return len(b), nil
	case met && failure == HoldMessage:
		go c.deliverHeld(bytes.Clone(b), released)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// deliverHeld waits for [FaultyConns.Release] and then sends a held message. It reads the answer and discards it.
func (c *faultyConn) deliverHeld(message []byte, released <-chan struct{}) {
	defer c.conns.pending.Done()
	defer func() { _ = c.Conn.Close() }()
	<-released
	_ = c.Conn.SetDeadline(time.Now().Add(time.Minute)) //nolint:forbidigo // the sender's is over; a deadline of the socket is the machine's time
	if _, err := c.Conn.Write(message); err == nil {
		_, _ = c.Conn.Read(make([]byte, 1<<16))
	}
}

// Read checks for a failure before and after it reads. Both checks are needed: during a
// long write, pgx reads at the same time, so a read can begin before the message fails.
func (c *faultyConn) Read(b []byte) (int, error) {
	if c.isHeld() {
		return c.waitUntilAbandoned()
	}
	n, err := c.Conn.Read(b)
	if c.isHeld() { // Write has set a deadline, which has interrupted the read
		return c.waitUntilAbandoned()
	}
	c.mu.Lock()
	cut := c.dropsAnswers
	c.mu.Unlock()
	if !cut || err != nil {
		return n, err
	}
	_ = c.Conn.Close()
	return 0, &net.OpError{Op: "read", Err: errBroken}
}

func (c *faultyConn) isHeld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isHolding
}

// waitUntilAbandoned blocks until pgx no longer waits for the held message.
func (c *faultyConn) waitUntilAbandoned() (int, error) {
	<-c.abandoned
	return 0, os.ErrDeadlineExceeded
}

// SetDeadline sets the deadline of the connection. A deadline in the past shows that pgx no longer uses the connection.
func (c *faultyConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isHolding {
		c.abandon()
		return nil
	}
	c.isExpired = !t.IsZero() && time.Until(t) <= 0
	return c.Conn.SetDeadline(t)
}

func (c *faultyConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isHolding {
		c.abandon()
		return nil
	}
	return c.Conn.Close()
}

// abandon records that pgx no longer waits for the held message. The caller must hold c.mu.
func (c *faultyConn) abandon() {
	select {
	case <-c.abandoned:
	default:
		close(c.abandoned)
	}
}
