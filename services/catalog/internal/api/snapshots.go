// Package api serves the paths of catalog: the public paths, the snapshots for
// other services, and the internal API for the operations of business owners.
package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
)

// Snapshots serves GET /internal/offers/{slug}, the newest snapshot of a business. Other services cache the snapshot
// and revalidate it by its entity tag. If PostgreSQL does not answer, Snapshots returns the last known snapshot, with
// its age in seconds in the header Age. Snapshots does this only if the request allows it with [catalog.MaxStale] in
// Cache-Control.
//
// The entity tag is computed from the bytes of the snapshot, which contain the version. Two releases
// of catalog that encode a snapshot differently therefore have different tags for the same snapshot.
type Snapshots struct {
	Versions *current.Cache[*ready.Version]
}

// Mount adds the endpoint [catalogclient.ReadOffer].
func (o *Snapshots) Mount(r *server.Internal) { r.Handle(catalogclient.ReadOffer.Row, o.get) }

func (o *Snapshots) findVersion(c *fiber.Ctx, slug string) (*ready.Version, error) {
	if c.Get(fiber.HeaderCacheControl) != catalog.MaxStale {
		version, _, err := o.Versions.Revalidate(c.UserContext(), slug)
		return version, err
	}
	version, age, err := o.Versions.RevalidateOrStale(c.UserContext(), slug)
	if seconds := int(age.Seconds()); seconds > 0 {
		c.Set(fiber.HeaderAge, strconv.Itoa(seconds))
	}
	return version, err
}

func (o *Snapshots) get(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	version, err := o.findVersion(c, slug)
	if err != nil {
		return err
	}
	var body []byte
	if !server.HasTag(c, version.SnapshotTag) {
		if body, err = version.SnapshotJSON(); err != nil {
			return err
		}
	}
	return sendTagged(c, fiber.MIMEApplicationJSON, body, version.SnapshotTag)
}
