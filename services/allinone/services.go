package allinone

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/availability"
	"github.com/slotmesh/slotmesh/services/booking"
	"github.com/slotmesh/slotmesh/services/catalog"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/front"
	"github.com/slotmesh/slotmesh/services/mcp"
	"github.com/slotmesh/slotmesh/services/notifications"
	"github.com/slotmesh/slotmesh/services/pages"
	"github.com/slotmesh/slotmesh/services/pricing"
	"github.com/slotmesh/slotmesh/services/rental"
)

// The names of the two parts whose public ports are settings of this process.
const (
	frontName   = "front"
	consoleName = "console"
)

// services contains all services in the order in which they start. They stop in reverse order.
var services = []service{
	adapt(server.Service[catalog.Config]{Name: "catalog", New: catalog.New, Migrate: catalog.Migrate}),
	adapt(server.Service[pricing.Config]{Name: "pricing", New: pricing.New}),
	adapt(server.Service[booking.Config]{Name: "booking", New: booking.New, Migrate: booking.Migrate}),
	adapt(server.Service[availability.Config]{Name: "availability", New: availability.New}),
	adapt(server.Service[rental.Config]{Name: "rental", New: rental.New, Migrate: rental.Migrate}),
	adapt(server.Service[notifications.Config]{Name: "notifications", New: notifications.New,
		Migrate: notifications.Migrate}),
	adapt(server.Service[mcp.Config]{Name: "mcp", New: mcp.New}),
	adapt(server.Service[pages.Config]{Name: "pages", New: pages.New}),
	adapt(server.Service[console.Config]{Name: consoleName, New: console.New, Migrate: console.Migrate}),
}

// service is a server.Service without the type parameter for its settings.
type service struct {
	name     string
	settings []string // names of the environment variables of the service's settings
	secrets  []string // names of those that are secrets
	check    func(context.Context, envconfig.Lookuper) error
	migrate  func(context.Context, envconfig.Lookuper) error
	open     func(context.Context, envconfig.Lookuper, server.Runtime) (*server.Server, error)
}

// adapt converts a server.Service to a service. The functions in the result read the service's settings from
// environment variables, as a separate process does.
func adapt[C any](s server.Service[C]) service {
	return service{
		name:     s.Name,
		settings: config.Names(new(C)),
		secrets:  config.Secrets(new(C)),
		check: func(ctx context.Context, env envconfig.Lookuper) error {
			var cfg C
			return config.Load(ctx, &cfg, env)
		},
		migrate: func(ctx context.Context, env envconfig.Lookuper) error {
			var cfg C
			if s.Migrate == nil {
				return nil
			}
			if err := config.Load(ctx, &cfg, env); err != nil {
				return err
			}
			return s.Migrate(ctx, cfg)
		},
		open: func(ctx context.Context, env envconfig.Lookuper, rt server.Runtime) (*server.Server, error) {
			var cfg C
			if err := config.Load(ctx, &cfg, env); err != nil {
				return nil, err
			}
			return s.New(ctx, cfg, rt)
		},
	}
}

// partNames returns the names of the front and of all services, in the order in which their ports are opened. Parts
// with a configured public port come first. Otherwise the system could assign a configured port to another part as a
// free port.
func partNames() []string {
	names := []string{frontName, consoleName}
	for _, s := range services {
		if s.name != consoleName {
			names = append(names, s.name)
		}
	}
	return names
}

// loopback is the network from which the front sends requests. The services trust the client address in these requests.
const loopback = "127.0.0.0/8"

// environment returns the settings of a service. They contain the URLs of the stores, the secret of the service, and
// hashes of the other services' secrets. They also contain the internal URLs, as <NAME>_URL, of the services that other
// services call. All other settings have their default values.
func (p *Process) environment(name string) envconfig.Lookuper {
	return p.environmentWith(name, p.stores.DatabaseURL, p.stores.RedisURL)
}

