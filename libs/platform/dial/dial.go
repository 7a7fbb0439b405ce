// Package dial makes TCP connections between services that detect a lost peer. They fail
// after five seconds without an acknowledgement, whether data is in transit or not.
//
// If a machine disappears or a network drops packets, an ordinary connection stays open.
package dial

import (
	"net"
	"syscall"
	"time"
)

// Unacknowledged is the maximal time for which the peer's system may leave data or a keep-alive probe unacknowledged.
const Unacknowledged = 5 * time.Second

// Dialer returns a dialer of such connections. On systems other than Linux,
// only keep-alive probes detect a dead connection, and only an idle one.
func Dialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: Unacknowledged / 2, Interval: time.Second, Count: 3},
		Control:         setSocketOptions,
	}
}

// setSocketOptions sets the timeout on TCP sockets; other sockets do not support it.
func setSocketOptions(network, _ string, socket syscall.RawConn) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	var failed error
	if err := socket.Control(func(fd uintptr) { failed = setUserTimeout(fd) }); err != nil {
		return err
	}
	return failed
}
