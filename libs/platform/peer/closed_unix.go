//go:build unix

package peer

import (
	"errors"
	"net"
	"syscall"
)

// isClosedByPeer reports whether the peer has closed an idle connection, or whether
// the system has dropped it. The check peeks at received data and does not consume it.
func isClosedByPeer(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	isClosed := false
	err = raw.Control(func(fd uintptr) {
		var next [1]byte
		n, _, err := syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		isClosed = err == nil && n == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) &&
			!errors.Is(err, syscall.EINTR)
	})
	return isClosed || err != nil
}
