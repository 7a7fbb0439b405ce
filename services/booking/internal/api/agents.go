package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

// MountAgents adds the routes by which the MCP server books to the internal port: the check of an
// agent's API key, and the booking. The key is checked once for each of an agent's requests.
//
// Together the two make the checks of POST /book in their order, except the limits by address and by
// key. The MCP server counts those itself, in the same Redis, so that a repeated call counts once.
func (p *Public) MountAgents(app fiber.Router) {
	app.Post("/internal/keys/check", p.checkKey)
	app.Post("/internal/api/public/:slug/book", p.bookForAgent)
}

// checkKey returns the business, id and scope of the key in the Authorization header, and stores
// that it was used. Faults: missing_api_key, invalid_api_key.
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

// bookForAgent is POST /book for a request whose key [Public.checkKey] has checked. The write
// checks the key again, because it may have been revoked in the meantime.
func (p *Public) bookForAgent(c *fiber.Ctx) error { return p.respond(c, p.authenticate) }
