package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
)

// manifestTypes maps the media types of manifests to canonical media types, because YAML has several media types.
var manifestTypes = map[string]string{
	catalog.MediaJSON: catalog.MediaJSON, catalog.MediaYAML: catalog.MediaYAML,
	"application/x-yaml": catalog.MediaYAML, "text/yaml": catalog.MediaYAML, "text/x-yaml": catalog.MediaYAML,
}

// publishedVersion is the answer to a request that publishes a manifest or rolls back to an earlier version. Warnings
// are the warnings about the published manifest. Warnings is omitted if the manifest has no warnings, or if computing
// the warnings took too long.
type publishedVersion struct {
	ID       uuid.UUID          `json:"id"`
	Slug     string             `json:"slug"`
	Version  int64              `json:"version"`
	Warnings []manifest.Problem `json:"warnings,omitempty"`
}

// notifyCustomers is the query parameter of a publication or a rollback after which customers get a message about each
// new address of a place.
const notifyCustomers = "notify_customers"

func (a *Admin) publish(c *fiber.Ctx) error {
	slug := c.Params("slug")
	if !request.IsSlug(slug) {
		return request.Invalid("slug: the path names no possible business; write 1 to 63 of a-z, 0-9 and -.")
	}
	mediaType, err := parseMediaType(c, manifestTypes, "application/yaml or application/json")
	if err != nil {
		return err
	}
	text, err := server.Body(c)
	if err != nil {
		return err
	}
	notifies, err := server.Query(c).Flag(notifyCustomers)
	if err != nil {
		return err
	}
	published, err := a.Rooms.Offer.Publish(c.UserContext(), principal(c), slug, text, mediaType,
		c.Get(fiber.HeaderIfMatch), notifies)
	if err != nil {
		return err
	}
	warnings, err := offer.FindWarnings(c.UserContext(), slug, text, a.Rooms.Clock.Now())
	if err != nil {
		warnings = nil // the manifest is published, so the request succeeds without the warnings
	}
	return sendPublished(c, published, warnings)
}

// diff answers a request with a manifest. The answer has the changes that publishing the manifest would make to the
// offer, and the bookings that would conflict with the changed offer.
func (a *Admin) diff(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	if _, err := parseMediaType(c, manifestTypes, "application/yaml or application/json"); err != nil {
		return err
	}
	text, err := server.Body(c)
	if err != nil {
		return err
	}
	plan, err := a.Rooms.Offer.Plan(c.UserContext(), principal(c), slug, text)
	if err != nil {
		return err
	}
	return c.JSON(plan)
}

func (a *Admin) rollback(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var to catalog.Rollback
	if err := decode(c, &to); err != nil {
		return err
	}
	if to.Version < 1 {
		return request.Invalid(`version: missing or below 1; send the version to publish again, such as {"version": 3}.`)
	}
	notifies, err := server.Query(c).Flag(notifyCustomers)
	if err != nil {
		return err
	}
	published, err := a.Rooms.Offer.Rollback(c.UserContext(), principal(c), slug, to.Version, "", notifies)
	if err != nil {
		return err
	}
	return sendPublished(c, published, nil)
}

func sendPublished(c *fiber.Ctx, p *catalog.Published, warnings []manifest.Problem) error {
	if p.Created {
		c.Status(fiber.StatusCreated)
	}
	c.Set(fiber.HeaderETag, `"`+strconv.FormatInt(p.Version, 10)+`"`)
	return c.JSON(publishedVersion{ID: p.ID, Slug: p.Slug, Version: p.Version, Warnings: warnings})
}

func (a *Admin) getManifest(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	version, err := parseVersion(c)
	if err != nil {
		return err
	}
	m, err := a.Rooms.Businesses.Get(c.UserContext(), slug, version, c.Get(fiber.HeaderAccept))
	if err != nil {
		return err
	}
	c.Vary(fiber.HeaderAccept)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Set(fiber.HeaderETag, m.ETag)
	if server.HasTag(c, m.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, m.MediaType)
	return c.Send(m.Text)
}

func (a *Admin) listBusinesses(c *fiber.Ctx) error {
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Rooms.Businesses.List(c.UserContext(), principal(c).Businesses(), page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) remove(c *fiber.Ctx) error {
	force, err := server.Query(c).Flag("force")
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Offer.Remove(c.UserContext(), principal(c), slug, force); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
