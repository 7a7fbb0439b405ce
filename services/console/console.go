// Package console is the service for owners: it has the owner's pages and the admin API of admin.md.
//
// Console stores people, their roles in businesses, their sessions and the tokens of the admin API. The table of
// permissions in internal/identity/access determines the rights of each role. Console reads and writes offers through
// the internal API of the catalog service. It uses the internal API of booking for API keys and bookings, and the
// internal API of rental for reservations. Console checks the syntax of an owner's request and logs every change. Only
// owners and operators can reach the public port of console, because the customers' ingress never routes requests to
// this port.
//
// The `slotmesh` command (cmd/slotmesh, internal/command) uses only the admin API.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/docs"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/api"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/pages"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/rooms"
	"github.com/slotmesh/slotmesh/services/console/migrations"
)

// Config has the settings of console.
type Config struct {
	Server   server.Config
	Postgres postgres.Config
	Redis    redisx.Config
	Limits   limits.Config
	// AdminToken is a bearer token that has full rights in the admin API. A token has 24 or more visible ASCII
	// characters. While a new token replaces an old one, AdminToken has the old and the new token, separated by a
	// comma.
	AdminToken string `env:"SLOTMESH_ADMIN_TOKEN, required" secret:"true"`
	// CatalogURL is the base URL of catalog's internal port.
	CatalogURL string `env:"CATALOG_URL, required"`
	// BookingURL is the base URL of booking's internal port.
	BookingURL string `env:"BOOKING_URL, required"`
	// AvailabilityURL is the base URL of availability's internal port.
	AvailabilityURL string `env:"AVAILABILITY_URL, required"`
	// RentalURL is the base URL of rental's internal port.
	RentalURL string `env:"RENTAL_URL, required"`
	// NotificationsURL is the base URL of notifications' internal port.
	NotificationsURL string `env:"NOTIFICATIONS_URL, required"`
	// PagesURL is the public base URL of the customers' pages, such as https://book.example.com. Console shows this URL
	// to owners.
	PagesURL string `env:"PAGES_URL, required"`
	// PublicURL is the public base URL of the API and of MCP. If PublicURL is empty, the base URL is PagesURL.
	PublicURL string `env:"PUBLIC_URL"`
	// PublishTimeout is the timeout of one request to catalog that publishes a manifest. In this time, catalog must
	// parse, check and store a manifest of up to 5 MB.
	PublishTimeout time.Duration `env:"PUBLISH_TIMEOUT, default=8s"`
	// OwnerURL is the public base URL of the owner's pages, such as https://owner.example.com. Links in mails begin
	// with this URL, and passkeys are bound to its host. If OwnerURL is empty, console sends no mails about accounts,
	// and people cannot use passkeys.
	OwnerURL string `env:"OWNER_URL"`
	// PasswordSignIn is true if people may sign in with a password or a passkey.
	PasswordSignIn bool `env:"PASSWORD_SIGN_IN, default=true"`
	// SignUp is "open" if everyone may create an account and businesses. If SignUp is "invitation", an account needs an
	// invitation, and only operators create businesses.
	SignUp string `env:"SIGN_UP, default=invitation"`
	OIDC   oidc.Config
	Events eventlog.Config
}

// checkTokens returns an error if a comma-separated list of admin tokens has an invalid token. The error does not show
// the token.
func checkTokens(list string) error {
	for token := range strings.SplitSeq(list, ",") {
		if err := config.CheckSecret(token, 24); err != nil {
			return fmt.Errorf("SLOTMESH_ADMIN_TOKEN: %w", err)
		}
	}
	return nil
}

