// Package catalog is the service that stores what businesses offer. Each business
// has one document, the manifest. The service stores all versions of each manifest.
//
// Business owners publish manifests with the console's admin API, which calls the internal
// API of this service (internal/usecase). A publish creates a complete new version or changes
// nothing. Other services read the newest version as a compiled snapshot and revalidate their
// copy by its entity tag. After each publish, a Redis message informs them of the change.
//
// The public paths /info, /services, /staff, /events and /rentals show the newest version to customers.
// Catalog requests prices from the pricing service and the number of tickets sold from the booking
// service. From the rental service, it requests the number of units that can be booked online. If one
// of these services does not answer, catalog serves the lists without the numbers of that service.
//
// PostgreSQL holds the versions (internal/store). Package internal/current keeps the newest version of each business
// in memory, decoded and compiled (internal/compile). The first public request for a version also builds the data of
// the public answers (internal/public). Package internal/rendered caches the bytes of these answers. While PostgreSQL
// is unavailable, catalog serves reads from memory. A replica that has just started uses the copies in Redis instead
// (internal/fallback).
package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	books "github.com/slotmesh/slotmesh/docs"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog/eventapi"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/services/catalog/internal/api"
	"github.com/slotmesh/slotmesh/services/catalog/internal/changes"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/docs"
	"github.com/slotmesh/slotmesh/services/catalog/internal/fallback"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media/files"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
	"github.com/slotmesh/slotmesh/services/catalog/migrations"
)

// Config holds catalog's settings.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	Redis    redisx.Config
	Limits   limits.Config
	Events   eventlog.Config
	// PricingURL is the base URL of pricing's internal port.
	PricingURL string `env:"PRICING_URL, required"`
	// PricingTimeout is how long /services waits for prices. After this time, the list is served without prices.
	PricingTimeout time.Duration `env:"PRICING_TIMEOUT, default=1s"`
	// BookingURL is the base URL of booking's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// BookingTimeout is how long /events waits for the numbers of
	// tickets sold. After this time, the answer omits spots_remaining.
	BookingTimeout time.Duration `env:"BOOKING_TIMEOUT, default=1s"`
	// RentalURL is the base URL of rental's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// PagesURL is the public base URL of the pages, such as https://book.example.com.
	// In the public API, the URLs of uploaded pictures begin with PagesURL.
	PagesURL string `env:"PAGES_URL"`
	// RentalTimeout is how long /rentals waits for max_bookable_online.
	// After this time, the list is served without max_bookable_online.
	RentalTimeout time.Duration `env:"RENTAL_TIMEOUT, default=1s"`
	// MediaStore is where the files of uploaded pictures are: the absolute path of a folder, or
	// s3://KEY:SECRET@HOST/BUCKET ([files.Open]). If it is empty, uploads are refused.
	MediaStore string `env:"MEDIA_STORE" secret:"true"`
	// MediaMaxPictures and MediaMaxBytes are the maximum number and the maximum total size of a business's pictures.
	MediaMaxPictures int   `env:"MEDIA_MAX_PICTURES, default=500"`
	MediaMaxBytes    int64 `env:"MEDIA_MAX_BYTES, default=268435456"`
	// MediaKeepUnused is how long the service keeps a picture that no version of the business shows.
	MediaKeepUnused time.Duration `env:"MEDIA_KEEP_UNUSED, default=168h"`
	// MemoryBytes is the maximum total size of the manifests, as JSON, whose decoded versions
	// are kept in memory. A decoded version takes several times the size of its JSON.
	MemoryBytes int `env:"CATALOG_MEMORY_BYTES, default=67108864"`
	// RenderedBytes is the maximum size of the cache of rendered answers, in bytes.
	RenderedBytes int `env:"CATALOG_RENDERED_BYTES, default=33554432"`
	// staleTimeout, which only tests set, replaces the timeouts for calls to Redis, and
	// the time that a change waits for booking. 0 keeps the default of each package.
	staleTimeout time.Duration
}

