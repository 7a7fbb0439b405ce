package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
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

// Names serves GET /internal/slugs/{id}: under which slug a business is read. The answer never changes until the business is
// removed; then it has none.
type Names struct{ Store *store.Store }

// Mount adds the route.
func (n *Names) Mount(router fiber.Router) { router.Get("/internal/slugs/:id", n.slug) }

func (n *Names) slug(c *fiber.Ctx) error {
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return err
	}
	slug, err := n.Store.Slug(c.UserContext(), id)
	if err != nil {
		return usecase.Fault(err)
	}
	return c.JSON(catalog.SlugOf{Slug: slug})
}
