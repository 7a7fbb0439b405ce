package api

import (
	"log/slog"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// manifestTypes are the media types under which a manifest may come; YAML goes by several.
var manifestTypes = map[string]string{
	catalog.MediaJSON: catalog.MediaJSON, catalog.MediaYAML: catalog.MediaYAML,
	"application/x-yaml": catalog.MediaYAML, "text/yaml": catalog.MediaYAML, "text/x-yaml": catalog.MediaYAML,
}

// publishedVersion is the answer to a publish and to a rollback.
type publishedVersion struct {
	ID      uuid.UUID `json:"id"`
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
}

func (a *Admin) publish(c *fiber.Ctx) error {
	slug := c.Params("slug")
	if !request.IsSlug(slug) {
		return request.Invalid("slug: the path names no possible business; write 1 to 63 of a-z, 0-9 and -.")
	}
	mediaType, err := mediaTypeOf(c, manifestTypes, "application/yaml or application/json")
	if err != nil {
		return err
	}
	manifest, err := server.Body(c)
	if err != nil {
		return err
	}
	published, err := a.Businesses.Publish(c.UserContext(), slug, manifest, mediaType, c.Get(fiber.HeaderIfMatch))
	if err != nil {
		return err
	}
	a.changed(c, "publish", slug, slog.Int64("version", published.Version))
	return sendPublished(c, published)
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
	published, err := a.Businesses.Rollback(c.UserContext(), slug, to.Version)
	if err != nil {
		return err
	}
	a.changed(c, "rollback", slug, slog.Int64("to", to.Version), slog.Int64("version", published.Version))
	return sendPublished(c, published)
}

func sendPublished(c *fiber.Ctx, p *catalog.Published) error {
	if p.Created {
		c.Status(fiber.StatusCreated)
	}
	c.Set(fiber.HeaderETag, `"`+strconv.FormatInt(p.Version, 10)+`"`)
	return c.JSON(publishedVersion{ID: p.ID, Slug: p.Slug, Version: p.Version})
}

func (a *Admin) getManifest(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	version, err := versionOf(c)
	if err != nil {
		return err
	}
	m, err := a.Businesses.Get(c.UserContext(), slug, version, c.Get(fiber.HeaderAccept))
	if err != nil {
		return err
	}
	c.Vary(fiber.HeaderAccept)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Set(fiber.HeaderETag, m.ETag)
	if c.Fresh() {
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
	list, err := a.Businesses.List(c.UserContext(), page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) listVersions(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Businesses.Versions(c.UserContext(), slug, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

// remove takes the keys away first: whoever books by key is stopped before the offer goes, and a removal that breaks off
// can be repeated while the slug still leads to the business.
func (a *Admin) remove(c *fiber.Ctx) error {
	force, err := server.Query(c).Flag("force")
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if fault.Is(err, fault.BusinessNotFound) && idempotency.Of(c.UserContext()).Key != "" {
		return a.removedBefore(c, err)
	}
	if err != nil {
		return err
	}
	if err := a.refuseWithBookingsAhead(c, business, force); err != nil {
		return err
	}
	if err := a.Bookings.RevokeAllKeys(c.UserContext(), business.ID); err != nil {
		return err
	}
	if err := a.Businesses.Delete(c.UserContext(), business.Slug); err != nil {
		return err
	}
	a.changed(c, "delete", business.Slug, slog.Bool("force", force))
	return c.SendStatus(fiber.StatusNoContent)
}

// removedBefore answers a repeated removal: catalog knows its key, and removes nothing where there is no business.
func (a *Admin) removedBefore(c *fiber.Ctx, notFound error) error {
	slug, err := server.Slug(c)
	if err != nil {
		return notFound
	}
	if err := a.Businesses.Delete(c.UserContext(), slug); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// refuseWithBookingsAhead counts whatever customers were promised: appointments and seats, tickets, reservations.
func (a *Admin) refuseWithBookingsAhead(c *fiber.Ctx, business *catalog.Offer, force bool) error {
	if force {
		return nil
	}
	bookings, err := a.Bookings.Ahead(c.UserContext(), business.ID)
	if err != nil {
		return err
	}
	tickets, err := a.Tickets.TicketsAhead(c.UserContext(), business.ID, business.Slug)
	if err != nil {
		return err
	}
	reservations, err := a.Rentals.Ahead(c.UserContext(), business.Slug)
	if err != nil || bookings+tickets+reservations == 0 {
		return err
	}
	return fault.Newf(fault.Conflict,
		"Customers are expected: bookings (%d), tickets (%d) and reservations (%d) lie ahead; cancel them first, or remove it with force=true.",
		bookings, tickets, reservations)
}
