// Package pricing is the service that turns list prices into prices to pay. It owns nothing: the rules come with a
// business's offer from catalog, what is known of a purchase with each request, and the tariff (internal/tariff, pure)
// makes an itemised price of the two. Lists quote through it and bookings are priced by it, so that both say the same.
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

// Config are the service's settings.
type Config struct {
	Server server.Config
	Redis  redisx.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
}

// New returns the service, ready to run. It connects to nothing yet.
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
