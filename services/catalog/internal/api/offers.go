// Package api serves catalog's paths: the public ones, the offers that the peers read, and the owner's side.
package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
)

// Offers serves GET /internal/offers/{slug}: the newest offer, never an older one, since it is what peers revalidate
// against. Its tag follows from its bytes and so from the version, which they hold, and from their form: replicas of
// two releases never confirm each other's.
type Offers struct {
	Versions *current.Cache[*ready.Version]
}

// Mount adds the route.
func (o *Offers) Mount(router fiber.Router) {
	router.Get("/internal/offers/:slug", o.get)
}

func (o *Offers) get(c *fiber.Ctx) error {
	slug, err := slugParam(c)
	if err != nil {
		return err
	}
	version, _, err := o.Versions.Verified(c.UserContext(), slug)
	if err != nil {
		return err
	}
	var body []byte
	if !knows(c, version.OfferTag) {
		if body, err = version.OfferJSON(); err != nil {
			return err
		}
	}
	return sendTagged(c, fiber.MIMEApplicationJSON, body, version.OfferTag)
}
