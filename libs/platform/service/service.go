// Package service has helpers that build a service. They open what most services need (server, Redis, clients
// of other services, limits) and close it when the service stops. Services with tables also use libs/platform/postgres.
package service

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// Service is a service during its assembly.
type Service struct {
	*server.Server
	rt    server.Runtime
	peers peer.Config
}

// New returns a service that is ready to run, with the parts and routes that assemble adds. It does not connect yet.
func New(cfg server.Config, rt server.Runtime, assemble func(*Service) error) (*server.Server, error) {
	srv, err := server.New(cfg, rt)
	if err != nil {
		return nil, err
	}
	if err := assemble(&Service{Server: srv, rt: rt, peers: cfg.Peers}); err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	return srv, nil
}

// Redis returns a client of Redis and closes it when the service stops.
func (s *Service) Redis(ctx context.Context, cfg redisx.Config) (redis.UniversalClient, error) {
	rdb, err := redisx.Open(ctx, cfg, s.rt.Telemetry)
	if err != nil {
		return nil, err
	}
	s.OnStop("redis", func(context.Context) error { return rdb.Close() })
	return rdb, nil
}

// Limits returns a [limits.Gate], which counts requests in Redis. A service
// with public paths must pass the gate's method Pass to [server.Server.Limit].
func (s *Service) Limits(cfg limits.Config, rdb redis.UniversalClient) *limits.Gate {
	return limits.New(cfg, cfg.Counting.Open(rdb, s.rt.Telemetry), s.rt.Telemetry)
}

// Peer returns a client of the peer called name, whose internal port is at url.
func (s *Service) Peer(name, url string, options ...peer.Option) *peer.Client {
	client := s.peers.Client(name, url, s.rt.Telemetry, options...)
	s.OnStop(name, func(context.Context) error { client.Close(); return nil })
	return client
}

// Offers returns a client that caches catalog's offers and listens for their changes.
func (s *Service) Offers(catalog *peer.Client, rdb redis.UniversalClient) *catalogclient.Client {
	offers := catalogclient.NewClient(catalog, s.rt.Telemetry)
	s.Go("offer changes", func(ctx context.Context) error { return offers.Run(ctx, rdb) })
	return offers
}

// AddErasureJob adds the job that deletes the service's data of removed businesses after the retention time.
func (s *Service) AddErasureJob(catalog *peer.Client, erase catalogclient.Erase) {
	eraser := &catalogclient.Eraser{Catalog: catalog, Erase: erase, Clock: s.rt.Clock, Telemetry: s.rt.Telemetry}
	s.Go("erasing removed businesses", eraser.Run)
}

// AddRetentionJob adds the retention job to the service. The job anonymizes customers whose bookings
// ended long enough ago, by the setting of each business. Only one replica at a time runs it.
func (s *Service) AddRetentionJob(catalog *peer.Client, offers *catalogclient.Client, pool *pgxpool.Pool,
	kept catalogclient.Remembered) {
	runExclusively := func(ctx context.Context, work func(context.Context) error) error {
		_, err := postgres.RunExclusively(ctx, pool, "forgetting customers", work)
		return err
	}
	s.Go("forgetting customers", catalogclient.NewForgetter(catalog, offers, kept, runExclusively, s.rt.Clock,
		s.rt.Telemetry).Run)
}
