// Package pricing is the service that turns list prices into prices to pay. It owns nothing: the rules come with a
// business's offer from catalog, what is known of a purchase with each request, and the tariff (internal/tariff, pure)
// makes an itemised price of the two. Lists quote through it and bookings are priced by it, so that both say the same.
//
// Its internal port answers POST /internal/quotes for many items at once; its public port has no paths.
package pricing

import (
	"context"
	"errors"

	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/redisx"
	"github.com/slotmesh/slotmesh/libs/server"
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
	srv, err := server.New(cfg.Server, rt)
	if err != nil {
		return nil, err
	}
	rdb, err := redisx.Open(ctx, cfg.Redis, rt.Telemetry)
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	srv.OnStop("redis", func(context.Context) error { return rdb.Close() })
	catalogPeer := cfg.Server.Peers.Client("catalog", cfg.CatalogURL, rt.Telemetry)
	srv.OnStop("catalog", func(context.Context) error { catalogPeer.Close(); return nil })

	offers := catalogclient.NewClient(catalogPeer, rt.Telemetry)
	srv.Go("offers", func(ctx context.Context) error { return offers.Run(ctx, rdb) })
	api.NewQuotes(offers).Mount(srv.Internal)
	return srv, nil
}
