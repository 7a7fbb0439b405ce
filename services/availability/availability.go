// Package availability is the service that says when appointments can be booked, and by whom.
//
// It owns nothing: an answer is computed from the offer, which catalog keeps and this service caches, and from the
// occupied time, which booking keeps and is asked for every time. Both calendars and booking's question "can this start
// be booked" go through one function, slot.Find: what is listed can be booked and nothing else can. Where something
// cannot be read, the calendars answer computed false; only booking refuses.
package availability

import (
	"context"
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/limits"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/redisx"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/service"
	"github.com/slotmesh/slotmesh/services/availability/internal/api"
)

// Config are availability's settings.
type Config struct {
	Server server.Config
	Redis  redisx.Config
	Limits limits.Config
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// BookingURL is the base URL of booking's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// RentalURL is the base URL of rental's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// ReadWithin bounds what a calendar waits for offer and occupied time together, or for rental; after it the answer is computed false.
	ReadWithin time.Duration `env:"CALENDAR_TIMEOUT, default=1s"`
}

// Validate checks the settings as a whole; each fault names its variable.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Redis.Validate(), c.Limits.Validate()}
	if c.ReadWithin < 0 {
		errs = append(errs, errors.New("CALENDAR_TIMEOUT: write a duration such as 1s, or 0s for no bound"))
	}
	return errors.Join(errs...)
}

// New returns the service, ready to run. It connects to nothing yet.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	s.Limit(s.Limits(cfg.Limits, rdb).Pass)

	offers := s.Offers(s.Peer("catalog", cfg.CatalogURL), rdb)
	calendars := api.NewPublic(offers, bookingclient.NewClient(s.Peer("booking", cfg.BookingURL)), rt.Clock, rt.Telemetry)
	calendars.ReadWithin = cfg.ReadWithin
	calendars.Mount(s.Public)
	calendars.MountForPeers(s.Internal)
	api.NewRentalDates(calendars, rental.NewClient(s.Peer("rental", cfg.RentalURL))).Mount(s.Public)
	api.NewInternal(offers, rt.Clock).Mount(s.Internal)
	return nil
}
