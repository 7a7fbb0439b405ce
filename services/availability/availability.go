// Package availability is the service that computes when appointments
// can be booked, and which staff members can serve them.
//
// The service stores nothing. It computes each answer from the offer of the business and from the occupied time. The
// service caches the offer, which catalog publishes. For each calendar request, the service reads the occupied time
// from the booking service. When the booking service asks whether a start time can be booked, the occupied time is part
// of its request.
//
// The calendars list the bookable start times. POST /internal/bookable answers booking whether a start time can be
// booked. Calendars and answers to booking use the same function, slot.Find. Therefore exactly the listed start times
// can be booked. If the offer or the occupied time cannot be read, the field "computed" of the calendars'
// answers is false, but booking refuses the request.
package availability

import (
	"context"
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/services/availability/internal/api"
)

// Config holds availability's settings.
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
	// ReadTimeout limits how long a calendar waits in total for the offer and the occupied time, or for the
	// answer of the rental service. After ReadTimeout, the field "computed" of the calendar's answer is false.
	ReadTimeout time.Duration `env:"CALENDAR_TIMEOUT, default=1s"`
}

// Validate checks all settings. Each error names its environment variable.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Redis.Validate(), c.Limits.Validate()}
	if c.ReadTimeout < 0 {
		errs = append(errs, errors.New("CALENDAR_TIMEOUT: write a duration such as 1s, or 0s for no bound"))
	}
	return errors.Join(errs...)
}

// New returns the service, ready to run. New opens no connection.
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
	calendars := api.NewPublic(offers, bookingclient.NewClient(s.Peer("booking", cfg.BookingURL)), rt.Clock,
		rt.Telemetry)
	calendars.ReadTimeout = cfg.ReadTimeout
	calendars.Mount(s.Public)
	calendars.MountForPeers(s.Internal)
	api.NewRentalDates(calendars, rental.NewClient(s.Peer("rental", cfg.RentalURL))).Mount(s.Public)
	api.NewInternal(offers, rt.Clock).Mount(s.Internal)
	return nil
}
