package api

import (
	"context"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// mostRefusals bounds how many clients are remembered as refused.
const mostRefusals = 10_000

// limits counts requests while their answers are prepared: counting is a round trip to Redis.
//
// So that clients over their limit cost nobody an answer that they do not get, each is remembered until it may pass again.
// That is as exact as the limiter: refused requests do not count (semantics.md §8), so nothing can let a client through
// earlier.
type limits struct {
	limiter   ratelimit.Limiter
	clock     clock.Clock
	decisions metric.Int64Counter

	mu    sync.Mutex
	until map[string]time.Time // by key
}

func newLimits(limiter ratelimit.Limiter, now clock.Clock, tel *telemetry.Telemetry) *limits {
	return &limits{
		limiter: limiter, clock: now, until: make(map[string]time.Time),
		decisions: tel.Counter("slotmesh.ratelimit.decisions",
			"Requests counted against a limit, by the store that counted and the outcome."),
	}
}

// counting is a request that is being counted. The zero value passes.
type counting struct {
	refused error // known already
	said    chan error
}

// verdict waits for the end and returns why the request may not pass, or nil. It is called once.
func (n counting) verdict() error {
	if n.said == nil {
		return n.refused
	}
	return <-n.said
}

// count begins to count a request against the limit of the path called name.
func (l *limits) count(c *fiber.Ctx, name string, limit ratelimit.Limit) counting {
	ctx, key := c.UserContext(), name+":"+ratelimit.ClientKey(server.ClientIP(c))
	if wait := l.left(key); wait > 0 {
		l.decisions.Add(ctx, 1, metric.WithAttributes(attribute.String("store", "remembered"), attribute.String("outcome", "refused")))
		return counting{refused: refusal(limit, wait)}
	}
	said := make(chan error, 1)
	go func() { said <- l.ask(ctx, key, limit) }()
	return counting{said: said}
}

func (l *limits) ask(ctx context.Context, key string, limit ratelimit.Limit) error {
	began := l.clock.Now() // before the limiter looked at its clock, so that nobody is remembered for too long
	decision, err := l.limiter.Allow(ctx, key, limit)
	if err != nil || decision.Allowed {
		return err
	}
	l.remember(key, began.Add(decision.RetryAfter))
	return refusal(limit, decision.RetryAfter)
}

func refusal(limit ratelimit.Limit, wait time.Duration) error {
	refused := fault.Newf(fault.RateLimited, "Too many requests; at most %d a minute pass.", limit.N)
	refused.RetryAfter = wait
	return refused
}

// left is how long a client is still known to be refused; 0 where that is not known.
func (l *limits) left(key string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, known := l.until[key]
	if !known {
		return 0
	}
	left := until.Sub(l.clock.Now())
	if left <= 0 {
		delete(l.until, key)
	}
	return max(0, left)
}

// remember notes until when a client is refused. Where there are too many, all are forgotten: they are asked about again.
func (l *limits) remember(key string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.until) >= mostRefusals {
		clear(l.until)
	}
	l.until[key] = until
}
