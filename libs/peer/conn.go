package peer

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/libs/dial"
)

// conn is a connection that is made when it is first written to. fasthttp tells only then how long the call may last;
// making the connection, and the TLS handshake on it, fall under that deadline so. One that nobody came to use has
// reached no peer, and is as good as new for the next call.
type conn struct {
	net.Conn // until it is made, an empty one, which refuses everything
	address  string
	deadline time.Time
	made     bool
}

// Dial returns a connection to address that is made when it is first written to, by the write's deadline. It is for clients
// of fasthttp: a reset is not the regular end of an answer on it.
func Dial(address string) (net.Conn, error) {
	return &conn{Conn: new(net.TCPConn), address: address}, nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	if !c.made {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.establish(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *conn) establish() error {
	if c.made {
		return nil
	}
	dialer := dial.Dialer()
	dialer.Deadline = c.deadline
	made, err := dialer.Dial("tcp", c.address)
	if err != nil {
		return err
	}
	c.Conn, c.made = made, true
	return made.SetDeadline(c.deadline) // also to read, which a handshake does before its first write is over
}

// Read hides a reset, which fasthttp would take for the regular end of the answer's body.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, syscall.ECONNRESET) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
