// Package ratelimit counts requests in exact rolling windows (semantics.md §8): N requests pass at once, the N+1st is
// refused until the oldest that passed is one window old, and refused ones do not count.
//
// [Redis] keeps the state for all replicas, [Local] keeps the same in this process, and [Fallback] puts the second in
// for the first while Redis is away. All pass one test suite. Which limits there are, libs/limits says.
package ratelimit

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Limit allows N requests in any span of one Window. Name tells its counts from those of other limits. One with N 0 is none:
// everything passes, nothing is counted.
type Limit struct {
	Name   string
	N      int
	Window time.Duration
}

// PerMinute is the limit of n requests in any 60 seconds.
func PerMinute(name string, n int) Limit { return Limit{Name: name, N: n, Window: time.Minute} }

// check says what is wrong with the limit, if anything.
func (l Limit) check() error {
	if l.N < 0 || l.N > 0 && l.Window < time.Microsecond {
		return fmt.Errorf("limit %q: %d per %s is none; give 0, or a number above 0 and a window of at least 1µs", l.Name, l.N, l.Window)
	}
	return nil
}

// Decision says whether a request passes.
type Decision struct {
	Allowed    bool
	RetryAfter time.Duration // the exact time until one would pass; 0 where this one did
	Left       int           // how many more would pass now
	Reset      time.Duration // until the oldest request that counts no longer does; RetryAfter where refused
}

// refused is the decision that a request may come back after wait.
func refused(wait time.Duration) Decision { return Decision{RetryAfter: wait, Reset: wait} }

// Limiter decides on one request of a client at a time. A limit of one name is always given with the same figures. An error
// means that it could not be decided: that of ctx, that of the store, or that the limit makes no sense.
type Limiter interface {
	Allow(ctx context.Context, who Client, limit Limit) (Decision, error)
	// AllowInTurn decides on one request by several limits, one after the other, in one round trip: it counts under each that lets it
	// pass, and those after the first that refuses it are not asked. There is a decision for each that was asked. None may be a limit of N 0.
	AllowInTurn(ctx context.Context, asked ...Question) ([]Decision, error)
}

// Question is whether one more request of a client passes a limit.
type Question struct {
	Who   Client
	Limit Limit
}

// only is a limiter's decision on a single question. By a limit of N 0 everything passes.
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

// check says why questions cannot be asked, if anything.
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

// Seconds is a wait as headers take it: whole seconds, rounded up.
func Seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }
