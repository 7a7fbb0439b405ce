// Package redisx opens the Redis that services share: limits, messages and copies, never the truth.
package redisx

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/dial"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Config are the settings of Redis.
type Config struct {
	// URL of Redis: redis://host:6379/0, rediss:// for TLS, unix:///path/redis.sock, or a cluster's redis://a:6379?addr=b:6379.
	URL string `env:"REDIS_URL, required"`
	// Timeout bounds the making of a connection, and each command's sending and answer.
	Timeout time.Duration `env:"REDIS_TIMEOUT, default=500ms"`
}

// Validate refuses a URL that cannot be read, without repeating it: it may hold a password.
func (c *Config) Validate() error {
	if _, err := c.options(); err != nil {
		return errors.New("REDIS_URL: not a Redis URL; write redis://user:password@host:6379/0 or unix:///path/redis.sock")
	}
	if c.Timeout <= 0 {
		return errors.New("REDIS_TIMEOUT: write a duration above 0, such as 500ms")
	}
	return nil
}

// options reads the URL as a cluster's when it names further nodes by addr.
func (c *Config) options() (*redis.UniversalOptions, error) {
	if cluster, err := redis.ParseClusterURL(c.URL); err == nil && len(cluster.Addrs) > 1 {
		return &redis.UniversalOptions{
			Addrs: cluster.Addrs, Username: cluster.Username, Password: cluster.Password, TLSConfig: cluster.TLSConfig,
		}, nil
	}
	single, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	// An address that begins with a slash is dialled as a unix socket.
	return &redis.UniversalOptions{
		Addrs: []string{single.Addr}, DB: single.DB,
		Username: single.Username, Password: single.Password, TLSConfig: single.TLSConfig,
	}, nil
}

// Open returns a client with tracing. It does not connect yet, and a Redis that is away costs a caller cfg.Timeout
// at most: what Redis holds has a stand-in.
func Open(_ context.Context, cfg Config, tel *telemetry.Telemetry) (redis.UniversalClient, error) {
	options, err := cfg.options()
	if err != nil {
		return nil, cfg.Validate()
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout
	options.Dialer = dialer(cfg.Timeout, options.TLSConfig)
	options.MaxRetries = 1
	options.ContextTimeoutEnabled = true
	client := redis.NewUniversalClient(options)
	// Statements hold client addresses (limits are kept by them), so they stay out of spans.
	err = redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(tel.TracerProvider),
		redisotel.WithDBStatement(false), redisotel.WithDialFilter(true), redisotel.WithCallerEnabled(false))
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// dialer makes connections that are given up where nobody acknowledges (package dial), within timeout, a TLS handshake
// included. go-redis' own wait for the system's bound, which is a quarter of an hour.
func dialer(timeout time.Duration, secure *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := dial.Dialer()
	plain.Timeout = timeout
	if secure == nil {
		return plain.DialContext
	}
	return (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext
}
