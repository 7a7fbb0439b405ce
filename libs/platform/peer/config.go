package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings of calls to other services. Every service has them.
type Config struct {
	// Timeout bounds a call without its own bound.
	Timeout time.Duration `env:"PEER_TIMEOUT, default=2s"`
	// Patience is the longest time for which a request waits for a newer version of a
	// cached offer. After that time, the request uses the cached offer. 0: no bound.
	Patience time.Duration `env:"CATALOG_PATIENCE, default=250ms"`
	// Secrets are this service's own secrets. The first identifies the service: calls to other services carry
	// its [Credential]. Earlier secrets may follow, so that values that were derived from them stay valid.
	//
	// A service does not start without a secret. A migration calls no other service and needs none.
	Secrets []string `env:"PEER_SECRETS"`
	// Callers are the services that may call this one, in the form of [ParseCallers].
	Callers []string `env:"PEER_CALLERS"`
}

// SecretHeader carries the caller's credential.
const SecretHeader = "Slotmesh-Peer-Secret"

// Validate checks the settings beyond their types. Each error names its variable.
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

// Client returns a client of the peer called name at baseURL with these settings; options override them.
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
