// Package rental is the service that owns rental reservations, their pick-ups and their returns. It answers how many
// units of a rental are free (interface.md, /rental-availability and /rental-available-dates; semantics.md §4).
//
// The catalog service publishes the offer of each business: its rentals and their numbers of units.
// The rental service caches the offers. One function, the sweep of internal/occupancy, counts free
// units from the offer and from the reservations in the service's tables. Both the calendars and
// every new reservation use this function, so only units that the calendars show can be reserved.
//
// Requests that reserve units of the same rental run one after another, because each request
// locks the rental's row (internal/store). The booking service charges customers who pay
// online, and reports the result of each payment to this service (internal/payment).
package rental

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog/eventapi"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/services/rental/internal/api"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
	"github.com/slotmesh/slotmesh/services/rental/migrations"
)

// Config holds the settings of the rental service.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	Redis    redisx.Config
	Limits   limits.Config
	Events   eventlog.Config
	// CatalogURL is the base URL of the catalog service's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// PricingURL is the base URL of the pricing service's internal port.
	PricingURL string `env:"PRICING_URL, required"`
	// BookingURL is the base URL of the booking service's internal port. The booking service keeps the payments of
	// reservations.
	BookingURL string `env:"BOOKING_URL, required"`
	// Links holds the settings of the links with which customers open their reservations.
	Links link.Config
}

// Validate checks all settings. The error joins the faults of all
// invalid settings, and each fault names its environment variable.
func (c *Config) Validate() error {
	return errors.Join(c.Server.Validate(), c.Postgres.Validate(), c.Redis.Validate(), c.Limits.Validate(),
		c.Events.Validate(), c.Links.Validate())
}

// Migrate applies the migrations of rental's schema to the database.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, "rental", migrations.FS)
}

// New returns the rental service, ready to run. New opens no connection; the service connects when it runs.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	sentences, err := message.Load()
	if err != nil {
		return err
	}
	links, err := cfg.Links.Open()
	if err != nil {
		return err
	}
	pool, err := s.Postgres(ctx, cfg.Postgres, "rental")
	if err != nil {
		return err
	}
	records := store.New(pool)
	s.Ready("postgres", records.Ready)

	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	s.Limit(s.Limits(cfg.Limits, rdb).Pass)

	catalog := s.Peer("catalog", cfg.CatalogURL)
	offers := s.Offers(catalog, rdb)
	s.AddErasureJob(catalog, records.Erase)
	s.AddRetentionJob(catalog, offers, pool, records)

	eventapi.Serve(s.Server, rental.Events,
		eventlog.New(pool, api.ShowEvents(records), cfg.Events, rt.Clock, rt.Telemetry))

	public := api.NewPublic(offers, records, sentences, rt.Clock, rt.Telemetry)
	public.Mount(s.Public)
	public.MountForPeers(s.Internal)
	prices := pricing.NewClient(s.Peer("pricing", cfg.PricingURL))
	payments := bookingclient.NewReservationPayments(s.Peer("booking", cfg.BookingURL,
		peer.WriteTimeout(cfg.Server.RequestTimeout)))
	news := usecase.NewReconciliation(records, payments, rt.Clock, rt.Telemetry)
	byID := catalogclient.NewByID(catalog, offers)
	followers := usecase.NewOfferSync(records, offers, byID, rt.Clock, rt.Telemetry)
	s.Go("listen for new offers", func(ctx context.Context) error {
		return catalogclient.Listen(ctx, rdb, followers.RecordChange)
	})
	addReconciliation(s, pool, news, followers)
	owner := usecase.NewOwner(offers, records, prices, payments, links, cfg.Server.RequestTimeout, rt.Clock,
		rt.Telemetry)
	api.NewInternal(owner, news, offers, records, links, rt.Clock).Mount(s.Internal)
	customerLinks := usecase.NewCustomerLinks(records, byID, payments, news, rt.Clock)
	api.NewCustomerLinks(customerLinks).Mount(s.Internal)
	sessions := bookingclient.NewSessions(s.Peer("booking", cfg.BookingURL))
	api.NewCustomerSessions(usecase.NewCustomerSessions(records, sessions, customerLinks, links),
		offers).Mount(s.Internal)
	return nil
}

// reconcileInterval is the interval at which the jobs ask the booking service about payments; one call covers many
// payments. A customer who returns from the provider's payment page does not wait for this interval: the page behind
// the customer's link asks the booking service immediately.
const reconcileInterval = 5 * time.Second

// addReconciliation adds the jobs that bring reservations in line with payments and offers. Each is a job of its own, so
// that none delays the others.
func addReconciliation(s *service.Service, pool *pgxpool.Pool, news *usecase.Reconciliation,
	offers *usecase.OfferSync) {
	for name, run := range map[string]func(context.Context) error{
		"refresh payments":             news.RefreshPayments,
		"store payment reports":        news.StoreReports,
		"close payments":               news.ClosePayments,
		"uncount ended reservations":   news.UncountReservations,
		"apply offers to reservations": offers.RunOnce,
	} {
		s.GoAsLeader(pool, name, periodic.Job{Every: reconcileInterval, Timeout: time.Minute,
			FailureMessage: name + " failed, and is done again", Do: run})
	}
}
