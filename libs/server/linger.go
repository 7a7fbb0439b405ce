package server

import (
	"io"
	"net"
	"time"
)

// Closing a connection on which bytes are still coming resets it, and the reset may overtake the answer. So the answer's side is
// closed first, and what comes is passed over for this long and this many bytes, until the client has read and closes.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// linger waits until the client has closed, within bounds.
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
