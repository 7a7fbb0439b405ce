// Package service provides functions that build a service. They open the parts that most
// services need: the server, Redis, clients of other services and limits. They also close these
// parts when the service stops. Services with tables use libs/platform/postgres in addition.
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

// Service is a service that [New] is building. The function `assemble` of New adds the parts.
type Service struct {
	*server.Server
	rt    server.Runtime
	peers peer.Config
}

// New returns a service that is ready to run. The function `assemble` adds
// its parts and routes. New does not connect to any store or service.
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

// Redis returns a client for Redis. The client is closed when the service stops.
func (s *Service) Redis(ctx context.Context, cfg redisx.Config) (redis.UniversalClient, error) {
	rdb, err := redisx.Open(ctx, cfg, s.rt.Telemetry)
	if err != nil {
		return nil, err
	}
	s.OnStop("redis", func(context.Context) error { return rdb.Close() })
	return rdb, nil
}

// Limits returns a [limits.Gate] that counts requests in Redis. A service with
// public paths must pass the method Pass of the gate to [server.Server.Limit].
func (s *Service) Limits(cfg limits.Config, rdb redis.UniversalClient) *limits.Gate {
	return limits.New(cfg, cfg.Counting.Open(rdb, s.rt.Telemetry), s.rt.Telemetry)
}

// Peer returns a client for the service with this name. The argument `url` is the URL of that service's internal port.
// The client is closed when this service stops.
func (s *Service) Peer(name, url string, options ...peer.Option) *peer.Client {
	client := s.peers.Client(name, url, s.rt.Telemetry, options...)
	s.OnStop(name, func(context.Context) error { client.Close(); return nil })
	return client
}

// Offers returns a client that caches the business snapshots of the service catalog. While the service runs, the client
// receives messages about changed snapshots.
func (s *Service) Offers(catalog *peer.Client, rdb redis.UniversalClient) *catalogclient.Client {
	offers := catalogclient.NewClient(catalog, s.rt.Telemetry)
	s.Go("offer changes", func(ctx context.Context) error { return offers.Run(ctx, rdb) })
	return offers
}

// AddErasureJob adds the job that deletes this service's data of removed
// businesses after the retention time. The function `erase` deletes the data.
func (s *Service) AddErasureJob(catalog *peer.Client, erase catalogclient.Erase) {
	eraser := &catalogclient.Eraser{Catalog: catalog, Erase: erase, Clock: s.rt.Clock, Telemetry: s.rt.Telemetry}
	s.Go("erasing removed businesses", eraser.Run)
}

// AddRetentionJob adds the retention job to the service. The job anonymizes the data of customers whose last booking
// ended long enough ago. Each business sets the retention time. Only one replica of the service runs the job at a time.
func (s *Service) AddRetentionJob(catalog *peer.Client, offers *catalogclient.Client, pool *pgxpool.Pool,
	kept catalogclient.CustomerRecords) {
	runExclusively := func(ctx context.Context, work func(context.Context) error) error {
		_, err := postgres.RunExclusively(ctx, pool, "anonymize customers", work)
		return err
	}
	s.Go("anonymize customers", catalogclient.NewRetentionJob(catalog, offers, kept, runExclusively, s.rt.Clock,
		s.rt.Telemetry).Run)
}
