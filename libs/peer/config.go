package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/config"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Config are the settings of calls to other services, part of the settings every service has.
type Config struct {
	// Timeout bounds a call that has no bound of its own.
	Timeout time.Duration `env:"PEER_TIMEOUT, default=2s"`
	// Patience is how long a read waits to learn whether there is a newer version of an offer than the one in memory; after it
	// that one is used. 0 is no bound.
	Patience time.Duration `env:"CATALOG_PATIENCE, default=250ms"`
	// Secrets are this service's own. It shows others the [Credential] of the first, by which they know who calls. One that was
	// in use before may follow, so that what was derived from it is still known. A service does not start without one; a migration
	// calls no service and needs none.
	Secrets []string `env:"PEER_SECRETS"`
	// Callers are the services that may call this one, as [ParseCallers] reads them.
	Callers []string `env:"PEER_CALLERS"`
}

// SecretHeader carries the caller's credential.
const SecretHeader = "Slotmesh-Peer-Secret"

// Validate checks what the types cannot say; each fault names its variable.
func (c *Config) Validate() error {
	var errs []error
	if c.Timeout <= 0 {
		errs = append(errs, errors.New("PEER_TIMEOUT: write a duration above 0, such as 2s"))
	}
	if c.Patience < 0 {
		errs = append(errs, errors.New("CATALOG_PATIENCE: write a duration such as 250ms, or 0s for no bound"))
	}
	for _, secret := range c.Secrets {
		if err := config.CheckSecret(secret, 32); err != nil {
			errs = append(errs, fmt.Errorf("PEER_SECRETS: %w", err))
			break
		}
	}
	if _, err := ParseCallers(c.Callers); err != nil {
		errs = append(errs, fmt.Errorf("PEER_CALLERS: %w", err))
	}
	return errors.Join(errs...)
}

// Client returns a client of the peer called name at baseURL that calls as the settings say, but for options.
func (c *Config) Client(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	if c.Timeout > 0 {
		options = append([]Option{Timeout(c.Timeout)}, options...)
	}
	options = append([]Option{Patience(c.Patience)}, options...)
	if len(c.Secrets) > 0 {
		options = append(options, Secret(Credential(c.Secrets[0], name)))
	}
	return New(name, baseURL, tel, options...)
}
