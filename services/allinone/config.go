package allinone

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings of a process that runs all services.
type Config struct {
	// Port is the port of the public address. 0 selects a free port.
	Port int `env:"PORT, default=8080"`
	// AdminPort is the port of the admin address. 0 selects a free port.
	AdminPort int `env:"ADMIN_PORT, default=8090"`
	// OpsPort is the port that serves the readiness and the metrics of all services together. If OpsPort is 0, each
	// service serves its readiness and metrics only at its own port.
	OpsPort int `env:"OPS_PORT"`
	// OpsHost is the address of this machine on which OPS_PORT listens; the default is loopback.
	OpsHost string `env:"OPS_HOST, default=127.0.0.1"`
	// OpsToken is the bearer token that the metrics at OPS_PORT require. If it is empty, they require none, and OpsHost
	// must be a loopback address.
	OpsToken string `env:"OPS_TOKEN" secret:"true"`
	// Backups is the folder with the backups that doctor checks. If it is empty, it is the folder backups in the home.
	Backups string `env:"SLOTMESH_BACKUPS"`
	// Host is the address of this machine on which PORT and ADMIN_PORT listen; the default is loopback.
	Host string `env:"HOST, default=127.0.0.1"`
	// Home is the path of the home folder, which contains all data that must outlive the process.
	Home string `env:"SLOTMESH_HOME, default=.slotmesh"`
	// AdminToken is the token of the admin API. If AdminToken is empty, the first start creates a token and stores it
	// in the home folder.
	AdminToken string `env:"SLOTMESH_ADMIN_TOKEN" secret:"true"`
	// WithDemo creates the demo business at the start.
	WithDemo bool `env:"SLOTMESH_DEMO, default=true"`
	// Now is the initial time of the services' clock, in RFC 3339. If Now is empty, the services use the machine's
	// clock.
	Now string `env:"SLOTMESH_NOW"`
	// DatabaseURL is the URL of the PostgreSQL to use. If DatabaseURL is empty, the process starts a PostgreSQL.
	DatabaseURL string `env:"DATABASE_URL" secret:"true"`
	// RedisURL is the URL of the Redis to use. If RedisURL is empty, the process starts a Redis.
	RedisURL string `env:"REDIS_URL" secret:"true"`
	// StripeSecretKey, StripeWebhookSecret and StripeAPIBase connect the booking service to Stripe. They are passed to
	// that service in the same environment variables.
	StripeSecretKey     string `env:"STRIPE_SECRET_KEY" secret:"true"`
	StripeWebhookSecret string `env:"STRIPE_WEBHOOK_SECRET" secret:"true"`
	StripeAPIBase       string `env:"STRIPE_API_BASE"`
	// PagesURL is the public base URL of the customers' pages. The booking, rental and pages services get this URL in
	// their setting PAGES_URL. The default is the public address.
	PagesURL string `env:"PAGES_URL"`
	// OwnerURL is the base URL of the owner's pages. The console service gets this URL in its setting OWNER_URL. The
	// default is the admin address.
	OwnerURL string `env:"OWNER_URL"`
	// SMTPURL, SMTPAllowPlaintext and MailFrom are passed to the notifications service in the same environment
	// variables. If SMTP_URL is not set, this process shows the mails at MAIL_PORT, or the notifications service stores
	// them (HidesMail).
	SMTPURL            string `env:"SMTP_URL" secret:"true"`
	SMTPAllowPlaintext string `env:"SMTP_ALLOW_PLAINTEXT"`
	MailFrom           string `env:"MAIL_FROM"`
	// MailPort is the port of the page that shows the mails. 0 selects a free port.
	MailPort int `env:"MAIL_PORT, default=8025"`
	// HidesMail leaves out the page that shows the mails, because it shows them without a sign-in. The mails then stay
	// in the database.
	HidesMail bool
	// PublicLimitPerMinute and WrongTokensPerMinute are passed to the services in the same environment variables
	// (libs/platform/limits). 0 selects the default.
	PublicLimitPerMinute int `env:"PUBLIC_LIMIT_PER_MINUTE"`
	WrongTokensPerMinute int `env:"ADMIN_WRONG_TOKENS_PER_MINUTE"`
	// TrustedProxies are the networks (CIDRs) of proxies. The front trusts the headers X-Forwarded-For, -Host and
	// -Proto of requests from these networks.
	TrustedProxies []string `env:"TRUSTED_PROXIES"`
	// PeerTimeout limits a service's call to another service. If PeerTimeout is empty, the default of the services
	// applies.
	PeerTimeout string `env:"PEER_TIMEOUT"`
	// Log is the destination of the services' logs: "stderr", or "file" for slotmesh.log in the home folder. The
	// default is "file" if standard output is a terminal, otherwise "stderr".
	Log string `env:"LOG"`
	// Install decides whether packages are installed: "yes" (install without a question), "no" (never install) or ""
	// (ask). If Install is empty and CI=true, packages are installed without a question.
	Install string `env:"SLOTMESH_INSTALL"`
	CI      string `env:"CI"`
	// Settings are additional settings of all services, by environment variable. They override the settings that this
	// process generates. Tests set timeouts that are long enough for a slow machine.
	Settings map[string]string

	Telemetry telemetry.Config
}

// Validate checks all settings and returns the errors together. Each error names the environment variable.
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
	errs = append(errs, c.validateOps())
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

func (c *Config) validateOps() error {
	host, err := netip.ParseAddr(cmp.Or(c.OpsHost, loopbackHost))
	switch {
	case err != nil:
		return fmt.Errorf("OPS_HOST: %q is no address of this machine; write one such as 192.168.1.20, or 0.0.0.0 for all",
			c.OpsHost)
	case c.OpsToken != "":
		if err := config.CheckSecret(c.OpsToken, 24); err != nil {
			return fmt.Errorf("OPS_TOKEN: %w", err)
		}
	case !host.IsLoopback():
		return fmt.Errorf("OPS_TOKEN: other machines reach %s; write the token that /metrics requires", c.OpsHost)
	}
	return nil
}

// allowsInstall reports whether the process may install packages without a question. SLOTMESH_INSTALL overrides CI.
func (c *Config) allowsInstall() bool { return c.Install == "yes" || c.Install == "" && c.CI == "true" }

// The values of the setting LOG.
const (
	logToStderr = "stderr"
	logToFile   = "file"
)

func (c *Config) logsToStderr() bool { return c.Log == logToStderr }

func (c *Config) host() string { return cmp.Or(c.Host, loopbackHost) }
