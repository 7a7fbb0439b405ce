package server

import (
	"net"
	"strconv"
	"time"
)

// maxWaited bounds the waiting time that is assumed for a request.
const maxWaited = time.Hour

// arrivalTime returns the time at which a request arrived. start is the time at which its head
// was read, and the result for a read. For a write, the result is earlier by the time that
// the request waited in queues. A write must not be made after its caller has given up.
func arrivalTime(start time.Time, method string, on net.Conn, peerWait string) time.Time {
	if isRead(method) {
		return start
	}
	return start.Add(-waitTime(on, peerWait))
}

// waitTime returns how long a request waited before it was read, as far as known. It adds the time
// in the queue of the socket, for example while this process was paused, and the time at the
// calling service. peerWait is the time at the calling service, in milliseconds, from [peer.WaitHeader].
func waitTime(on net.Conn, peerWait string) time.Duration {
	inQueue := queueTime(unwrapConn(on))
	if ms, err := strconv.ParseInt(peerWait, 10, 64); err == nil && ms > 0 {
		inQueue += time.Duration(min(ms, maxWaited.Milliseconds())) * time.Millisecond
	}
	return min(inQueue, maxWaited)
}

// unwrapConn returns the connection that the listener accepted.
func unwrapConn(c net.Conn) net.Conn {
	if own, ok := c.(*conn); ok {
		return own.Conn
	}
	return c
}
