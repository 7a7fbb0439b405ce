package allinone

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings of the process.
type Config struct {
	// Port is the port of the public address; 0 means a free port.
	Port int `env:"PORT, default=8080"`
	// AdminPort is the port of the admin address; 0 means a free port.
	AdminPort int `env:"ADMIN_PORT, default=8090"`
	// OpsPort is the port of readiness and metrics of all services; 0: each service serves them at its own port only.
	OpsPort int `env:"OPS_PORT"`
	// Host is the address of this machine for PORT and ADMIN_PORT; empty: the loopback address.
	Host string `env:"HOST, default=127.0.0.1"`
	// Home is the folder for all data that outlives the process.
	Home string `env:"SLOTMESH_HOME, default=.slotmesh"`
	// AdminToken is the token of the admin API. If it is empty, the first start creates one and stores it in the home.
	AdminToken string `env:"SLOTMESH_ADMIN_TOKEN"`
	// WithDemo publishes the demo business.
	WithDemo bool `env:"SLOTMESH_DEMO, default=true"`
	// Now is the initial time of the services' clock, in RFC 3339; empty: the machine's clock.
	Now string `env:"SLOTMESH_NOW"`
	// DatabaseURL is the URL of a PostgreSQL to use; empty: one is started.
	DatabaseURL string `env:"DATABASE_URL"`
	// RedisURL is the URL of a Redis to use; empty: one is started.
	RedisURL string `env:"REDIS_URL"`
	// StripeSecretKey, StripeWebhookSecret and StripeAPIBase connect Stripe. They are booking's settings of these
	// names.
	StripeSecretKey     string `env:"STRIPE_SECRET_KEY"`
	StripeWebhookSecret string `env:"STRIPE_WEBHOOK_SECRET"`
	StripeAPIBase       string `env:"STRIPE_API_BASE"`
	// PagesURL is the public base URL of the pages. It is passed to booking, rental and pages as their
	// setting PAGES_URL. If it is empty, it is the public address.
	PagesURL string `env:"PAGES_URL"`
	// OwnerURL is the base URL of the owner's pages. It is passed to console as its setting OWNER_URL. If
	// it is empty, it is the admin address.
	OwnerURL string `env:"OWNER_URL"`
	// SMTPURL, SMTPAllowPlaintext and MailFrom are passed to notifications as its settings of these names.
	// Without SMTP_URL, this process keeps the mail and shows it at MAIL_PORT.
	SMTPURL            string `env:"SMTP_URL"`
	SMTPAllowPlaintext string `env:"SMTP_ALLOW_PLAINTEXT"`
	MailFrom           string `env:"MAIL_FROM"`
	// MailPort is the port of the page that shows the mail; 0 means a free port.
	MailPort int `env:"MAIL_PORT, default=8025"`
	// PublicLimitPerMinute and WrongTokensPerMinute are passed to libs/platform/limits as its settings of these
	// names. 0 means their defaults.
	PublicLimitPerMinute int `env:"PUBLIC_LIMIT_PER_MINUTE"`
	WrongTokensPerMinute int `env:"ADMIN_WRONG_TOKENS_PER_MINUTE"`
	// TrustedProxies are the networks (CIDRs) whose X-Forwarded-For, -Host and -Proto headers the front trusts.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// PeerTimeout is the time limit of a service's call to another; empty: the default of the services.
	PeerTimeout string `env:"PEER_TIMEOUT"`
	// Log is the destination of the services' logs: stderr, or file for slotmesh.log in the home. If it is
	// empty, it is file when standard output is a terminal, otherwise stderr.
	Log string `env:"LOG"`
	// Install is yes (install packages without a question), no (never) or empty (ask). If it is empty, CI=true means
	// yes.
	Install string `env:"SLOTMESH_INSTALL"`
	CI      string `env:"CI"`
	// Settings are additional settings of all services, by variable. They override those that this process
	// makes. Tests use them for timeouts that are long enough for a slow machine.
	Settings map[string]string

	Telemetry telemetry.Config
}

// Validate checks the settings together. Each error names its variable.
func (c *Config) Validate() error {
	var errs []error
	for name, port := range map[string]int{"PORT": c.Port, "ADMIN_PORT": c.AdminPort, "MAIL_PORT": c.MailPort,
		"OPS_PORT": c.OpsPort} {
		if port < 0 || port > 65535 {
			errs = append(errs, fmt.Errorf("%s: %d is not a port; write one from 1 to 65535", name, port))
		}
	}
	if c.Port == c.AdminPort && c.Port != 0 {
		errs = append(errs, errors.New("ADMIN_PORT: it must differ from PORT"))
	}
	if c.MailPort != 0 && (c.MailPort == c.Port || c.MailPort == c.AdminPort) {
		errs = append(errs, errors.New("MAIL_PORT: it must differ from PORT and ADMIN_PORT"))
	}
	if c.OpsPort != 0 && (c.OpsPort == c.Port || c.OpsPort == c.AdminPort || c.OpsPort == c.MailPort) {
		errs = append(errs, errors.New("OPS_PORT: it must differ from PORT, ADMIN_PORT and MAIL_PORT"))
	}
	if _, err := netip.ParseAddr(c.host()); err != nil {
		errs = append(errs, fmt.Errorf("HOST: %q is no address of this machine; write one such as 192.168.1.20, or "+
			"0.0.0.0 for all", c.Host))
	}
	if _, err := server.ParseProxies(c.TrustedProxies); err != nil {
		errs = append(errs, err)
	}
	if c.Log != "" && c.Log != logToStderr && c.Log != logToFile {
		errs = append(errs, fmt.Errorf("LOG: %q is neither %s nor %s", c.Log, logToStderr, logToFile))
	}
	if c.Install != "" && c.Install != "yes" && c.Install != "no" {
		errs = append(errs, fmt.Errorf("SLOTMESH_INSTALL: %q is neither yes nor no", c.Install))
	}
	return errors.Join(errs...)
}

// allowsInstall reports whether packages may be installed without a question. SLOTMESH_INSTALL overrides CI.
func (c *Config) allowsInstall() bool { return c.Install == "yes" || c.Install == "" && c.CI == "true" }

// The values of LOG.
const (
	logToStderr = "stderr"
	logToFile   = "file"
)

func (c *Config) logsToStderr() bool { return c.Log == logToStderr }

func (c *Config) host() string { return cmp.Or(c.Host, loopbackHost) }
