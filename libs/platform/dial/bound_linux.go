package dial

import "golang.org/x/sys/unix"

// setUserTimeout sets TCP_USER_TIMEOUT (RFC 5482) to [Unacknowledged]: the system
// closes the connection if the peer does not acknowledge data within that time.
func setUserTimeout(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(Unacknowledged.Milliseconds()))
}
