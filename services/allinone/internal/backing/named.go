package backing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/slotmesh/slotmesh/libs/platform/redisx"
)

// checkTimeout limits the check of the stores whose URLs are in the options.
const checkTimeout = 30 * time.Second

// checkNamedStores connects to the stores whose URLs are in the options. It is called before the services start, so
// that the error can name the environment variable with the wrong URL.
func checkNamedStores(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if o.DatabaseURL != "" {
		if err := checkDatabase(ctx, o.DatabaseURL); err != nil {
			return err
		}
	}
	if o.RedisURL != "" {
		return checkRedis(ctx, o.RedisURL)
	}
	return nil
}

func checkDatabase(ctx context.Context, databaseURL string) error {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil { // the error itself contains the URL, so it is not shown
		return errors.New("DATABASE_URL: not a PostgreSQL URL; write postgres://user:password@host:5432/database")
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("DATABASE_URL: cannot use database %q at %s as user %q: %s", config.Database,
			formatAddress(config),
			config.User, describeConnectError(err))
	}
	defer conn.Close(ctx)
	var version int
	if err := conn.QueryRow(ctx,
		"SELECT current_setting('server_version_num')::int / 10000").Scan(&version); err != nil {
		return fmt.Errorf("DATABASE_URL: the server at %s does not report its version: %s", formatAddress(config),
			describeConnectError(err))
	}
	if version < minPostgres {
		return fmt.Errorf("DATABASE_URL: the server at %s is PostgreSQL %d; %d or newer is needed",
			formatAddress(config),
			version, minPostgres)
	}
	return nil
}

func formatAddress(c *pgx.ConnConfig) string {
	if strings.HasPrefix(c.Host, "/") {
		return c.Host
	}
	return net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
}

func checkRedis(ctx context.Context, redisURL string) error {
	config := redisx.Config{URL: redisURL, Timeout: checkTimeout}
	if err := config.Validate(); err != nil {
		return err
	}
	if err := pingRedis(ctx, redisURL); err != nil {
		return fmt.Errorf("REDIS_URL: cannot use the Redis at %s: %s", hidePassword(redisURL),
			describeConnectError(err))
	}
	return nil
}

// hidePassword returns a Redis URL without the password, for errors.
func hidePassword(redisURL string) string {
	u, err := url.Parse(redisURL)
	if err != nil {
		return "this URL"
	}
	return u.Host + u.Path
}

// describeConnectError returns the reason why a connection to a store failed, as one line.
func describeConnectError(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message
	}
	var operation *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer within " + checkTimeout.String()
	case errors.As(err, &operation):
		return operation.Err.Error()
	default:
		return extractLastCause(err.Error())
	}
}

// extractLastCause returns the error of the last connection attempt. pgx lists the errors of all attempts, one per
// line.
func extractLastCause(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if _, cause, found := strings.Cut(last, "`: "); found {
		return cause
	}
	return last
}

func cutFirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
