package server

import (
	"net"
	"strconv"
	"time"
)

// mostWaited bounds what is believed of the time that a request has waited.
const mostWaited = time.Hour

// arrival is when a request came that is read at start: a write must not outlive what its caller waits for. A read may.
func arrival(start time.Time, method string, on net.Conn, said string) time.Time {
	if isRead(method) {
		return start
	}
	return start.Add(-waited(on, said))
}

// waited is how long a request has been on its way to its handler, as far as that can be known: in the socket's queue, as where
// this process stood still, and before that at the peer that sends it, which has said so in milliseconds.
func waited(on net.Conn, said string) time.Duration {
	inQueue := queued(bare(on))
	if ms, err := strconv.ParseInt(said, 10, 64); err == nil && ms > 0 {
		inQueue += time.Duration(min(ms, mostWaited.Milliseconds())) * time.Millisecond
	}
	return min(inQueue, mostWaited)
}

// bare is the connection that the listener accepted.
func bare(c net.Conn) net.Conn {
	if own, ok := c.(*conn); ok {
		return own.Conn
	}
	return c
}