// Validate checks all settings; each error names its environment variable.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Postgres.Validate(), c.Redis.Validate(), c.Limits.Validate(),
		c.Events.Validate()}
	if c.PricingTimeout <= 0 {
		errs = append(errs, errors.New("PRICING_TIMEOUT: write a duration above 0, such as 1s"))
	}
	if c.BookingTimeout <= 0 {
		errs = append(errs, errors.New("BOOKING_TIMEOUT: write a duration above 0, such as 1s"))
	}
	if c.RentalTimeout <= 0 {
		errs = append(errs, errors.New("RENTAL_TIMEOUT: write a duration above 0, such as 1s"))
	}
	if _, err := c.openMedia(); err != nil {
		errs = append(errs, fmt.Errorf("MEDIA_STORE: %w", err))
	}
	if c.MediaMaxPictures < 0 || c.MediaMaxBytes < 0 || c.MediaKeepUnused < 0 {
		errs = append(errs, errors.New(
			"MEDIA_MAX_PICTURES, MEDIA_MAX_BYTES, MEDIA_KEEP_UNUSED: write a number or a duration from 0 on"))
	}
	if c.MemoryBytes < 0 {
		errs = append(errs, errors.New("CATALOG_MEMORY_BYTES: write a number of bytes from 0 on"))
	}
	if c.RenderedBytes < 0 {
		errs = append(errs, errors.New("CATALOG_RENDERED_BYTES: write a number of bytes from 0 on"))
	}
	return errors.Join(errs...)
}

// openMedia returns the store of pictures, or nil if MEDIA_STORE is not set.
func (c *Config) openMedia() (files.Store, error) {
	if c.MediaStore == "" {
		return nil, nil
	}
	return files.Open(c.MediaStore)
}

// Migrate applies the migrations of catalog's tables that have not run yet.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, "catalog", migrations.FS)
}

// New returns the service, ready to run. New opens no connection.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

// copiesPrefix returns the prefix of the Redis keys of the copies ([fallback.Copies]). The prefix is
// derived from the database and its schema, so that deployments that share one Redis keep separate copies.
func (c *Config) copiesPrefix() (string, error) {
	database, err := pgx.ParseConfig(c.Postgres.URL)
	if err != nil {
		return "", c.Postgres.Validate()
	}
	of := sha256.Sum256(fmt.Appendf(nil, "%q %d %q %q", database.Host, database.Port, database.Database,
		c.Postgres.Schema))
	return fmt.Sprintf("slotmesh:last-known:%x:", of[:8]), nil
}

// checkReadable returns the readiness check. The service is ready if it can read the tables
// of PostgreSQL, or if PostgreSQL does not answer and Redis has copies. If PostgreSQL
// answers with an error, such as a missing table, the service is not ready.
func checkReadable(businesses *store.Store, copies *fallback.Copies) func(context.Context) error {
	return func(ctx context.Context) error {
		askCtx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := businesses.Ready(askCtx)
		if err != nil && (sqlstate.Of(err) == "" || sqlstate.IsUnavailable(err)) && copies.CheckAny(ctx) == nil {
			return nil
		}
		return err
	}
}

