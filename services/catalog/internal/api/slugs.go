package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// Names serves GET /internal/slugs/{id}, which returns the slug of the business with
// this id. The slug of a business never changes. A removed business has no slug.
type Names struct{ Store *store.Store }

// Mount adds the route GET /internal/slugs/{id}.
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
