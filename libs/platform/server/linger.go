package server

import (
	"io"
	"net"
	"time"
)

// The bounds of closing a connection on which bytes still arrive. The sending side is closed first.
// Then input is discarded until the client has read the answer and closes, or until a bound is reached.
//
// An immediate close would reset the connection, and the client could lose the answer.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// linger waits until the client has closed the connection, within bounds.
func linger(c net.Conn, timeout time.Duration) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if c.SetReadDeadline(time.Now().Add(timeout)) != nil { //nolint:forbidigo // a deadline of the socket is the machine's time
		return
	}
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
