package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

// MountAgents adds, to the internal port, what the MCP server books by: the check of a key, once for each of an agent's requests,
// and then the booking itself. Together they make the checks of POST /book in their order, but for the limits by address and
// by key: those the MCP server counts itself, in the same Redis, so that a call that is repeated counts once.
func (p *Public) MountAgents(app fiber.Router) {
	app.Post("/internal/keys/check", p.checkKey)
	app.Post("/internal/api/public/:slug/book", p.bookForAgent)
}

// checkKey answers whose the key of the Authorization header is, and notes its use.
func (p *Public) checkKey(c *fiber.Ctx) error {
	hash, err := hashOf(c)
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

// bookForAgent is POST /book for a request that [Public.checkKey] has counted. The key is looked at again with the write, as it may
// have been revoked meanwhile.
func (p *Public) bookForAgent(c *fiber.Ctx) error { return p.respond(c, p.authenticate) }
