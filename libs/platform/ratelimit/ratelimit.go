// Package ratelimit limits requests in rolling windows (semantics.md §8). With a limit of N, the first N requests pass
// immediately. The next request is refused until the oldest of the N requests is one window old. Refused requests do
// not count.
//
// [Redis] stores the counts for all replicas. [Local] stores the counts of this process. [Fallback] uses Redis, and the
// local limiter while Redis is down. [Guard] decides in this process and exchanges counts with the other replicas in the
// background. The package libs/platform/limits defines the limits.
package ratelimit

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Limit allows N requests in any period of the length Window. Limits with different
// names have separate counts. If N is 0, every request passes and no request counts.
type Limit struct {
	Name   string
	N      int
	Window time.Duration
}

// PerMinute returns a limit of `n` requests in any 60 seconds.
func PerMinute(name string, n int) Limit { return Limit{Name: name, N: n, Window: time.Minute} }

// check returns an error if the limit has a negative N, or a window shorter than 1 µs.
func (l Limit) check() error {
	if l.N < 0 || l.N > 0 && l.Window < time.Microsecond {
		return fmt.Errorf("limit %q: %d per %s is none; give 0, or a number above 0 and a window of at least 1µs",
			l.Name, l.N, l.Window)
	}
	return nil
}

// Decision is the result of counting one request.
type Decision struct {
	Allowed    bool
	RetryAfter time.Duration // exact time until a request would pass; 0 if this request is allowed
	Left       int           // number of further requests that would pass now
	// time until the oldest counted request expires; for a refused request, equal to RetryAfter
	Reset time.Duration
}

// newRefusal returns a decision that refuses a request. The client may repeat the request after the duration `wait`.
func newRefusal(wait time.Duration) Decision { return Decision{RetryAfter: wait, Reset: wait} }

// Limiter counts requests and decides whether the requests pass. Two limits with the same name must have the same N and
// Window. An error means that the limiter made no decision, because ctx is done, the store failed or the limit is
// invalid.
type Limiter interface {
	Allow(ctx context.Context, who Client, limit Limit) (Decision, error)
	// AllowInTurn counts one request against several limits, in order and in one round trip. It stops at the
	// first limit that refuses the request. The request counts against the limits before the refusing one.
	// AllowInTurn returns one decision per limit that it has checked. Each limit must have an N above 0.
	AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error)
}

// Question asks whether one more request of Client passes Limit. The answer to a Question is a [Decision].
type Question struct {
	Client Client
	Limit  Limit
}

// decideSingle returns the decision of a limiter about a single
// question. If N of the limit is 0, the request is allowed.
func decideSingle(ctx context.Context, by Limiter, question Question) (Decision, error) {
	if question.Limit.N == 0 {
		return Decision{Allowed: true}, ctx.Err()
	}
	decisions, err := by.AllowInTurn(ctx, question)
	if err != nil {
		return Decision{}, err
	}
	return decisions[0], nil
}

// check returns an error if ctx is done or a question is invalid.
func check(ctx context.Context, questions []Question) error {
	err := ctx.Err()
	for _, q := range questions {
		if q.Limit.N == 0 {
			err = cmp.Or(err, fmt.Errorf("limit %q is none, and is not asked about", q.Limit.Name))
		}
		err = cmp.Or(err, q.Limit.check())
	}
	return err
}

// Seconds converts a duration to whole seconds and rounds up. HTTP headers require whole seconds.
func Seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }
