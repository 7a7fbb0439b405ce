package ratelimit

import (
	"context"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Thresholds of the circuit breaker for Redis.
const (
	failuresToTrip  = 3
	redisRetryAfter = time.Second
)

// The values of the metric's label store, which names the store that made the decision. The value
// "remembered" means a refusal that this process already knew, without a request to Redis.
const inRedis, inProcess, remembered = "redis", "local", "remembered"

// Fallback uses the limiter in Redis. While Redis fails or is slow, it uses the limiter
// in this process, so that requests and limits continue to work. After three consecutive
// failures it uses Redis no longer, except for one request per second as a trial.
//
// The local limiter records every request that passes, so that it can take over. It also records every refusal:
// requests of a client over its limit are refused without a round trip until the recorded time has passed.
//
// Fallback counts slotmesh.ratelimit.decisions by store (redis, local, remembered) and outcome (allowed,
// refused). It logs one line when the local limiter takes over and one when Redis works again.
type Fallback struct {
	shared    Limiter
	local     *Local
	breaker   *gobreaker.CircuitBreaker[[]Decision]
	logger    *slog.Logger
	decisions metric.Int64Counter
	labels    map[decisionLabel]metric.MeasurementOption
}

// decisionLabel holds the labels of a decision in the metric.
type decisionLabel struct {
	store   string
	allowed bool
}

var _ Limiter = (*Fallback)(nil)

// NewFallback returns a limiter that uses shared, and local while shared fails.
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
		labels: map[decisionLabel]metric.MeasurementOption{},
	}
	for _, store := range []string{inRedis, inProcess, remembered} {
		for allowed, outcome := range map[bool]string{true: "allowed", false: "refused"} {
			f.labels[decisionLabel{store, allowed}] = metric.WithAttributeSet(attribute.NewSet(attribute.String("store",
				store), attribute.String("outcome", outcome)))
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

// Allow checks a request with the limiter in Redis, or with the local one while
// Redis fails. It returns an error if ctx is done or the limit is invalid.
func (f *Fallback) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return decideSingle(ctx, f, Question{who, limit})
}

// AllowInTurn checks a request against several limits in Redis, or
// with the local limiter while Redis fails. Errors: those of Allow.
func (f *Fallback) AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error) {
	if err := check(ctx, questions); err != nil {
		return nil, err // a cancelled context is no failure of Redis
	}
	for i, q := range questions {
		wait := f.local.KnownRefusal(q.Client, q.Limit)
		if wait == 0 {
			continue
		}
		decisions := f.decide(ctx, questions[:i]) // an earlier limit may refuse it first
		if i == 0 || decisions[len(decisions)-1].Allowed {
			decisions = append(decisions, newRefusal(wait))
			f.count(ctx, remembered, newRefusal(wait))
		}
		return decisions, nil
	}
	return f.decide(ctx, questions), nil
}

// KnownRefusal returns how long this process knows that the client's requests are refused; 0 if it knows no refusal. It
// does not count a request and sends nothing to Redis.
func (f *Fallback) KnownRefusal(who Client, limit Limit) time.Duration {
	return f.local.KnownRefusal(who, limit)
}

// decide checks requests of which no refusal is known, with the limiter in Redis or the local one.
func (f *Fallback) decide(ctx context.Context, questions []Question) []Decision {
	if len(questions) == 0 {
		return nil
	}
	began := f.local.now()
	store := inRedis
	decisions, err := f.breaker.Execute(func() ([]Decision, error) {
		return f.shared.AllowInTurn(context.WithoutCancel(ctx), questions...)
	})
	if err != nil {
		store, decisions = inProcess, f.local.decideInTurn(questions)
	}
	for i, d := range decisions {
		f.count(ctx, store, d)
		switch q := questions[i]; {
		case store == inProcess: // the local limiter has already counted the request
		case d.Allowed:
			f.local.accept(q.Client, q.Limit, began)
		default:
			f.local.refuse(q.Client, q.Limit, began+d.RetryAfter)
		}
	}
	return decisions
}

func (f *Fallback) count(ctx context.Context, store string, d Decision) {
	f.decisions.Add(ctx, 1, f.labels[decisionLabel{store, d.Allowed}])
}

// logChange does not log the half-open state: a failed trial changes nothing.
func (f *Fallback) logChange(_ string, from, to gobreaker.State) {
	switch {
	case from == gobreaker.StateClosed && to == gobreaker.StateOpen:
		f.logger.Warn("Redis does not answer: limits are counted by each replica for itself")
	case to == gobreaker.StateClosed:
		f.logger.Info("Redis answers again: limits are shared by all replicas")
	}
}
