// Package pricing is the service that computes the prices to pay from list prices. It stores nothing.
// The pricing rules are in the business's offer, which catalog publishes. The data of a purchase are
// in each request. From both, the tariff (internal/tariff) computes a price with its steps. Lists and
// bookings both use the tariff, so they always show the same price.
//
// The internal port answers POST /internal/quotes for many items at once. The public port has no
// paths.
package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
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
