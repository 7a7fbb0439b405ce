// Package service provides functions that build a service. They open the parts that most services
// need: the server, PostgreSQL, Redis, clients of other services, limits and jobs. They also close
// these parts when the service stops.
package service

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
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

// Postgres returns a pool of connections to the tables of the service, and adds the job that deletes old idempotency
// results from them. The pool is closed when the service stops. The argument `name` is the name of the service.
func (s *Service) Postgres(ctx context.Context, cfg postgres.Config, name string) (*pgxpool.Pool, error) {
	pool, err := postgres.Open(ctx, cfg, name, s.rt.Telemetry)
	if err != nil {
		return nil, err
	}
	s.OnStop("postgres", func(context.Context) error { pool.Close(); return nil })
	s.Go("sweep of old writes", func(ctx context.Context) error {
		return postgres.RunWriteCleanup(ctx, pool, s.rt.Clock, s.rt.Telemetry.Logger)
	})
	return pool, nil
}

// GoAsLeader adds a job that only one replica of the service runs at a time. The argument `name` is
// the name of the job in logs and of its advisory lock in the database of the pool.
func (s *Service) GoAsLeader(pool *pgxpool.Pool, name string, job periodic.Job) {
	do := job.Do
	job.Do = func(ctx context.Context) error {
		_, err := postgres.RunExclusively(ctx, pool, name, do)
		return err
	}
	s.Go(name, func(ctx context.Context) error { return job.Run(ctx, s.rt.Telemetry.Logger) })
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

// Limits returns a [limits.Gate] that counts requests for exact limits in Redis, and requests for general limits in this
// process. A service with public paths must pass the method Pass of the gate to [server.Server.Limit].
func (s *Service) Limits(cfg limits.Config, rdb redis.UniversalClient) *limits.Gate {
	general := cfg.Counting.OpenGuard(rdb, s.rt.Telemetry)
	s.Go("counts of general limits", general.Run)
	return limits.New(cfg, cfg.Counting.Open(rdb, s.rt.Telemetry), general, s.rt.Telemetry)
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
	s.GoAsLeader(pool, "anonymize customers", catalogclient.NewRetentionJob(catalog, offers, kept, s.rt.Clock,
		s.rt.Telemetry).Periodic())
}
