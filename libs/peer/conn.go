package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/libs/dial"
)

// errNothingSent marks the failure of an exchange of which nothing had been sent.
var errNothingSent = errors.New("nothing was sent")

// errEnded says that a kept connection had been ended by the peer before anything of the exchange was written to it.
var errEnded = fmt.Errorf("the peer has ended the connection, and %w: %w", errNothingSent, io.ErrUnexpectedEOF)

// NothingSent reports whether a single exchange over connections of [Dial] failed before any of it was sent: the connection was refused, or a
// kept one had been ended meanwhile. It may be begun anew, whatever it asks for. That a connection which was there is refused says no such thing:
// the network may refuse it after the exchange was sent.
func NothingSent(err error) bool { return errors.Is(err, errNothingSent) }

// conn is a connection that is made when it is first written to. fasthttp tells only then how long the call may last;
// making the connection, and the TLS handshake on it, fall under that deadline so. One that nobody came to use has
// reached no peer, and is as good as new for the next call.
type conn struct {
	net.Conn // until it is made, an empty one, which refuses everything
	address  string
	deadline time.Time
	made     bool
	begun    bool // something of this exchange was written
}

// Dial returns a connection to address that is made when it is first written to, by the write's deadline. It is for clients
// of fasthttp: a reset is not the regular end of an answer on it.
func Dial(address string) (net.Conn, error) {
	return &conn{Conn: new(net.TCPConn), address: address}, nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	c.begun = false
	if !c.made {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// Write sends over a connection that was kept only where the peer has not ended it. What is sent after its end may vanish without a
// word, where the peer's machine or address is gone, and the call would wait for its deadline.
func (c *conn) Write(b []byte) (int, error) {
	if c.made && !c.begun && ended(c.Conn) {
		return 0, errEnded
	}
	if err := c.establish(); err != nil {
		return 0, err
	}
	c.begun = true
	n, err := c.Conn.Write(b)
	return n, lost(err)
}

func (c *conn) establish() error {
	if c.made {
		return nil
	}
	dialer := dial.Dialer()
	dialer.Deadline = c.deadline
	made, err := dialer.Dial("tcp", c.address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w", errNothingSent, err)
	}
	if err != nil {
		return err
	}
	c.Conn, c.made = made, true
	return made.SetDeadline(c.deadline) // also to read, which a handshake does before its first write is over
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, lost(err)
}

// lost renames the errors of a connection that was lost where fasthttp takes them for something else: a reset for the regular end of
// an answer's body, one that the system gave up for the deadline of the call.
func lost(err error) error {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ETIMEDOUT) {
		return io.ErrUnexpectedEOF
	}
	return err
}
