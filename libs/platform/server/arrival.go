package server

import (
	"net"
	"strconv"
	"time"
)

// maxWaited bounds the waiting time that the server computes for a request.
const maxWaited = time.Hour

// arrivalTime returns the time at which a request arrived. The argument `start` is the time at which the head of the
// request was read. For a read, arrivalTime returns `start`. For a write, it returns `start` minus the result of
// [waitTime], because the deadline counts from the arrival. Otherwise the server could make a write after the caller
// has stopped waiting.
func arrivalTime(start time.Time, method string, on net.Conn, peerWait string) time.Time {
	if isRead(method) {
		return start
	}
	return start.Add(-waitTime(on, peerWait))
}

// waitTime returns how long a request waited before the server read it, as far as this is known. The result is the sum
// of two times. The first is the time in the queue of the socket `on`, for example while this process was paused. The
// second is the time that the request spent at the calling service. The argument peerWait is this time in milliseconds,
// the value of [peer.WaitHeader].
func waitTime(on net.Conn, peerWait string) time.Duration {
	inQueue := queueTime(unwrapConn(on))
	if ms, err := strconv.ParseInt(peerWait, 10, 64); err == nil && ms > 0 {
		inQueue += time.Duration(min(ms, maxWaited.Milliseconds())) * time.Millisecond
	}
	return min(inQueue, maxWaited)
}

// unwrapConn returns the connection that the listener accepted, without the wrapper of this package.
func unwrapConn(c net.Conn) net.Conn {
	if own, ok := c.(*conn); ok {
		return own.Conn
	}
	return c
}
