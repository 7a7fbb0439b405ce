package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// acting is middleware of the internal port: it notes who acts, as the peer says that sends the request, in its context.
func acting(c *fiber.Ctx) error {
	if named := c.Get(actor.Header); named != "" {
		by, err := actor.Parse(named)
		if err != nil {
			return fault.Newf(fault.InvalidParameter, "%s: names nobody who can act.", actor.Header)
		}
		c.SetUserContext(actor.With(c.UserContext(), by))
	}
	return c.Next()
}
