package server

import (
	"io"
	"net"
	"time"
)

// Closing a connection while bytes are still arriving resets it, and the reset can
// overtake the answer. Therefore the sending side is closed first, and input is
// discarded within these bounds, until the client has read the answer and closes.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// linger waits until the client has closed the connection, within bounds.
func linger(c net.Conn, within time.Duration) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if c.SetReadDeadline(time.Now().Add(within)) != nil { //nolint:forbidigo // a deadline of the socket is the machine's time
		return
	}
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