// Validate returns an error if a setting is invalid or contradicts another setting. The error names the environment
// variable of the setting, and never shows a token.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate(), c.Postgres.Validate(), c.Redis.Validate(), c.Limits.Validate(),
		c.OIDC.Validate(), c.Events.Validate(), checkTokens(c.AdminToken)}
	for name, address := range map[string]string{"PAGES_URL": c.PagesURL,
		"PUBLIC_URL": cmp.Or(c.PublicURL, c.PagesURL)} {
		if !link.IsBaseURL(address) {
			errs = append(errs, fmt.Errorf("%s: write a public base such as https://book.example.com, without a query",
				name))
		}
	}
	if c.PublishTimeout <= 0 {
		errs = append(errs, fmt.Errorf("PUBLISH_TIMEOUT: %s is no time; write a duration above 0, such as 8s",
			c.PublishTimeout))
	}
	if c.OIDC.IsEnabled() && c.OwnerURL == "" {
		errs = append(errs, errors.New("OWNER_URL: with OIDC_ISSUER, write the base of the owner's side, which the "+
			"provider leads back to"))
	}
	errs = append(errs, c.checkSignUp())
	if c.OwnerURL != "" {
		errs = append(errs, checkOwnerURL(c.OwnerURL))
	}
	return errors.Join(errs...)
}

// openSignUp is the value of SIGN_UP with which everyone may create an account.
const openSignUp = "open"

// checkSignUp returns an error if SIGN_UP is invalid, or if it is open and new people could not verify their
// address or sign in.
func (c *Config) checkSignUp() error {
	switch {
	case c.SignUp == openSignUp && c.OwnerURL == "":
		return errors.New("OWNER_URL: with SIGN_UP=open, write the base of the owner's side, with which the mailed " +
			"links begin")
	case c.SignUp == openSignUp && !c.PasswordSignIn && !c.OIDC.IsEnabled():
		return errors.New("SIGN_UP: people who create an account need a way to sign in; set PASSWORD_SIGN_IN=true or " +
			"OIDC_ISSUER, or write invitation")
	case c.SignUp == openSignUp || c.SignUp == "invitation" || c.SignUp == "":
		return nil
	}
	return errors.New("SIGN_UP: write invitation or open")
}

// checkOwnerURL returns an error if the base URL of the owner's pages is invalid.
func checkOwnerURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		return errors.New("OWNER_URL: write the base of the owner's side, without a path, such as " +
			"https://owner.example.com")
	}
	return nil
}

// addresses returns the public base URLs that the pages show to owners.
func (c *Config) addresses() pages.Addresses {
	return pages.Addresses{Pages: strings.TrimSuffix(c.PagesURL, "/"),
		Public: strings.TrimSuffix(cmp.Or(c.PublicURL, c.PagesURL), "/")}
}

// Migrate creates console's tables, or updates them to the present schema.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Postgres, "console", migrations.FS)
}

// New returns the console service, which the caller then runs. New does not connect to the database or to other
// services; the running service does.
func New(ctx context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	// The limit for request bodies is larger than in other services, because a body may be a picture or a manifest.
	cfg.Server.PublicBodyLimit = api.MaxBody
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(ctx, cfg, rt, s) })
}

// openProvider returns the identity provider for sign-in, or nil if the settings name no identity provider.
func openProvider(cfg Config, s *service.Service) *oidc.Provider {
	if !cfg.OIDC.IsEnabled() {
		return nil
	}
	provider := oidc.New(cfg.OIDC, cfg.OwnerURL+signin.CallbackPath, cfg.Server.Peers.Timeout)
	s.OnStop("identity provider", func(context.Context) error { provider.Close(); return nil })
	return provider
}

