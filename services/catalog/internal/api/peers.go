package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
)

// MountForPeers adds the public paths to the internal port, below /internal, for the MCP server. There is no limit by
// address: whom such a request is for, and whether that one has had its share, is settled before it comes here.
func (p *Public) MountForPeers(router fiber.Router) {
	business := router.Group("/internal/api/public/:slug")
	business.Get("/info", p.info)
	business.Get("/services", p.services)
	business.Get("/staff", p.staff)
	business.Get("/events", p.events)
	business.Get("/rentals", p.rentals)
}

// Slugs finds the slug of a business by its id; its error is the fault business_not_found where none has it.
type Slugs interface {
	Slug(ctx context.Context, id uuid.UUID) (string, error)
}

// Names serves GET /internal/slugs/{id}: under which slug a business is read. The answer never changes until the business is
// removed; then it has none.
type Names struct{ Store Slugs }

// Mount adds the route.
func (n *Names) Mount(router fiber.Router) { router.Get("/internal/slugs/:id", n.slug) }

func (n *Names) slug(c *fiber.Ctx) error {
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return err
	}
	slug, err := n.Store.Slug(c.UserContext(), id)
	if err != nil {
		return err
	}
	return c.JSON(catalog.SlugOf{Slug: slug})
}
