// Package api serves catalog's paths: the public ones, the offers that the peers read, and the owner's side.
package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
)

// Offers serves GET /internal/offers/{slug}: the newest offer, since it is what peers revalidate against. To who says
// [catalog.MaxStale] it gives the last one known while PostgreSQL does not answer, and its Age. Its tag follows from its bytes and so from the version, which they hold, and from their form: replicas of
// two releases never confirm each other's.
type Offers struct {
	Versions *current.Cache[*ready.Version]
}

// Mount adds the route.
func (o *Offers) Mount(router fiber.Router) {
	router.Get("/internal/offers/:slug", o.get)
}

func (o *Offers) version(c *fiber.Ctx, slug string) (*ready.Version, error) {
	if c.Get(fiber.HeaderCacheControl) != catalog.MaxStale {
		version, _, err := o.Versions.Verified(c.UserContext(), slug)
		return version, err
	}
	version, age, err := o.Versions.LastKnown(c.UserContext(), slug)
	if seconds := int(age.Seconds()); seconds > 0 {
		c.Set(fiber.HeaderAge, strconv.Itoa(seconds))
	}
	return version, err
}

func (o *Offers) get(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	version, err := o.version(c, slug)
	if err != nil {
		return err
	}
	var body []byte
	if !server.HasTag(c, version.OfferTag) {
		if body, err = version.OfferJSON(); err != nil {
			return err
		}
	}
	return sendTagged(c, fiber.MIMEApplicationJSON, body, version.OfferTag)
}
