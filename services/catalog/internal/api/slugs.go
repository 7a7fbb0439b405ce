package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// Names serves GET /internal/slugs/{id}, which returns the slug of the business with
// this id. The slug of a business never changes. A removed business has no slug.
type Names struct{ Store *store.Store }

// Mount adds the endpoint [catalogclient.FindSlug].
func (n *Names) Mount(r *server.Internal) { server.Mount(r, catalogclient.FindSlug, n.findSlug) }

func (n *Names) findSlug(ctx context.Context, r catalogclient.BusinessID) (*catalog.SlugOf, error) {
	slug, err := n.Store.Slug(ctx, r.ID)
	if err != nil {
		return nil, usecase.Fault(err)
	}
	return &catalog.SlugOf{Slug: slug}, nil
}
