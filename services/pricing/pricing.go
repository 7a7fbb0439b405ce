// Package pricing is the service that computes the prices that customers pay. It stores nothing. The list prices
// and the pricing rules are in the offer of the business, which catalog publishes. The data of the purchase are
// in the request. From both, the tariff (internal/tariff) computes each price and lists the rules that changed
// it. Price lists and bookings both use the tariff. Therefore they always show the same price for the same data.
//
// The internal port serves POST /internal/quotes, which computes
// the prices of many items at once. The public port has no paths.
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

// New returns the service, ready to run. New opens no connection.
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
