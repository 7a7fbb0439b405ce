// Package bulkhead prevents the work of one tenant from using up the capacity of other tenants. [Tenants] limits the
// concurrent work of each tenant. [Each] continues with the other tenants when the work for one tenant fails. [Shared]
// runs the same work once for several callers.
package bulkhead

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Tenants limits the number of callers that may work concurrently for one tenant. The limit is the same for all
// tenants. Only tenants with work in progress use memory. Tenants is safe for concurrent use.
type Tenants struct {
	placesEach int64

	mu   sync.Mutex
	busy map[string]*places
}

// places holds the semaphore of one tenant. The field `users` is the number of callers that hold a place or wait for
// one.
type places struct {
	semaphore *semaphore.Weighted
	users     int
}

// New returns a Tenants without work in progress. The argument `each` is the number of callers that may work
// concurrently for one tenant. A number below 1 counts as 1.
func New(each int) *Tenants {
	return &Tenants{placesEach: int64(max(1, each)), busy: map[string]*places{}}
}

// Enter waits until one of the tenant's places is free. Callers get places in the order of arrival. If ctx ends
// first, Enter returns the error of ctx. The caller must call the returned function once to release the place.
func (t *Tenants) Enter(ctx context.Context, tenant string) (func(), error) {
	p := t.join(tenant)
	if err := p.semaphore.Acquire(ctx, 1); err != nil {
		t.leave(tenant, p)
		return nil, err
	}
	return func() {
		p.semaphore.Release(1)
		t.leave(tenant, p)
	}, nil
}

func (t *Tenants) join(tenant string) *places {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.busy[tenant]
	if p == nil {
		p = &places{semaphore: semaphore.NewWeighted(t.placesEach)}
		t.busy[tenant] = p
	}
	p.users++
	return p
}

func (t *Tenants) leave(tenant string, p *places) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(t.busy, tenant)
	}
}

// Each calls `work` for the given tenants, one after the other, until ctx ends. If `work` fails for a tenant, Each
// continues with the next tenant. It returns the first error of `work`, together with the number of tenants for which
// `work` failed.
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

// Shared runs a function only once for several callers. If a caller asks for a key while the function already runs for
// that key, the caller gets the result of that run. The zero value is ready to use.
type Shared[T any] struct{ flights singleflight.Group }

// Do returns the result of the function `work` for a key. If a call for the same key is in progress, Do waits for the
// result of that call. Do returns the error of ctx when ctx ends. A panic of `work` becomes an error.
//
// If the caller that started the work stops waiting, the work continues for the other callers. The work keeps the
// deadline and the values of the first caller's context.
func (s *Shared[T]) Do(ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	results := s.flights.DoChan(key, func() (any, error) {
		ownCtx := context.WithoutCancel(ctx)
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ownCtx, cancel = context.WithDeadline(ownCtx, deadline)
			defer cancel()
		}
		var result T
		err := fault.Guard(func() error {
			var workErr error
			result, workErr = work(ownCtx)
			return workErr
		})
		return result, err
	})
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-results:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	}
}
