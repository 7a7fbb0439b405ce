package ratelimit

import (
	"context"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// failuresToTrip is the number of consecutive failures of Redis that opens the
// circuit breaker. After redisRetryAfter, the breaker allows one trial request.
const (
	failuresToTrip  = 3
	redisRetryAfter = time.Second
)

// Fallback counts requests in Redis. While Redis fails or is slow, Fallback counts requests in the memory of this
// process, so that requests and limits continue to work. After three consecutive failures, Fallback sends only one
// trial request per second to Redis.
//
// The local limiter records every request that passes, so that it can take over. It also records every refusal with the
// duration of the refusal. Until the recorded time has passed, Fallback refuses requests of the client without a call
// to Redis.
//
// Fallback counts decisions in the metric slotmesh.ratelimit.decisions, by store (redis, local, remembered) and
// outcome (allowed, refused). It logs a line when the local limiter takes over, and a line when Redis works again.
type Fallback struct {
	shared  Limiter
	local   *Local
	breaker *gobreaker.CircuitBreaker[[]Decision]
	logger  *slog.Logger
	metric  decisionMetric
}

var _ Limiter = (*Fallback)(nil)

// NewFallback returns a limiter that uses the argument `shared`, and the argument `local` while `shared` fails.
func NewFallback(shared Limiter, local *Local, tel *telemetry.Telemetry) *Fallback {
	return newFallback(shared, local, tel, redisRetryAfter)
}

func newFallback(shared Limiter, local *Local, tel *telemetry.Telemetry, retryAfter time.Duration) *Fallback {
	f := &Fallback{
		shared: shared,
		local:  local,
		logger: tel.Logger,
		metric: newDecisionMetric(tel),
	}
	f.breaker = gobreaker.NewCircuitBreaker[[]Decision](gobreaker.Settings{
		Name:          "ratelimit",
		Timeout:       retryAfter,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToTrip },
		OnStateChange: f.logChange,
	})
	return f
}

// Allow counts a request in Redis, or in this process while Redis
// fails. It returns an error if ctx is done or the limit is invalid.
func (f *Fallback) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return decideSingle(ctx, f, Question{who, limit})
}

// AllowInTurn counts a request against several limits in Redis, or in
// this process while Redis fails. It returns the same errors as Allow.
func (f *Fallback) AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error) {
	if err := check(ctx, questions); err != nil {
		return nil, err // a cancelled context is not a failure of Redis
	}
	for i, q := range questions {
		wait := f.local.KnownRefusal(q.Client, q.Limit)
		if wait == 0 {
			continue
		}
		decisions := f.decide(ctx, questions[:i]) // q refuses the request, but a limit before q may refuse it first
		if i == 0 || decisions[len(decisions)-1].Allowed {
			decisions = append(decisions, newRefusal(wait))
			f.metric.count(ctx, remembered, newRefusal(wait))
		}
		return decisions, nil
	}
	return f.decide(ctx, questions), nil
}

// KnownRefusal returns the time for which the limit will still refuse the client, as far as this process knows. It
// returns 0 if no refusal is known. It does not count a request and does not call Redis.
func (f *Fallback) KnownRefusal(who Client, limit Limit) time.Duration {
	return f.local.KnownRefusal(who, limit)
}

// decide counts requests for which no refusal is known. It uses Redis, or the local limiter while Redis fails.
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
		f.metric.count(ctx, store, d)
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

// logChange logs when the circuit breaker opens and when it closes.
// It does not log a failed trial, because Redis is still down.
func (f *Fallback) logChange(_ string, from, to gobreaker.State) {
	switch {
	case from == gobreaker.StateClosed && to == gobreaker.StateOpen:
		f.logger.Warn("Redis does not answer: limits are counted by each replica for itself")
	case to == gobreaker.StateClosed:
		f.logger.Info("Redis answers again: limits are shared by all replicas")
	}
}