// placesPerBusiness returns how many price requests and renderings of one business
// may run at the same time: the number of processors, but at least two.
func placesPerBusiness() int { return max(2, runtime.GOMAXPROCS(0)) }

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	pool, err := s.Postgres(ctx, cfg.Postgres, "catalog")
	if err != nil {
		return err
	}
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	s.Limit(s.Limits(cfg.Limits, rdb).Pass)
	businesses := store.New(pool)
	prefix, err := cfg.copiesPrefix()
	if err != nil {
		return err
	}
	copies, sender := fallback.New(rdb, prefix, rt.Telemetry), changes.NewSender(rdb, rt.Telemetry)
	if cfg.staleTimeout > 0 {
		copies.SetTimeouts(cfg.staleTimeout)
		sender.SetTimeout(cfg.staleTimeout)
	}
	s.OnStop("copies", func(context.Context) error { return copies.Close() })
	s.Go("superseded copies", copies.Run)
	s.Ready("postgres", checkReadable(businesses, copies))
	versions := current.New(businesses, ready.Decoder(strings.TrimSuffix(cfg.PagesURL, "/")), copies, cfg.MemoryBytes,
		cfg.Server.Peers.Patience, rt.Clock,
		rt.Telemetry)
	s.Go("changes", func(ctx context.Context) error { return catalogclient.Listen(ctx, rdb, versions.Expire) })
	onChange := func(ctx context.Context, slug string, version int64) {
		versions.Expire(slug)
		copies.Supersede(ctx, slug, version)
		sender.Announce(ctx, slug)
	}

	public := newPublic(cfg, rt, s, versions)
	public.Mount(s.Public)
	public.MountForPeers(s.Internal)
	(&api.Names{Store: businesses}).Mount(s.Internal)
	(&api.Snapshots{Versions: versions}).Mount(s.Internal)
	// Booking waits for sales in progress before it confirms that it knows a new version. The
	// client `announcer` therefore has the timeout of requests, not the short timeout of /events.
	announcer := bookingclient.NewClient(s.Peer("booking", cfg.BookingURL,
		peer.WriteTimeout(cfg.Server.RequestTimeout)))
	owner := &usecase.Owner{Store: businesses, Bookings: announcer, OnChange: onChange, Clock: rt.Clock,
		Telemetry: rt.Telemetry, AnnounceTimeout: cfg.staleTimeout}
	(&api.Owner{Businesses: owner, Store: businesses}).Mount(s.Internal)
	if err := mountMedia(cfg, businesses, rt, s); err != nil {
		return err
	}
	eventapi.Serve(s.Server, catalogclient.Events,
		eventlog.New(pool, eventViews(), cfg.Events, rt.Clock, rt.Telemetry))
	s.Go("erasing events of removed businesses", func(ctx context.Context) error {
		return eraseEvents(ctx, businesses, rt.Clock, rt.Telemetry)
	})
	if err := docs.Mount(s.Public); err != nil {
		return err
	}
	return books.Mount(s.Public)
}

// newPublic returns the public endpoints, with clients of the services that know prices and sales.
func newPublic(cfg Config, rt server.Runtime, s *service.Service,
	versions *current.Cache[*ready.Version]) *api.Public {
	prices := s.Peer("pricing", cfg.PricingURL, peer.Timeout(cfg.PricingTimeout))
	sales := s.Peer("booking", cfg.BookingURL, peer.Timeout(cfg.BookingTimeout))
	ceilings := s.Peer("rental", cfg.RentalURL, peer.Timeout(cfg.RentalTimeout))
	return &api.Public{
		Versions: versions, Quoter: pricing.NewClient(prices), QuoteTimeout: cfg.PricingTimeout,
		Sales: bookingclient.NewClient(sales), SalesTimeout: cfg.BookingTimeout,
		Ceilings: rental.NewClient(ceilings), CeilingsTimeout: cfg.RentalTimeout,
		Rendered: rendered.NewCache(cfg.RenderedBytes),
		Places:   bulkhead.New(placesPerBusiness()),
		Clock:    rt.Clock,
	}
}

// mountMedia adds the routes of uploaded pictures, and the job that removes unused ones.
func mountMedia(cfg Config, businesses *store.Store, rt server.Runtime, s *service.Service) error {
	where, err := cfg.openMedia()
	if err != nil {
		return fmt.Errorf("MEDIA_STORE: %w", err)
	}
	pictures := (&usecase.Pictures{
		Store: businesses, Files: where, Processor: media.NewProcessor(),
		Limits:     store.PictureLimits{Pictures: cfg.MediaMaxPictures, Bytes: cfg.MediaMaxBytes},
		KeepUnused: cfg.MediaKeepUnused, Clock: rt.Clock, Telemetry: rt.Telemetry,
	}).Prepare()
	routes := &api.Media{Pictures: pictures}
	routes.Mount(s.Public)
	routes.MountForOwners(s.Internal)
	s.Go("removing unused pictures", pictures.Run)
	return nil
}
