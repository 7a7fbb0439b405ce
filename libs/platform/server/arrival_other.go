//go:build !linux

package server

import (
	"net"
	"time"
)

// queued returns 0: the time is not known on this system.
func queued(net.Conn) time.Duration { return 0 }
