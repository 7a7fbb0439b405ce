//go:build unix

package peer

import (
	"errors"
	"net"
	"syscall"
)

// ended reports whether the peer has ended a connection on which nothing is awaited, or the system has given it up. It looks at what
// has arrived and takes nothing away.
func ended(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	over := false
	err = raw.Control(func(fd uintptr) {
		var next [1]byte
		n, _, err := syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		over = err == nil && n == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return over || err != nil
}
