// Package reading bounds the memory in which a process reads manifests: what is read at once fits into a part of what the process may use, and no
// business takes more than one turn at a time of it. A small source can become a hundred times its size, so that a few of them could end a process
// that serves all.
package reading

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/bulkhead"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/manifest"
)

// room is memory for reading, which businesses share.
type room struct {
	bytes      int64
	free       *semaphore.Weighted
	businesses *bulkhead.Tenants
}

// process returns the room of this process, whichever services it runs. It is made when it is first wanted: main sets the memory limit.
var process = sync.OnceValue(func() *room { return newRoom(shareOf(debug.SetMemoryLimit(-1))) })

// shareOf is how much of a memory limit (GOMEMLIMIT) is for reading; the rest is for all else that the process does. [math.MaxInt64] is no limit.
func shareOf(limit int64) int64 {
	const unlimited = 1 << 30
	if limit == math.MaxInt64 {
		return unlimited
	}
	return limit / 4 * 3
}

func newRoom(bytes int64) *room {
	return &room{bytes: bytes, free: semaphore.NewWeighted(bytes), businesses: bulkhead.New(1)}
}

// Do has work read sources of a business once there is room for them in this process ([manifest.Cost]), and waits for it until ctx ends. work gives up
// with [manifest.ErrStopped] soon after stop returns true, and asks nobody who reads for the business in the same process, as that would wait for
// it. Faults: payload_too_large where one of the sources never fits; service_unavailable where ctx ends before; those of work.
func Do(ctx context.Context, business string, work func(stop func() bool) error, sources ...[]byte) error {
	return process().do(ctx, business, work, sources...)
}

func (r *room) do(ctx context.Context, business string, work func(stop func() bool) error, sources ...[]byte) error {
	leave, err := r.enter(ctx, business, sources)
	if err != nil {
		return err
	}
	defer leave()
	if err = work(func() bool { return ctx.Err() != nil }); errors.Is(err, manifest.ErrStopped) && !fault.Is(err, fault.PeerUnavailable) {
		return TooLong(ctx, err)
	}
	return err
}

func (r *room) enter(ctx context.Context, business string, sources [][]byte) (func(), error) {
	var cost int64
	for _, source := range sources {
		one := manifest.Cost(source)
		if one > r.bytes {
			return nil, fault.Newf(fault.PayloadTooLarge,
				"The manifest may hold so many values that reading it takes %d MB, and %d MB are there for it; write fewer values.", one>>20, r.bytes>>20)
		}
		cost += one
	}
	cost = min(cost, r.bytes) // several are read one after another
	part, err := r.businesses.Enter(ctx, business)
	if err != nil {
		return nil, TooLong(ctx, err)
	}
	if err := r.free.Acquire(ctx, cost); err != nil {
		part()
		return nil, TooLong(ctx, err)
	}
	return func() {
		r.free.Release(cost)
		part()
	}, nil
}

// TooLong is the fault of a manifest that could not be read before ctx ended.
func TooLong(ctx context.Context, err error) error {
	late := fault.Wrap(fault.PeerUnavailable, errors.Join(err, context.Cause(ctx)),
		"The manifest could not be checked in time; nothing was changed, try again shortly.")
	late.RetryAfter = time.Second
	return late
}
