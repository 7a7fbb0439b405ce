// Package dial makes the TCP connections on which services wait for others. A machine that vanished, or a network that
// swallows packets, leaves a connection that nobody closes: these are given up after five seconds without an
// acknowledgement, with data on its way or not.
package dial

import (
	"net"
	"syscall"
	"time"
)

// Unacknowledged is how long the other side's system may leave data, or a keep-alive probe, unacknowledged.
const Unacknowledged = 5 * time.Second

// Dialer returns a dialer of such connections. Where the system cannot be told (not Linux), keep-alive probes alone find
// a dead connection, and only an idle one.
func Dialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: Unacknowledged / 2, Interval: time.Second, Count: 3},
		Control:         control,
	}
}

// control sets the bound on TCP sockets; others know nothing of it.
func control(network, _ string, socket syscall.RawConn) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	var failed error
	if err := socket.Control(func(fd uintptr) { failed = bound(fd) }); err != nil {
		return err
	}
	return failed
}