// environmentWith returns the settings of a service, with the given URLs of PostgreSQL and Redis.
func (p *Process) environmentWith(name, databaseURL, redisURL string) envconfig.Lookuper {
	env := map[string]string{
		"DATABASE_URL":         databaseURL,
		"REDIS_URL":            redisURL,
		"PEER_SECRETS":         p.PeerSecrets[name],
		"PEER_CALLERS":         peer.CallersSetting(p.PeerSecrets, name),
		"LINK_SECRETS":         p.linkSecret,
		"TRUSTED_PROXIES":      p.listTrustedProxies(name),
		"SLOTMESH_ADMIN_TOKEN": p.adminTokens,
	}
	for _, row := range components.All {
		for _, name := range row.Calls {
			env[strings.ToUpper(name)+"_URL"] = p.InternalURL(name)
		}
	}
	for name, value := range map[string]string{
		"STRIPE_SECRET_KEY": p.cfg.StripeSecretKey, "STRIPE_WEBHOOK_SECRET": p.cfg.StripeWebhookSecret,
		"STRIPE_API_BASE": p.cfg.StripeAPIBase,
		"PEER_TIMEOUT":    p.cfg.PeerTimeout, "PAGES_URL": cmp.Or(p.cfg.PagesURL, p.PublicURL),
		"OWNER_URL": cmp.Or(p.cfg.OwnerURL, p.AdminURL), "PUBLIC_URL": p.PublicURL,
		"SMTP_URL": p.cfg.SMTPURL, "SMTP_ALLOW_PLAINTEXT": p.cfg.SMTPAllowPlaintext, "MAIL_FROM": p.cfg.MailFrom,
		"SMTP_PREVIEW": p.smtpPreview(), "DEMO_SLUG": p.findDemoSlug(),
	} {
		if value != "" {
			env[name] = value
		}
	}
	if p.home != nil { // it is nil only in tests of this function
		env[mediaSetting] = filepath.Join(p.home.Path, mediaFolder)
	}
	maps.Copy(env, p.cfg.Settings)
	for name, n := range map[string]int{
		"PUBLIC_LIMIT_PER_MINUTE":       p.cfg.PublicLimitPerMinute,
		"ADMIN_WRONG_TOKENS_PER_MINUTE": p.cfg.WrongTokensPerMinute,
	} {
		if n != 0 {
			env[name] = strconv.Itoa(n)
		}
	}
	return envconfig.MapLookuper(env)
}

// listTrustedProxies returns the networks whose headers a service trusts. Requests to the console do not pass through
// the front, so the console trusts the same proxies as the front.
func (p *Process) listTrustedProxies(name string) string {
	if name == consoleName {
		return strings.Join(append([]string{loopback}, p.cfg.TrustedProxies...), ",")
	}
	return loopback
}

// findDemoSlug returns the slug of the demo business, or "" if this process has none.
func (p *Process) findDemoSlug() string {
	if p.cfg.WithDemo {
		return demoSlug
	}
	return ""
}

// frontMargin is the time by which the front's deadline is later than the services' deadlines. The client therefore
// gets the answer of the service, even if the service answers shortly before its deadline.
const frontMargin = 2 * time.Second

func loadFrontConfig(ctx context.Context, cfg Config, peerSecret string, upstreams []string) (front.Config, error) {
	var c front.Config
	env := maps.Clone(cfg.Settings)
	if env == nil {
		env = map[string]string{}
	}
	env["PEER_SECRETS"] = peerSecret
	env["UPSTREAMS"] = strings.Join(upstreams, ",")
	env["TRUSTED_PROXIES"] = strings.Join(cfg.TrustedProxies, ",")
	if cfg.PublicLimitPerMinute != 0 {
		env["PUBLIC_LIMIT_PER_MINUTE"] = strconv.Itoa(cfg.PublicLimitPerMinute)
	}
	if err := config.Load(ctx, &c, envconfig.MapLookuper(env)); err != nil {
		return front.Config{}, err
	}
	c.Server.RequestTimeout += frontMargin
	return c, nil
}
