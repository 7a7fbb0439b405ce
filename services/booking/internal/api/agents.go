package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// MountAgents adds two routes to the internal port by which the MCP server books for agents. One
// checks an agent's API key, once for each request of the agent. The other makes the booking.
//
// Together they make the checks of POST /book in the same order, except the limits by address and by key. The
// MCP server counts these limits itself, in the same Redis, so that a repeated call of these routes counts once.
func (p *Public) MountAgents(app fiber.Router) {
	app.Post("/internal/keys/check", p.checkKey)
	app.Post("/internal/api/public/:slug/book", p.bookForAgent)
}

// checkKey answers with the business, id and scope of the API key in the Authorization
// header, and stores that the key was used. Faults: missing_api_key, invalid_api_key.
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

// bookForAgent is POST /book for a request whose API key [Public.checkKey] has checked. The write
// of the booking checks the key again, because the key may have been revoked in the meantime.
func (p *Public) bookForAgent(c *fiber.Ctx) error { return p.respond(c, p.authenticate) }
