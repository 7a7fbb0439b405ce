package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings for calls to other services. Every service has these settings.
type Config struct {
	// Timeout is the maximal duration of a call, unless the options of the client set another duration.
	Timeout time.Duration `env:"PEER_TIMEOUT, default=2s"`
	// Patience is the maximal time for which a request waits for a newer version of a cached business snapshot. After
	// that time, the request uses the cached snapshot. 0 means that the wait has no maximum.
	Patience time.Duration `env:"CATALOG_PATIENCE, default=250ms"`
	// Secrets are the secrets of this service. The first secret identifies the service:
	// calls to other services carry a [Credential] that is derived from it. Earlier
	// secrets may follow, so that values derived from earlier secrets remain valid.
	//
	// A service does not start without a secret. A migration calls no other service and needs no secret.
	Secrets []string `env:"PEER_SECRETS" secret:"true"`
	// Callers are the services that may call this service, in the form that [ParseCallers] parses.
	Callers []string `env:"PEER_CALLERS"`
}

// SecretHeader is the name of the request header that carries the caller's credential.
const SecretHeader = "Slotmesh-Peer-Secret"

// Validate returns an error that names each variable with an invalid value.
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

// Client returns a client for the peer with this name at baseURL, with the settings of `c`. The options override these
// settings.
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
