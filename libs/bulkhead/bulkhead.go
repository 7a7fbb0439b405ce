// Package bulkhead keeps the work of one tenant from starving that of the others: each has a few places for work at once,
// work that several wait for is done once, and work that fails for one is done for the others all the same.
package bulkhead

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// Tenants gives each tenant the same number of places. It is safe for use by many goroutines, and remembers only tenants
// that are at work.
type Tenants struct {
	each int64

	mu     sync.Mutex
	atWork map[string]*places
}

// places are those of one tenant; users hold one or wait for one.
type places struct {
	free  *semaphore.Weighted
	users int
}

// New returns as many places for each tenant; at least one.
func New(each int) *Tenants {
	return &Tenants{each: int64(max(1, each)), atWork: map[string]*places{}}
}

// Enter waits for one of the tenant's places, in the order of arrival, until ctx ends, whose error it returns then. Who
// has got one calls leave, once.
func (t *Tenants) Enter(ctx context.Context, tenant string) (func(), error) {
	p := t.join(tenant)
	if err := p.free.Acquire(ctx, 1); err != nil {
		t.part(tenant, p)
		return nil, err
	}
	return func() {
		p.free.Release(1)
		t.part(tenant, p)
	}, nil
}

func (t *Tenants) join(tenant string) *places {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.atWork[tenant]
	if p == nil {
		p = &places{free: semaphore.NewWeighted(t.each)}
		t.atWork[tenant] = p
	}
	p.users++
	return p
}

func (t *Tenants) part(tenant string, p *places) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(t.atWork, tenant)
	}
}

// Each does work for each of the tenants in turn, until ctx ends. What fails for one holds up none after it: the error, that of the first for
// which it failed, says for how many it did.
func Each[T any](ctx context.Context, tenants []T, work func(context.Context, T) error) error {
	var (
		first  error
		failed int
	)
	for _, tenant := range tenants {
		if ctx.Err() != nil {
			return cmp.Or(first, ctx.Err())
		}
		if err := work(ctx, tenant); err != nil {
			first = cmp.Or(first, err)
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d: %w", failed, len(tenants), first)
}

// Shared does work once for all who ask for it while it is under way. The zero value is ready.
type Shared[T any] struct{ flights singleflight.Group }

// Do returns what work makes for key, its own or that of another call under way, and no later than ctx ends. The work goes
// on without whoever asked for it first; it has that one's deadline and values. A panic in it is an error.
func (s *Shared[T]) Do(ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	done := s.flights.DoChan(key, func() (any, error) {
		own := context.WithoutCancel(ctx)
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			own, cancel = context.WithDeadline(own, deadline)
			defer cancel()
		}
		var result T
		err := fault.Guard(func() error {
			var failed error
			result, failed = work(own)
			return failed
		})
		return result, err
	})
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	}
}
