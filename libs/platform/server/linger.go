package server

import (
	"io"
	"net"
	"time"
)

// lingerTime and lingerBytes bound the closing of a connection on which bytes still
// arrive. The server first closes the sending direction. Then it discards input
// until the client closes the connection, or until one of these bounds is reached.
//
// If the server closed the connection immediately, the system would reset it, and the client could lose the answer.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// linger closes the sending direction and discards input until the client closes
// the connection. It stops after the argument `timeout`, or after lingerBytes bytes.
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
