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

// Fate is what becomes of the message to PostgreSQL that a test waits for, and of the connection it is sent on.
type Fate int

// The fates of a message.
const (
	// LostBefore breaks the connection before the message has arrived.
	LostBefore Fate = iota
	// LostAfter takes the message for sent, as a network does, but it never arrives: the connection breaks before an answer.
	LostAfter
	// AnswerLost lets the message arrive and be answered, and breaks the connection before the answer has come back.
	AnswerLost
	// Held keeps the message in the network until [Wires.Release], also when its sender has long given up.
	Held
)

// Wires are the connections of a pool, of which a test breaks some.
type Wires struct {
	mu      sync.Mutex
	marker  []byte // nil: nothing is waited for
	fate    Fate
	darkens bool // dark from when the message has met its fate
	dark    bool // no new connection is made, and nothing is sent on those that are there
	met     chan struct{}
	held    chan struct{} // closed when what is held now may arrive
	late    sync.WaitGroup
}

var errBroken = errors.New("testkit: the connection is broken")

// OpenWires returns a pool like the given one, over connections that the test can break.
func OpenWires(t testing.TB, pool *pgxpool.Pool) (*pgxpool.Pool, *Wires) {
	t.Helper()
	w := &Wires{held: make(chan struct{})}
	cfg := pool.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = w.over(dial)
	wired, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Release(); wired.Close(); w.late.Wait() })
	return wired, w
}

// Break gives the next message that holds the marker this fate; with dark, nobody gets through from then on until [Wires.Mend].
// The channel is closed when it has met its fate.
func (w *Wires) Break(marker string, fate Fate, dark bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	met := make(chan struct{})
	w.met, w.marker, w.fate, w.darkens = met, []byte(marker), fate, dark
	return met
}

// Mend lets connections be made again.
func (w *Wires) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dark = false
}

// Release lets what is held arrive, and returns when PostgreSQL has answered it.
func (w *Wires) Release() {
	w.mu.Lock()
	close(w.held)
	w.held = make(chan struct{})
	w.mu.Unlock()
	w.late.Wait()
}

func (w *Wires) over(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		w.mu.Lock()
		dark := w.dark
		w.mu.Unlock()
		if dark {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errBroken}
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &wire{Conn: conn, all: w, over: make(chan struct{})}, nil
	}
}

// meets reports whether a message is the one waited for, and until when it is held.
func (w *Wires) meets(message []byte) (Fate, <-chan struct{}, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dark { // connections that were open before do not get through, either
		return LostBefore, nil, true
	}
	if w.marker == nil || !bytes.Contains(message, w.marker) {
		return 0, nil, false
	}
	w.marker, w.dark = nil, w.darkens
	if w.fate == Held {
		w.late.Add(1)
	}
	close(w.met)
	return w.fate, w.held, true
}

type wire struct {
	net.Conn
	all     *Wires
	mu      sync.Mutex
	cut     bool          // answers are thrown away: the next read breaks
	expired bool          // its user has given it up
	holds   bool          // somebody else reads and closes it
	over    chan struct{} // closed when its user gives up what is held
}

func (c *wire) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.holds {
		c.mu.Unlock()
		return len(b), nil // behind what is held, and of no matter then
	}
	if c.expired {
		c.mu.Unlock()
		return c.Conn.Write(b) // which refuses it: whoever has given up sends nothing that could be held
	}
	fate, until, met := c.all.meets(b)
	c.holds, c.cut = met && fate == Held, c.cut || met && fate == AnswerLost
	if c.holds {
		_ = c.Conn.SetReadDeadline(time.Now()) //nolint:forbidigo // wakes who reads; a deadline of the socket is the machine's time
	}
	c.mu.Unlock()
	switch {
	case met && fate == LostBefore:
		_ = c.Conn.Close()
		return 0, &net.OpError{Op: "write", Err: errBroken}
	case met && fate == LostAfter:
		_ = c.Conn.Close()
		return len(b), nil
	case met && fate == Held:
		go c.deliverLate(bytes.Clone(b), until)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// deliverLate sends what was held, and waits for its answer, which nobody reads any more.
func (c *wire) deliverLate(message []byte, until <-chan struct{}) {
	defer c.all.late.Done()
	defer func() { _ = c.Conn.Close() }()
	<-until
	_ = c.Conn.SetDeadline(time.Now().Add(time.Minute)) //nolint:forbidigo // the sender's is over; a deadline of the socket is the machine's time
	if _, err := c.Conn.Write(message); err == nil {
		_, _ = c.Conn.Read(make([]byte, 1<<16))
	}
}

// Read looks at its fate before and after: where a write takes long, pgx reads beside it, and may have begun before the message met its fate.
func (c *wire) Read(b []byte) (int, error) {
	if c.isHeld() {
		return c.hear()
	}
	n, err := c.Conn.Read(b)
	if c.isHeld() { // which has woken it
		return c.hear()
	}
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if !cut || err != nil {
		return n, err
	}
	_ = c.Conn.Close()
	return 0, &net.OpError{Op: "read", Err: errBroken}
}

func (c *wire) isHeld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds
}

// hear waits, where something is held, until its user has given it up.
func (c *wire) hear() (int, error) {
	<-c.over
	return 0, os.ErrDeadlineExceeded
}

// SetDeadline is how pgx gives a connection up: by a time that is over.
func (c *wire) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds {
		c.giveUp()
		return nil
	}
	c.expired = !t.IsZero() && time.Until(t) <= 0
	return c.Conn.SetDeadline(t)
}

func (c *wire) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds {
		c.giveUp()
		return nil
	}
	return c.Conn.Close()
}

// giveUp notes, where something is held, that its user waits for it no more. The caller has locked it.
func (c *wire) giveUp() {
	select {
	case <-c.over:
	default:
		close(c.over)
	}
}
