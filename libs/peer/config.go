package peer

import (
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Config are the settings of calls to other services, part of the settings every service has.
type Config struct {
	// Timeout bounds a call that has no bound of its own.
	Timeout time.Duration `env:"PEER_TIMEOUT, default=2s"`
}

// Validate checks what the types cannot say; each fault names its variable.
func (c *Config) Validate() error {
	if c.Timeout <= 0 {
		return errors.New("PEER_TIMEOUT: write a duration above 0, such as 2s")
	}
	return nil
}

// Client returns a client of the peer called name at baseURL that calls as the settings say, but for options.
func (c *Config) Client(name, baseURL string, tel *telemetry.Telemetry, options ...Option) *Client {
	if c.Timeout > 0 {
		options = append([]Option{Timeout(c.Timeout)}, options...)
	}
	return New(name, baseURL, tel, options...)
}
