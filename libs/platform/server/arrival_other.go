//go:build !linux

package server

import (
	"net"
	"time"
)

// queueTime returns 0, because this system does not report the time.
func queueTime(net.Conn) time.Duration { return 0 }
