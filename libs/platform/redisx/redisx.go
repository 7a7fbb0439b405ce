// Package redisx connects to the Redis that services share. Redis holds only counts for rate limits, messages and
// cached copies. Services do not lose data if Redis loses its contents.
package redisx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/dial"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings for the connection to Redis.
type Config struct {
	// URL is the URL of Redis: redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path/redis.sock. To
	// name several cluster nodes or Sentinels, append the further addresses as parameters: redis://a:6379?addr=b:6379.
	URL string `env:"REDIS_URL, required" secret:"true"`
	// Cluster means that URL leads to a Redis Cluster. The cluster returns the addresses of its nodes. The setting is
	// needed only if URL contains a single address.
	Cluster bool `env:"REDIS_CLUSTER, default=false"`
	// SentinelMaster is the name that the Sentinels in URL use for the primary. The credentials in URL are the
	// credentials of the primary. If SentinelMaster is empty, no Sentinels are used.
	SentinelMaster string `env:"REDIS_SENTINEL_MASTER"`
	// SentinelUsername and SentinelPassword are the credentials of the Sentinels; empty if the Sentinels require none.
	SentinelUsername string `env:"REDIS_SENTINEL_USERNAME"`
	SentinelPassword string `env:"REDIS_SENTINEL_PASSWORD" secret:"true"`
	// CAFile is a PEM file with the certificates that verify the certificate
	// of Redis. If it is empty, the certificates of the system apply.
	CAFile string `env:"REDIS_CA_FILE"`
	// Timeout is the maximal time for dialing, for sending a command, and for waiting for its answer.
	Timeout time.Duration `env:"REDIS_TIMEOUT, default=500ms"`
}

// Validate checks the settings. The error does not contain the URL, because the URL may contain a password.
func (c *Config) Validate() error {
	options, err := c.options()
	switch {
	case err != nil:
		return errors.New("REDIS_URL: not a Redis URL; write redis://user:password@host:6379/0 or " +
			"unix:///path/redis.sock")
	case c.Timeout <= 0:
		return errors.New("REDIS_TIMEOUT: write a duration above 0, such as 500ms")
	case c.Cluster && c.SentinelMaster != "":
		return errors.New("REDIS_CLUSTER, REDIS_SENTINEL_MASTER: write one of them, a cluster has no Sentinels")
	case (c.Cluster || len(options.Addrs) > 1 && c.SentinelMaster == "") && options.DB != 0:
		return errors.New("REDIS_URL: leave the database's number out, a Redis Cluster has only one")
	case c.SentinelMaster == "" && (c.SentinelUsername != "" || c.SentinelPassword != ""):
		return errors.New("REDIS_SENTINEL_MASTER: write what the Sentinels call the primary, as a name or a password " +
			"for them is given")
	}
	return c.setCertificates(options)
}

// options returns the client options that URL and the other settings define.
func (c *Config) options() (*redis.UniversalOptions, error) {
	single, err := redis.ParseURL(c.URL)
	addresses := []string{}
	if several, severalErr := redis.ParseClusterURL(c.URL); severalErr == nil && len(several.Addrs) > 1 {
		addresses = several.Addrs
		single, err = redis.ParseURL(removeAddresses(c.URL))
	}
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		addresses = []string{single.Addr} // an address that begins with a slash is the path of a Unix socket
	}
	return &redis.UniversalOptions{
		Addrs: addresses, DB: single.DB, Username: single.Username, Password: single.Password,
		TLSConfig:     single.TLSConfig,
		IsClusterMode: c.Cluster, MasterName: c.SentinelMaster, SentinelUsername: c.SentinelUsername,
		SentinelPassword: c.SentinelPassword,
	}, nil
}

// removeAddresses removes the query parameters `addr` from a URL.
func removeAddresses(all string) string {
	parsed, err := url.Parse(all)
	if err != nil {
		return all
	}
	query := parsed.Query()
	query.Del("addr")
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// setCertificates configures the certificates in CAFile to verify the certificate of Redis.
func (c *Config) setCertificates(options *redis.UniversalOptions) error {
	if c.CAFile == "" {
		return nil
	}
	if options.TLSConfig == nil {
		return errors.New("REDIS_CA_FILE: write rediss:// in REDIS_URL, or leave the file out: without TLS there is " +
			"no certificate to verify")
	}
	certificates, err := os.ReadFile(c.CAFile)
	if err != nil {
		return fmt.Errorf("REDIS_CA_FILE: %w", err)
	}
	options.TLSConfig.RootCAs = x509.NewCertPool()
	if !options.TLSConfig.RootCAs.AppendCertsFromPEM(certificates) {
		return fmt.Errorf("REDIS_CA_FILE: %s holds no certificate; write them as PEM", c.CAFile)
	}
	return nil
}

// Open returns a client with tracing. It does not connect yet. While Redis is down, a command
// fails after cfg.Timeout at the latest. Every user of the client has a fallback for this case.
func Open(_ context.Context, cfg Config, tel *telemetry.Telemetry) (redis.UniversalClient, error) {
	options, err := cfg.options()
	if err != nil {
		return nil, cfg.Validate()
	}
	if err := cfg.setCertificates(options); err != nil {
		return nil, err
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = cfg.Timeout, cfg.Timeout, cfg.Timeout
	options.Dialer = newDialFunc(cfg.Timeout, options.TLSConfig)
	options.MaxRetries = 1
	options.ContextTimeoutEnabled = true
	client := redis.NewUniversalClient(options)
	// Commands contain client addresses in the keys of limits. Spans therefore do not record the text of commands.
	err = redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(tel.TracerProvider),
		redisotel.WithDBStatement(false), redisotel.WithDialFilter(true), redisotel.WithCallerEnabled(false))
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// newDialFunc returns a dial function for connections that detect the loss of the peer
// (package dial). The argument `timeout` bounds dialing, including the TLS handshake.
// Ordinary go-redis connections would detect the loss only after 15 minutes.
func newDialFunc(timeout time.Duration,
	secure *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := dial.Dialer()
	plain.Timeout = timeout
	if secure == nil {
		return plain.DialContext
	}
	return (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext
}
