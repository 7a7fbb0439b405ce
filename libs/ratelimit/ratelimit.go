// Package ratelimit counts requests in exact rolling windows (semantics.md §8). N requests pass at once.
// The next one is refused until the oldest that passed is one window old. Refused requests do not count.
//
// [Redis] keeps the state for all replicas, [Local] keeps it in this process, and [Fallback] uses
// the local one while Redis is down. All pass the same test suite. libs/limits defines the limits.
package ratelimit

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Limit allows N requests in any period of one Window. Name separates its counts from those
// of other limits. With N 0 there is no limit: every request passes, and nothing is counted.
type Limit struct {
	Name   string
	N      int
	Window time.Duration
}

// PerMinute returns the limit of n requests in any 60 seconds.
func PerMinute(name string, n int) Limit { return Limit{Name: name, N: n, Window: time.Minute} }

// check returns an error if the limit is invalid.
func (l Limit) check() error {
	if l.N < 0 || l.N > 0 && l.Window < time.Microsecond {
		return fmt.Errorf("limit %q: %d per %s is none; give 0, or a number above 0 and a window of at least 1µs", l.Name, l.N, l.Window)
	}
	return nil
}

// Decision is the result of a check.
type Decision struct {
	Allowed    bool
	RetryAfter time.Duration // exact wait until a request would pass; 0 if allowed
	Left       int           // further requests that would pass now
	Reset      time.Duration // until the oldest counted request expires; RetryAfter if refused
}

// refused returns the decision that a request may be repeated after wait.
func refused(wait time.Duration) Decision { return Decision{RetryAfter: wait, Reset: wait} }

// Limiter checks requests of clients one at a time. Limits of one name must always have the same N and
// Window. An error means that no decision was made: ctx is done, the store failed, or the limit is invalid.
type Limiter interface {
	Allow(ctx context.Context, who Client, limit Limit) (Decision, error)
	// AllowInTurn checks one request against several limits, in order and in one round trip.
	// The request counts under each limit that allows it; after the first refusal no further
	// limit is checked. It returns a decision for each checked limit. No limit may have N 0.
	AllowInTurn(ctx context.Context, asked ...Question) ([]Decision, error)
}

// Question asks whether one more request of a client passes a limit.
type Question struct {
	Who   Client
	Limit Limit
}

// only returns a limiter's decision on a single question. A limit with N 0 allows everything.
func only(ctx context.Context, by Limiter, asked Question) (Decision, error) {
	if asked.Limit.N == 0 {
		return Decision{Allowed: true}, ctx.Err()
	}
	decisions, err := by.AllowInTurn(ctx, asked)
	if err != nil {
		return Decision{}, err
	}
	return decisions[0], nil
}

// check returns an error if ctx is done or a question is invalid.
func check(ctx context.Context, asked []Question) error {
	err := ctx.Err()
	for _, q := range asked {
		if q.Limit.N == 0 {
			err = cmp.Or(err, fmt.Errorf("limit %q is none, and is not asked about", q.Limit.Name))
		}
		err = cmp.Or(err, q.Limit.check())
	}
	return err
}

// Seconds returns a wait in whole seconds, rounded up, as headers require.
func Seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }
