// Package pricing is the service that turns list prices into prices to pay. It stores nothing. The rules come with
// the business's offer from catalog, and the data of a purchase with each request. The tariff (internal/tariff,
// pure) computes an itemised price from both. Lists and bookings both use it, so they always show the same price.
//
// Its internal port answers POST /internal/quotes for many items at once; its public port has no paths.
package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/redisx"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/service"
	"github.com/slotmesh/slotmesh/services/pricing/internal/api"
)

// Config holds the service's settings.
type Config struct {
	Server server.Config
	Redis  redisx.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
}

// New returns the service, ready to run. It opens no connection yet.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error {
		rdb, err := s.Redis(ctx, cfg.Redis)
		if err != nil {
			return err
		}
		offers := s.Offers(s.Peer("catalog", cfg.CatalogURL), rdb)
		api.NewQuotes(offers).Mount(s.Internal)
		return nil
	})
}
