// Package dial opens TCP connections between services. These connections detect the loss of the peer. A connection
// fails when the peer acknowledges nothing for five seconds, whether data is in transit or the connection is idle.
//
// An ordinary TCP connection stays open for minutes or hours after
// the peer's machine disappears or the network drops packets.
package dial

import (
	"net"
	"syscall"
	"time"
)

// Unacknowledged is the maximal time in which the peer's system must acknowledge data or a keep-alive probe.
const Unacknowledged = 5 * time.Second

// Dialer returns a dialer whose connections detect the loss of the peer. On systems other
// than Linux, only keep-alive probes detect the loss, and only while the connection is idle.
func Dialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: Unacknowledged / 2, Interval: time.Second, Count: 3},
		Control:         setSocketOptions,
	}
}

// setSocketOptions sets the timeout for unacknowledged data on TCP sockets. Other sockets do not support this option.
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
