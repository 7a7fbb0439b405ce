package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// MountAgents adds two routes to the internal port. The MCP server uses these routes to book for agents.
// It first calls the route that checks the agent's API key, and then the route that makes the booking.
//
// The two routes make the checks of POST /book in the same order, except the checks of the limits per IP
// address and per API key. The MCP server itself counts the agent's request against these limits, in the
// same Redis. Therefore the request counts once, even if the MCP server calls a route several times.
func (p *Public) MountAgents(r *server.Internal) {
	r.Handle(bookingclient.CheckKey.Row, p.checkKey)
	r.Handle(bookingclient.BookForAgent.Row, p.bookForAgent)
}

// checkKey handles the route that checks the API key in the Authorization header. The
// answer contains the business, the id and the scope of the key. checkKey also stores
// the time at which the key was used. Faults: missing_api_key, invalid_api_key.
func (p *Public) checkKey(c *fiber.Ctx) error {
	hash, err := parseKeyHash(c)
	if err != nil {
		return err
	}
	key, err := p.lookUp(c, hash)
	if err != nil {
		return err
	}
	p.touch(c.UserContext(), key)
	return c.JSON(booking.CheckedKey{BusinessID: key.BusinessID, ID: key.ID, Scope: key.Scope})
}

// bookForAgent books as POST /book does. The MCP server has checked the API key of
// the request with [Public.checkKey] before. The statement that writes the booking
// checks the key again, because the key may have been revoked in the meantime.
func (p *Public) bookForAgent(c *fiber.Ctx) error { return p.respond(c, p.authenticate) }
