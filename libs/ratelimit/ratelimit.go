// Package ratelimit counts requests in exact rolling windows (semantics.md §8): N requests pass at once, the N+1st is
// refused until the oldest that passed is one window old, and refused ones do not count.
//
// [Redis] keeps the state for all replicas, [Local] keeps the same in this process, and [Fallback] puts the second in
// for the first while Redis is away. Both pass one test suite.
package ratelimit

import (
	"context"
	"fmt"
	"net/netip"
	"time"
)

// Limit allows N requests in any span of one Window. The zero Limit is none: everything passes, nothing is counted.
type Limit struct {
	N      int
	Window time.Duration
}

// PerMinute is the limit of n requests in any 60 seconds.
func PerMinute(n int) Limit { return Limit{N: n, Window: time.Minute} }

// check says what is wrong with the limit, if anything.
func (l Limit) check() error {
	if l.N < 0 || l.N > 0 && l.Window < time.Microsecond {
		return fmt.Errorf("limit: %d per %s is none; give 0, or a number above 0 and a window of at least 1µs", l.N, l.Window)
	}
	return nil
}

// Decision says whether a request passes. RetryAfter is the exact time until one would pass; 0 where this one did.
type Decision struct {
	Allowed    bool
	RetryAfter time.Duration
}

// RetryAfterSeconds is RetryAfter as the header Retry-After takes it: whole seconds, rounded up.
func (d Decision) RetryAfterSeconds() int {
	return int((d.RetryAfter + time.Second - 1) / time.Second)
}

// Limiter decides on one request at a time. A key stands for one client under one limit ("slots:192.0.2.7") and is
// always given with the same limit. An error means that it could not be decided: that of ctx, that of the store, or
// that the limit makes no sense.
type Limiter interface {
	Allow(ctx context.Context, key string, limit Limit) (Decision, error)
}

// ClientKey is the identity by which an address is counted: an IPv4 address by itself, also where it is written as
// IPv6; an IPv6 address by its /64, which one customer holds as a whole (semantics.md §8).
func ClientKey(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
