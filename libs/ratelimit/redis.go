package ratelimit

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed rolling_window.lua
var rollingWindowSource string

var rollingWindow = redis.NewScript(rollingWindowSource)

// Redis counts in Redis, on Redis's clock, so that all replicas share one limit. A check is one script and one round
// trip; only the first after a start of Redis takes two, because the script has to be sent.
type Redis struct {
	client redis.Scripter
	prefix string
}

var _ Limiter = (*Redis)(nil)

// NewRedis returns a limiter whose Redis keys begin with prefix. To keep the deadlines of its callers, the client must
// be made with ContextTimeoutEnabled.
func NewRedis(client redis.Scripter, prefix string) *Redis {
	return &Redis{client: client, prefix: prefix}
}

// Allow decides in Redis. Its error is that of Redis or of ctx, or says that the limit makes no sense.
func (r *Redis) Allow(ctx context.Context, key string, limit Limit) (Decision, error) {
	if limit.N == 0 {
		return Decision{Allowed: true}, nil
	}
	if err := limit.check(); err != nil {
		return Decision{}, err
	}
	wait, err := rollingWindow.Run(ctx, r.client, []string{r.redisKey(key)}, limit.N, limit.Window.Microseconds()).Int64()
	if err != nil {
		return Decision{}, fmt.Errorf("count a request in Redis: %w", err)
	}
	return Decision{Allowed: wait == 0, RetryAfter: time.Duration(wait) * time.Microsecond}, nil
}

// redisKey tags the client's key, so that in a cluster whatever is ever kept beside the window lies on the same node.
func (r *Redis) redisKey(key string) string { return r.prefix + "{" + key + "}" }
