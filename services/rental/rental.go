// Package rental is the service that owns rental reservations, pick-ups and returns, and says whether units are free
// (interface.md, /rental-availability and /rental-available-dates; semantics.md §4).
//
// What is rented out, in how many units, is part of the offer, which catalog keeps and this service caches. What is
// free is computed from the offer and the reservations of its own tables by one function, the sweep of
// internal/occupancy, for the calendars and for whoever reserves: what they show can be reserved and nothing else can.
// Of many that reserve at once each counts under the lock of the rental's row (internal/store).
package rental

import (
	"context"
	"errors"

	"github.com/slotmesh/slotmesh/libs/limits"
	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/redisx"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/rental/internal/api"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/migrations"
)

// Config are rental's settings.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	Redis    redisx.Config
	Limits   limits.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`

	schema string // of the tables; empty: "rental". Tests take schemas of their own.
}

// Validate checks the settings as a whole; each fault names its variable.
func (c *Config) Validate() error {
	return errors.Join(c.Server.Validate(), c.Postgres.Validate(), c.Redis.Validate(), c.Limits.Validate())
}

func (c *Config) schemaName() string {
	if c.schema == "" {
		return "rental"
	}
	return c.schema
}

// Migrate brings rental's tables up to date.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, cfg.schemaName(), migrations.FS)
}

// New returns the service, ready to run. It connects to nothing yet.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	srv, err := server.New(cfg.Server, rt)
	if err != nil {
		return nil, err
	}
	if err := assemble(ctx, cfg, rt, srv); err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	return srv, nil
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, srv *server.Server) error {
	sentences, err := message.Load()
	if err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, cfg.Postgres, cfg.schemaName(), rt.Telemetry)
	if err != nil {
		return err
	}
	srv.OnStop("postgres", func(context.Context) error { pool.Close(); return nil })
	records := store.New(pool)
	srv.Ready("postgres", records.Ready)
	srv.Go("sweep of old writes", func(ctx context.Context) error {
		return postgres.KeepSweepingWrites(ctx, pool, rt.Telemetry.Logger)
	})

	rdb, err := redisx.Open(ctx, cfg.Redis, rt.Telemetry)
	if err != nil {
		return err
	}
	srv.OnStop("redis", func(context.Context) error { return rdb.Close() })
	srv.Limit(limits.New(cfg.Limits, cfg.Limits.Counting.Open(rdb, rt.Telemetry), rt.Telemetry).Pass)

	offersPeer := cfg.Server.Peers.Client("catalog", cfg.CatalogURL, rt.Telemetry)
	srv.OnStop("catalog", func(context.Context) error { offersPeer.Close(); return nil })
	offers := catalogclient.NewClient(offersPeer, rt.Telemetry)
	srv.Go("offer changes", func(ctx context.Context) error { return offers.Run(ctx, rdb) })

	eraser := &catalogclient.Eraser{Catalog: offersPeer, Erase: records.Erase, Clock: rt.Clock, Telemetry: rt.Telemetry}
	srv.Go("erasing removed businesses", eraser.Run)

	public := api.NewPublic(offers, records, sentences, rt.Clock, rt.Telemetry)
	public.Mount(srv.Public)
	public.MountForPeers(srv.Internal)
	api.NewInternal(offers, records, rt.Clock, rt.Telemetry).Mount(srv.Internal)
	return nil
}
