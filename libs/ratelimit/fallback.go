package ratelimit

import (
	"context"
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

// The stores of the metric: who decided. Remembered is what this process knew already, without asking Redis.
const inRedis, inProcess, remembered = "redis", "local", "remembered"

// Fallback asks the shared limiter and, while that one fails or is slow, the local one: requests go on, and so do
// limits. The local one is told of every request that passes, so that it stands in with the history this process has
// seen, and of every refusal, so that clients over their limit cost no round trip: refused requests do not count, so nothing
// can let such a client through earlier. After three failures in a row the shared one is left alone and tried again each
// second, by one request.
//
// It counts slotmesh.ratelimit.decisions by store (redis, local, remembered) and outcome (allowed, refused), and logs one line
// when the local limiter takes over and one when the shared one is back.
type Fallback struct {
	shared    Limiter
	local     *Local
	breaker   *gobreaker.CircuitBreaker[[]Decision]
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

// NewFallback puts local in for shared.
func NewFallback(shared Limiter, local *Local, tel *telemetry.Telemetry) *Fallback {
	return newFallback(shared, local, tel, redisRetryAfter)
}

func newFallback(shared Limiter, local *Local, tel *telemetry.Telemetry, retryAfter time.Duration) *Fallback {
	f := &Fallback{
		shared: shared,
		local:  local,
		logger: tel.Logger,
		decisions: tel.Counter("slotmesh.ratelimit.decisions",
			"Requests counted against a limit, by the store that counted and the outcome."),
		labels: map[decided]metric.MeasurementOption{},
	}
	for _, store := range []string{inRedis, inProcess, remembered} {
		for allowed, outcome := range map[bool]string{true: "allowed", false: "refused"} {
			f.labels[decided{store, allowed}] = metric.WithAttributeSet(attribute.NewSet(attribute.String("store", store), attribute.String("outcome", outcome)))
		}
	}
	f.breaker = gobreaker.NewCircuitBreaker[[]Decision](gobreaker.Settings{
		Name:          "ratelimit",
		Timeout:       retryAfter,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToTrip },
		OnStateChange: f.logChange,
	})
	return f
}

// Allow decides by the shared limiter, else by the local one. Its error is that of ctx, or says that the limit makes
// no sense; never that of Redis.
func (f *Fallback) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return only(ctx, f, Question{who, limit})
}

// AllowInTurn decides by the shared limiter, else by the local one. Errors as of Allow.
func (f *Fallback) AllowInTurn(ctx context.Context, asked ...Question) ([]Decision, error) {
	if err := check(ctx, asked); err != nil {
		return nil, err // a caller that went away is no failure of Redis
	}
	for i, q := range asked {
		wait := f.local.Refused(q.Who, q.Limit)
		if wait == 0 {
			continue
		}
		decisions := f.decide(ctx, asked[:i]) // which may refuse it first
		if i == 0 || decisions[len(decisions)-1].Allowed {
			decisions = append(decisions, refused(wait))
			f.count(ctx, remembered, refused(wait))
		}
		return decisions, nil
	}
	return f.decide(ctx, asked), nil
}

// Refused says how long the client is known to be refused, without counting anything and without asking Redis; 0 where that is
// not known.
func (f *Fallback) Refused(who Client, limit Limit) time.Duration { return f.local.Refused(who, limit) }

// decide asks those of whom nothing is known yet.
func (f *Fallback) decide(ctx context.Context, asked []Question) []Decision {
	if len(asked) == 0 {
		return nil
	}
	began := f.local.now()
	store := inRedis
	decisions, err := f.breaker.Execute(func() ([]Decision, error) { return f.shared.AllowInTurn(context.WithoutCancel(ctx), asked...) })
	if err != nil {
		store, decisions = inProcess, f.local.inTurn(asked)
	}
	for i, d := range decisions {
		f.count(ctx, store, d)
		switch q := asked[i]; {
		case store == inProcess: // has counted it
		case d.Allowed:
			f.local.accept(q.Who, q.Limit, began)
		default:
			f.local.refuse(q.Who, q.Limit, began+d.RetryAfter)
		}
	}
	return decisions
}

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
