package server

import (
	"net"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer"
)

// mostWaited bounds what is believed of the time that a request has waited.
const mostWaited = time.Hour

// waited is how long a request has been on its way to its handler, as far as that can be known: in the socket's queue, as where
// this process stood still, and before that at the peer that sends it. A peer says so on the internal port alone.
func waited(c *fiber.Ctx, internal bool) time.Duration {
	inQueue := queued(bare(c.Context().Conn()))
	if internal {
		if ms, err := strconv.ParseInt(c.Get(peer.WaitedHeader), 10, 64); err == nil && ms > 0 {
			inQueue += time.Duration(min(ms, mostWaited.Milliseconds())) * time.Millisecond
		}
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
