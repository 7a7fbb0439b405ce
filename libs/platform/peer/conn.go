package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/dial"
)

// errUnsent means that a request failed before any byte of it was sent.
var errUnsent = errors.New("nothing was sent")

// errClosedByPeer means that the peer closed an idle connection before any byte of the request was written.
var errClosedByPeer = fmt.Errorf("the peer has ended the connection, and %w: %w", errUnsent, io.ErrUnexpectedEOF)

// IsUnsent reports whether a request over a connection of [Dial] failed before any byte was sent. The reason is that
// the peer refused the connection or had closed the idle connection. The caller may then send the request again, even
// if it is a write.
//
// ECONNREFUSED on an established connection does not count,
// because the network can report it after the request was sent.
func IsUnsent(err error) bool { return errors.Is(err, errUnsent) }

// conn is a connection that is established at the first write. fasthttp sets the deadline of the call just before the
// first write. The deadline therefore also bounds dialing and the TLS handshake. If a call ends before the first write,
// the next call can use the connection.
type conn struct {
	net.Conn      // until the connection is established, an empty TCPConn, which rejects every call
	address       string
	deadline      time.Time
	isEstablished bool
	hasWritten    bool // whether at least one byte of the current request was written
}

// Dial returns a connection to address for fasthttp clients. The connection is established at the first write, within
// the deadline of that write. A reset of the connection is returned as an error, because fasthttp would interpret the
// reset as the regular end of an answer.
func Dial(address string) (net.Conn, error) {
	return &conn{Conn: new(net.TCPConn), address: address}, nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	c.hasWritten = false
	if !c.isEstablished {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// Write writes to an idle connection only if the peer has not closed it.
//
// Without this check, data could be lost without an error if the peer's machine
// or address no longer exists. The call would then wait until its deadline.
func (c *conn) Write(b []byte) (int, error) {
	if c.isEstablished && !c.hasWritten && isClosedByPeer(c.Conn) {
		return 0, errClosedByPeer
	}
	if err := c.establish(); err != nil {
		return 0, err
	}
	c.hasWritten = true
	n, err := c.Conn.Write(b)
	return n, translateLoss(err)
}

func (c *conn) establish() error {
	if c.isEstablished {
		return nil
	}
	dialer := dial.Dialer()
	dialer.Deadline = c.deadline
	established, err := dialer.Dial("tcp", c.address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	if err != nil {
		return err
	}
	c.Conn, c.isEstablished = established, true
	// the deadline also bounds reads, because the TLS handshake reads before the first write ends
	return established.SetDeadline(c.deadline)
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, translateLoss(err)
}

// translateLoss replaces errors of a lost connection that fasthttp misinterprets. fasthttp interprets ECONNRESET as the
// regular end of a body, and ETIMEDOUT as the end of the call's deadline.
func translateLoss(err error) error {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ETIMEDOUT) {
		return io.ErrUnexpectedEOF
	}
	return err
}
