// Package pages is the service that serves the web pages for customers (pages.md): the booking page of a business
// (/b/{slug}) and the page behind a customer's link (/m/{token}). The service also serves calendars at secret URLs, and
// the script with which other sites embed the booking page.
//
// The service stores no data. All choices of a visitor are in the URL or the form of the page, so any replica can
// answer any request. For each request, a handler (internal/handler) parses the request and calls one use case. The use
// case (internal/usecase) calls the services that own the data. The handler then renders one view (internal/view,
// templ). Every page works without scripts.
package pages

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/pages/internal/handler"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// Config holds the settings of the pages service.
type Config struct {
	Server server.Config
	Redis  redisx.Config
	Limits limits.Config
	// CatalogURL is the base URL of the catalog service's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// AvailabilityURL is the base URL of the availability service's internal port.
	AvailabilityURL string `env:"AVAILABILITY_URL, required"`
	// PricingURL is the base URL of the pricing service's internal port.
	PricingURL string `env:"PRICING_URL, required"`
	// BookingURL is the base URL of the booking service's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// RentalURL is the base URL of the rental service's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// NotificationsURL is the base URL of the notifications service's internal port.
	NotificationsURL string `env:"NOTIFICATIONS_URL, required"`
	// PagesURL is the public base URL of the pages, such as https://book.example.com. Canonical URLs begin with
	// PagesURL.
	PagesURL string `env:"PAGES_URL, required"`
	// MinFillTime is the minimum time that a person needs to fill in a form. If a form is submitted earlier, the
	// service assumes that a bot sent the form, and shows the form again. If MinFillTime is 0, the service does not
	// check the time.
	MinFillTime time.Duration `env:"FORM_AT_LEAST, default=1s"`
	// PayOrigins contains the origins of the payment providers' pages. The
	// pages allow browsers to redirect a submitted form to these origins.
	PayOrigins []string `env:"PAY_ORIGINS, default=https://checkout.stripe.com"`
	// OwnerURL is the base URL of the owners' pages. The page of the host links to it; if OwnerURL is empty, the page
	// has no such link.
	OwnerURL string `env:"OWNER_URL"`
	// DemoSlug is the slug of a business to which the page of the host links as an example. If DemoSlug is empty, or if
	// this business does not exist, the page has no such link.
	DemoSlug string `env:"DEMO_SLUG"`
}

// Validate checks all settings. Each error names the environment variable of the invalid setting.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Redis.Validate(), c.Limits.Validate()}
	base, err := url.Parse(c.PagesURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.RawQuery != "" ||
		base.Fragment != "" {
		errs = append(errs, errors.New("PAGES_URL: write the base of the customers' pages, such as "+
			"https://book.example.com, without a query"))
	}
	for _, origin := range c.PayOrigins {
		if u, err := url.Parse(origin); err != nil || u.Scheme+"://"+u.Host != origin {
			errs = append(errs, errors.New("PAY_ORIGINS: write origins such as https://checkout.stripe.com, "+
				"separated by commas"))
			break
		}
	}
	if c.OwnerURL != "" && !link.IsBaseURL(c.OwnerURL) {
		errs = append(errs, errors.New("OWNER_URL: write the base of the owner's side, such as "+
			"https://owner.example.com"))
	}
	if c.DemoSlug != "" && !request.IsSlug(c.DemoSlug) {
		errs = append(errs, errors.New("DEMO_SLUG: write the slug of a business, such as harbor-studio"))
	}
	if c.MinFillTime < 0 || c.MinFillTime > time.Minute {
		errs = append(errs, errors.New("FORM_AT_LEAST: write a duration such as 1s, at most 1m, or 0s for none"))
	}
	return errors.Join(errs...)
}

// Limits on reading lists of free starts from the availability service. For each business, only maxPlacesPerBusiness
// lists are read at the same time, because each list may take up to 16 MiB of memory (manifest.MaxSlotsBytes). A page
// waits at most maxPlaceWait until it may read a list. The timeout of a call to this service is as long as
// maxPlaceWait.
const (
	maxPlacesPerBusiness = 4
	maxPlaceWait         = 2 * time.Second
)

// New returns the pages service. New opens no connections; the running service does.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	gate := s.Limits(cfg.Limits, rdb)
	s.Limit(gate.Pass)
	catalog := s.Peer("catalog", cfg.CatalogURL)
	// The booking service runs all its checks before it answers, so a call may take long. The timeout of the call is a
	// tenth shorter than the timeout of the visitor's request. The rest is the time to send the response.
	bookings := s.Peer("booking", cfg.BookingURL, peer.Timeout(cfg.Server.RequestTimeout-cfg.Server.RequestTimeout/10))
	rentals := s.Peer("rental", cfg.RentalURL,
		peer.WriteTimeout(cfg.Server.RequestTimeout-cfg.Server.RequestTimeout/10))
	shop := &usecase.Shop{
		Snapshots: s.Offers(catalog, rdb), Catalog: catalogclient.NewAnswers(catalog, 0),
		Availability: catalogclient.NewAnswers(s.Peer("availability", cfg.AvailabilityURL), 0),
		Places:       usecase.Places{Businesses: bulkhead.New(maxPlacesPerBusiness), MaxWait: maxPlaceWait},
		Free:         usecase.NewFreeTimesCache(),
		Prices:       pricing.NewClient(s.Peer("pricing", cfg.PricingURL)),
		Bookings:     bookingclient.NewClient(bookings),
		RentalReader: catalogclient.NewAnswers(rentals, 0), Reservations: rental.NewClient(rentals), Clock: rt.Clock,
	}
	links := usecase.NewLinks(bookings, rentals, shop)
	own := &usecase.OwnSales{
		Sessions: bookingclient.NewSessions(bookings), Reservations: rental.NewClient(rentals),
		Notifications: notifications.NewClient(s.Peer("notifications", cfg.NotificationsURL)),
	}
	pages, err := handler.New(shop, links, handler.Config{
		Own: own, Decisions: bookingclient.NewDecisions(bookings), CountLink: gate.CountCustomerLink,
		Base: strings.TrimSuffix(cfg.PagesURL, "/"), Secrets: cfg.Server.Peers.Secrets, MinFillTime: cfg.MinFillTime,
		PayOrigins: cfg.PayOrigins, OwnerURL: cfg.OwnerURL, DemoSlug: cfg.DemoSlug,
	})
	if err != nil {
		return err
	}
	s.SetPublicURL(cfg.PagesURL)
	s.ShowFaults(pages.ShowFault)
	pages.Mount(s.Public)
	return nil
}
