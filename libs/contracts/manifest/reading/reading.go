// Package reading limits the memory for parsing manifests. All manifests that are parsed at the same time
// must fit into a part of the process's memory. At any time, only one manifest of each business is parsed.
//
// A parsed manifest can be a hundred times as large as its source. Without the limit,
// a few manifests could exhaust the memory of a process that serves all businesses.
package reading

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// memoryBudget is the memory for parsing, which all businesses share.
type memoryBudget struct {
	bytes      int64
	free       *semaphore.Weighted
	businesses *bulkhead.Tenants
}

// processBudget returns the memory budget that all services in this process share. The first
// call creates the budget. This call happens after the function main has set the memory limit.
var processBudget = sync.OnceValue(func() *memoryBudget { return newMemoryBudget(budgetOf(debug.SetMemoryLimit(-1))) })

// budgetOf returns the part of the memory limit (GOMEMLIMIT) that is for parsing, in bytes. The rest is
// for all other work of the process. The limit [math.MaxInt64] means that the process has no memory limit.
func budgetOf(limit int64) int64 {
	const unlimited = 1 << 30
	if limit == math.MaxInt64 {
		return unlimited
	}
	return limit / 4 * 3
}

func newMemoryBudget(bytes int64) *memoryBudget {
	return &memoryBudget{bytes: bytes, free: semaphore.NewWeighted(bytes), businesses: bulkhead.New(1)}
}

// Do calls the function `work`, which parses manifests of a business, as soon as enough memory is free.
// The needed memory is computed from the sources by [manifest.Cost]. Do waits for the memory until ctx
// ends. The function `work` must return [manifest.ErrStopped] soon after the function `stop` returns true.
//
// The function `work` must not call Do for the same business, not even
// indirectly: that call would wait for `work` to end, and would never return.
//
// Faults: payload_too_large if one of the sources needs more memory than the
// whole budget; service_unavailable if ctx ends first; the faults of `work`.
func Do(ctx context.Context, business string, work func(stop func() bool) error, sources ...[]byte) error {
	return processBudget().run(ctx, business, work, sources...)
}

func (r *memoryBudget) run(ctx context.Context, business string, work func(stop func() bool) error,
	sources ...[]byte) error {
	leave, err := r.enter(ctx, business, sources)
	if err != nil {
		return err
	}
	defer leave()
	if err = work(func() bool { return ctx.Err() != nil }); errors.Is(err, manifest.ErrStopped) &&
		!fault.Is(err, fault.PeerUnavailable) {
		return TimeoutFault(ctx, err)
	}
	return err
}

func (r *memoryBudget) enter(ctx context.Context, business string, sources [][]byte) (func(), error) {
	var cost int64
	for _, source := range sources {
		one := manifest.Cost(source)
		if one > r.bytes {
			return nil, fault.Newf(fault.PayloadTooLarge,
				"The manifest may hold so many values that reading it takes %d MB, and %d MB are there for it; write "+
					"fewer values.", one>>20, r.bytes>>20)
		}
		cost += one
	}
	// A request that costs more than the whole budget could never run. The sources are parsed one after
	// another, so the parser never needs more than the whole budget at once.
	cost = min(cost, r.bytes)
	part, err := r.businesses.Enter(ctx, business)
	if err != nil {
		return nil, TimeoutFault(ctx, err)
	}
	if err := r.free.Acquire(ctx, cost); err != nil {
		part()
		return nil, TimeoutFault(ctx, err)
	}
	return func() {
		r.free.Release(cost)
		part()
	}, nil
}

// TimeoutFault returns the fault for a manifest that could not
// be parsed before ctx ended. The argument `err` is the cause.
func TimeoutFault(ctx context.Context, err error) error {
	timeout := fault.Wrap(fault.PeerUnavailable, errors.Join(err, context.Cause(ctx)),
		"The manifest could not be checked in time; nothing was changed, try again shortly.")
	timeout.RetryAfter = time.Second
	return timeout
}
