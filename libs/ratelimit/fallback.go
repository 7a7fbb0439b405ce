package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// How often Redis is tried while it is away.
const (
	failuresToTrip  = 3
	redisRetryAfter = time.Second
)

// The stores of the metric.
const inRedis, inProcess = "redis", "local"

// Fallback asks the shared limiter and, while that one fails or is slow, the local one: requests go on, and so do
// limits. The local one is told of every request that passes, so that it stands in with the history this process has
// seen. After three failures in a row the shared one is left alone and tried again each second, by one request.
//
// It counts slotmesh.ratelimit.decisions by store (redis, local) and outcome (allowed, refused), and logs one line when the
// local limiter takes over and one when the shared one is back.
type Fallback struct {
	shared    Limiter
	local     Limiter
	timeout   time.Duration
	breaker   *gobreaker.CircuitBreaker[Decision]
	logger    *slog.Logger
	decisions metric.Int64Counter
	labels    map[decided]metric.MeasurementOption
}

// decided is what tells decisions apart in the metric.
type decided struct {
	store   string
	allowed bool
}

var _ Limiter = (*Fallback)(nil)

// NewFallback puts local in for shared, which is waited for as cfg says.
func NewFallback(cfg Config, shared, local Limiter, tel *telemetry.Telemetry) *Fallback {
	return newFallback(cfg, shared, local, tel, redisRetryAfter)
}

func newFallback(cfg Config, shared, local Limiter, tel *telemetry.Telemetry, retryAfter time.Duration) *Fallback {
	f := &Fallback{
		shared:  shared,
		local:   local,
		timeout: cfg.Timeout,
		logger:  tel.Logger,
		decisions: tel.Counter("slotmesh.ratelimit.decisions",
			"Requests counted against a limit, by the store that counted and the outcome."),
		labels: map[decided]metric.MeasurementOption{},
	}
	for _, store := range []string{inRedis, inProcess} {
		for allowed, outcome := range map[bool]string{true: "allowed", false: "refused"} {
			f.labels[decided{store, allowed}] = metric.WithAttributeSet(attribute.NewSet(attribute.String("store", store), attribute.String("outcome", outcome)))
		}
	}
	f.breaker = gobreaker.NewCircuitBreaker[Decision](gobreaker.Settings{
		Name:          "ratelimit",
		Timeout:       retryAfter,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToTrip },
		IsExcluded:    func(err error) bool { return errors.As(err, new(callerGone)) },
		OnStateChange: f.logChange,
	})
	return f
}

// Allow decides by the shared limiter, else by the local one. Its error is that of ctx, or says that the limit makes
// no sense; never that of Redis.
func (f *Fallback) Allow(ctx context.Context, key string, limit Limit) (Decision, error) {
	if limit.N == 0 {
		return Decision{Allowed: true}, nil
	}
	if err := limit.check(); err != nil {
		return Decision{}, err
	}
	shared, err := f.breaker.Execute(func() (Decision, error) { return f.askShared(ctx, key, limit) })
	if err == nil && !shared.Allowed {
		f.count(ctx, inRedis, shared)
		return shared, nil
	}
	local, localErr := f.local.Allow(ctx, key, limit)
	if localErr != nil {
		return Decision{}, localErr
	}
	if err == nil {
		f.count(ctx, inRedis, shared)
		return shared, nil
	}
	f.count(ctx, inProcess, local)
	return local, nil
}

// askShared gives the shared limiter a short deadline. A caller that went away meanwhile is no failure of Redis.
func (f *Fallback) askShared(ctx context.Context, key string, limit Limit) (Decision, error) {
	short, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	d, err := f.shared.Allow(short, key, limit)
	if err != nil && ctx.Err() != nil {
		return Decision{}, callerGone{ctx.Err()}
	}
	return d, err
}

type callerGone struct{ error }

func (f *Fallback) count(ctx context.Context, store string, d Decision) {
	f.decisions.Add(ctx, 1, f.labels[decided{store, d.Allowed}])
}

// logChange leaves out the half-open state: a try that fails changes nothing for anyone.
func (f *Fallback) logChange(_ string, from, to gobreaker.State) {
	switch {
	case from == gobreaker.StateClosed && to == gobreaker.StateOpen:
		f.logger.Warn("Redis does not answer: limits are counted by each replica for itself")
	case to == gobreaker.StateClosed:
		f.logger.Info("Redis answers again: limits are shared by all replicas")
	}
}
