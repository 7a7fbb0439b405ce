// Package booking is the service that owns bookings with the time they occupy, and orders of tickets. The
// service also owns the charges of bookings, orders of tickets and rental reservations. It also owns API keys
// and calendar feeds. The public port of the service serves POST /book and the webhooks of payment providers.
//
// The service uses a cached offer and a cached API key to decide a request to book. The statement that writes the
// booking checks that the offer and the key are still valid. The service reads the occupied time and sends it to
// availability, which returns the assignments that can serve the start. Pricing returns the price.
//
// An exclusion constraint in the database finally decides whether the time is free, because only
// the database sees the requests of all replicas. The write of a booking is one statement
// (internal/store). Therefore a request that loses a race costs one round trip and writes nothing.
//
//	internal/request  reads the body (pure)               internal/store  SQL
//	internal/state    statuses and transitions (pure)     internal/api    HTTP, public and internal
//	internal/usecase  the operations: read, decide, write, retry
//	internal/calendar bookings as text/calendar (pure)
//	internal/payment  the port to payment providers, the amount due, and the adapters
package booking

import (
	"context"
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog/eventapi"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/booking/internal/api"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
	"github.com/slotmesh/slotmesh/services/booking/migrations"
)

// Config holds booking's settings.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	Redis    redisx.Config
	Limits   limits.Config
	Events   eventlog.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// AvailabilityURL is the base URL of availability's internal port.
	AvailabilityURL string `env:"AVAILABILITY_URL, required"`
	// PricingURL is the base URL of pricing's internal port.
	PricingURL string `env:"PRICING_URL, required"`
	// Links are the settings of customers' links.
	Links link.Config

	// StripeSecretKey is the secret key of Slotmesh's own Stripe
	// account. If it is empty, only the sandbox provider is connected.
	StripeSecretKey string `env:"STRIPE_SECRET_KEY" secret:"true"`
	// StripeWebhookSecret is the secret with which Stripe signs its webhook requests.
	StripeWebhookSecret string `env:"STRIPE_WEBHOOK_SECRET" secret:"true"`
	// StripeAPIBase is the URL of Stripe's API.
	StripeAPIBase string `env:"STRIPE_API_BASE, default=https://api.stripe.com"`
	// PaymentTimeout is the timeout of each call to a payment provider.
	PaymentTimeout time.Duration `env:"PAYMENT_TIMEOUT, default=5s"`
	// PaymentExpiresAfter is the time that a customer has to pay. If
	// the customer does not pay in time, the booking is cancelled.
	PaymentExpiresAfter time.Duration `env:"PAYMENT_EXPIRES_AFTER, default=30m"`
}

// Validate checks all settings. Each error names the environment variable with the invalid value.
func (c *Config) Validate() error {
	return errors.Join(c.Server.Validate(), c.Postgres.Validate(), c.Redis.Validate(), c.Limits.Validate(),
		c.Events.Validate(), c.Links.Validate(), c.validatePayments())
}

// Migrate applies the migrations of booking's schema to the database.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, "booking", migrations.FS)
}

// New returns the booking service, ready to run. New opens no connection; the service connects when it runs.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	links, err := cfg.Links.Open()
	if err != nil {
		return err
	}
	pool, err := s.Postgres(ctx, cfg.Postgres, "booking")
	if err != nil {
		return err
	}
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	limiter := s.Limits(cfg.Limits, rdb)
	catalogPeer := s.Peer("catalog", cfg.CatalogURL)
	offers := s.Offers(catalogPeer, rdb)

	records := store.New(pool)
	s.Ready("postgres", records.Ready)
	options := paymentOptions(cfg, s.Server, rt.Clock)
	payments := usecase.NewPayments(records, options, rt.Clock, rt.Telemetry)
	api.MountWebhooks(s.Public, options.Providers, payments)
	// The job also runs if only the sandbox is connected, because it also frees the time of
	// bookings whose charge was never opened. Without the job, this time would stay occupied.
	s.Go("payments", payments.Run)
	booker := usecase.NewBooker(usecase.Dependencies{
		Offers: offers, Availability: availability.NewClient(s.Peer("availability", cfg.AvailabilityURL)),
		Pricing: pricing.NewClient(s.Peer("pricing", cfg.PricingURL)), Bookings: records,
		Payments: options, HandleNotice: payments.HandleNotice, Links: links, Clock: rt.Clock,
		RequestTimeout: cfg.Server.RequestTimeout, Telemetry: rt.Telemetry,
	})
	public := api.NewPublic(records, offers, booker, limiter, links, rt.Clock, rt.Telemetry)
	s.LimitBy(public.Limit)
	public.Mount(s.Public)
	public.MountAgents(s.Internal)
	cancellations := usecase.NewCancellations(records, options.Providers, rt.Clock)
	owner := usecase.NewOwner(records, offers, links, rt.Clock)
	api.NewInternal(owner, booker, cancellations, records, links, rt.Clock).Mount(s.Internal)
	api.NewReservationPayments(usecase.NewReservationPayments(records, booker)).Mount(s.Internal)
	businesses := catalogclient.NewByID(catalogPeer, offers)
	customerLinks := usecase.NewCustomerLinks(records, businesses, booker, cancellations, rt.Clock)
	views := api.NewCustomerLinks(customerLinks, links)
	views.Mount(s.Internal)
	sessions := usecase.NewCustomerSessions(records, businesses, customerLinks, links)
	api.NewCustomerSessions(sessions, views).Mount(s.Internal)
	api.NewDecisions(usecase.NewDecisions(records, offers, businesses, cancellations, owner), links).Mount(s.Internal)
	feeds := usecase.NewFeeds(records, offers, businesses, rt.Clock, rt.Telemetry)
	api.NewFeeds(feeds, records, links).Mount(s.Internal)
	eventapi.Serve(s.Server, bookingclient.Events,
		eventlog.New(pool, api.ShowEvents(records, links), cfg.Events, rt.Clock, rt.Telemetry))
	s.AddErasureJob(catalogPeer, records.Erase)
	s.AddRetentionJob(catalogPeer, offers, pool, records)
	s.GoAsLeader(pool, "apply offers to sales",
		usecase.NewOfferSync(records, businesses, rt.Clock, rt.Telemetry).Periodic())
	s.GoAsLeader(pool, "archive occupied time", usecase.NewArchiveJob(records, rt.Clock, rt.Telemetry).Periodic())
	s.Go("sweep", func(ctx context.Context) error { return sweep(ctx, records, rt.Clock, rt.Telemetry) })
	return nil
}

// sweepInterval is the interval between two removals of expired rows.
// Expired rows have no effect. Therefore frequent removals are not necessary.
const sweepInterval = 10 * time.Minute

// sweep removes expired sign-ins of customers, changed addresses whose customers have a message, and expired idempotency records of the previous release, every
// [sweepInterval], until `ctx` ends. If the database is unavailable, sweep retries after the next interval.
func sweep(ctx context.Context, records *store.Store, now clock.Clock, tel *telemetry.Telemetry) error {
	return periodic.Job{Every: sweepInterval, Timeout: time.Minute,
		FailureMessage: "expired sign-ins and idempotency records stay for now",
		Do: func(ctx context.Context) error {
			return errors.Join(records.SweepFormerRecords(ctx, now.Now()), records.SweepSignIns(ctx, now.Now()),
				records.SweepAddressChanges(ctx, now.Now()))
		}}.Run(ctx, tel.Logger)
}
