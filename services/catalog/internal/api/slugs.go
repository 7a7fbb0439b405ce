package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// Names serves GET /internal/slugs/{id}, which returns the slug of a business by its id. The slug
// never changes. After the business is removed, it has no slug.
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
