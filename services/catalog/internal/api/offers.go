// Package api serves catalog's paths: the public ones, the offers
// for the peers, and the owner's side of the internal API.
package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
)

// Offers serves GET /internal/offers/{slug}, the newest offer of a business, to other services, which
// cache it and revalidate it by its entity tag. If PostgreSQL does not answer and the request has
// [catalog.MaxStale], Offers returns the last known offer and its Age in seconds.
//
// The entity tag is made from the offer's bytes, which contain the version. Two releases that encode
// an offer differently therefore never confirm each other's tags.
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
