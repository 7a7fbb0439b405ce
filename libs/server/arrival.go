package server

import (
	"net"
	"strconv"
	"time"
)

// mostWaited bounds the waiting time that is assumed for a request.
const mostWaited = time.Hour

// arrival returns the arrival time of a request whose head was read at start. For a write it is earlier by
// the time in queues, because a write must not outlast the patience of its caller. For a read it is start.
func arrival(start time.Time, method string, on net.Conn, said string) time.Time {
	if isRead(method) {
		return start
	}
	return start.Add(-waited(on, said))
}

// waited returns how long a request has been waiting before it was read, as far as
// known. It adds the time in the socket's queue, for example while this process was
// paused, and the time at the calling peer. said is the latter, in milliseconds.
func waited(on net.Conn, said string) time.Duration {
	inQueue := queued(bare(on))
	if ms, err := strconv.ParseInt(said, 10, 64); err == nil && ms > 0 {
		inQueue += time.Duration(min(ms, mostWaited.Milliseconds())) * time.Millisecond
	}
	return min(inQueue, mostWaited)
}

// bare returns the connection that the listener accepted.
func bare(c net.Conn) net.Conn {
	if own, ok := c.(*conn); ok {
		return own.Conn
	}
	return c
}
