package ratelimit

import (
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings of limits whose counts the replicas share.
type Config struct {
	// Timeout is the maximal time to wait for Redis. After this time, the local limiter decides about the request, and
	// the report of a guard has failed.
	Timeout time.Duration `env:"LIMIT_TIMEOUT, default=100ms"`
}

// Validate returns an error that names each variable with an invalid value.
func (c *Config) Validate() error {
	if c.Timeout <= 0 {
		return errors.New("LIMIT_TIMEOUT: write a duration above 0, such as 100ms")
	}
	return nil
}

// Open returns the limiter of a service. It counts in Redis, and in the memory of this process while Redis is down.
func (c *Config) Open(rdb redis.UniversalClient, tel *telemetry.Telemetry) *Fallback {
	return NewFallback(NewRedis(rdb, "slotmesh:limit:", c.Timeout), NewLocal(clock.System()), tel)
}

// OpenGuard returns the guard of a service. It decides in the memory of this process.
func (c *Config) OpenGuard(rdb redis.UniversalClient, tel *telemetry.Telemetry) *Guard {
	return NewGuard(clock.System(), rdb, "slotmesh:guard:", c.Timeout, tel)
}