// openPeers returns the clients with which console calls the other services.
func openPeers(cfg Config, rt server.Runtime, s *service.Service, records *store.Store,
	team *eventlog.Log) *peers.Peers {
	patient := peer.WriteTimeout(cfg.Server.RequestTimeout) // timeout of a request that changes data in another service
	catalog, bookings, rentals := s.Peer("catalog", cfg.CatalogURL), s.Peer("booking", cfg.BookingURL, patient),
		s.Peer("rental", cfg.RentalURL, patient)
	s.AddErasureJob(catalog, records.Erase)
	return &peers.Peers{
		Businesses: catalogclient.NewOwner(s.Peer("catalog", cfg.CatalogURL, peer.Timeout(cfg.PublishTimeout))),
		// Offers has a shorter timeout than Businesses, because only requests of Businesses publish manifests, which
		// takes longer.
		Offers:   catalogclient.NewClient(catalog, rt.Telemetry),
		Bookings: bookingclient.NewClient(bookings),
		Rentals:  rental.NewClient(rentals),
		// Availability has the long timeout of publishing, because checking a plan of changes can include thousands of
		// bookings.
		Availability: s.Peer("availability", cfg.AvailabilityURL, peer.Timeout(cfg.PublishTimeout)),
		Audit: []peers.EventLister{
			eventclient.New(catalog, catalogclient.Events),
			eventclient.New(bookings, bookingclient.Events),
			eventclient.New(rentals, rental.Events),
		},
		TeamLog:       team,
		Notifications: notifications.NewClient(s.Peer("notifications", cfg.NotificationsURL, patient)),
		Clock:         rt.Clock,
		Logger:        rt.Telemetry.Logger,
	}
}

func assemble(ctx context.Context, cfg Config, rt server.Runtime, s *service.Service) error {
	pool, err := s.Postgres(ctx, cfg.Postgres, "console")
	if err != nil {
		return err
	}
	records := store.New(pool, rt.Clock)
	s.Ready("postgres", records.Ready)
	rdb, err := s.Redis(ctx, cfg.Redis)
	if err != nil {
		return err
	}
	team := eventlog.New(pool, showEvents(), cfg.Events, rt.Clock, rt.Telemetry)
	s.Go("removing old events", team.Run)
	services := openPeers(cfg, rt, s, records, team)
	passkeys, err := passkey.NewSite(cfg.OwnerURL)
	if err != nil {
		return err
	}
	gate := s.Limits(cfg.Limits, rdb)
	accounts := identity.NewAccounts(identity.AccountsConfig{
		Store: records, Passwords: password.NewHasher(), Mails: services.Notifications, Limits: gate,
		OwnerURL: cfg.OwnerURL, AllowsPasswords: cfg.PasswordSignIn, OpensSignUp: cfg.SignUp == openSignUp,
		Passkeys: passkeys, Provider: openProvider(cfg, s), Businesses: services.Businesses,
		PeerTimeout: cfg.Server.Peers.Timeout, Clock: rt.Clock, Telemetry: rt.Telemetry,
	})
	all := rooms.New(services, records, accounts)
	s.Go("mails about accounts", accounts.KeepMailing)
	s.Public.Use(api.LimitBodies)
	admin := &api.Admin{Token: api.NewToken(cfg.AdminToken), Limits: gate, Rooms: all}
	admin.Mount(s.Public)
	(&api.Internal{Accounts: accounts}).Mount(s.Internal)
	if err := errors.Join(admin.MountDescription(s.Public), docs.Mount(s.Public)); err != nil {
		return err
	}
	entrance, err := signin.New(accounts)
	if err != nil {
		return err
	}
	entrance.Mount(s.Public)
	s.Go("sweep of ended sessions", accounts.KeepSweeping)
	owners, err := pages.New(all, cfg.addresses(), strings.Split(cfg.AdminToken, ",")...)
	if err != nil {
		return err
	}
	owners.Mount(s.Public, entrance.Admit)
	s.SetPublicURL(cfg.OwnerURL)
	s.ShowFaults(func(c *fiber.Ctx, f *fault.Error) error {
		// Programs call the paths below /admin and /device, so console sends the fault as JSON.
		if strings.HasPrefix(c.Path(), "/admin") || strings.HasPrefix(c.Path(), "/device/") {
			return f
		}
		return owners.ShowFault(c, f)
	})
	return nil
}
