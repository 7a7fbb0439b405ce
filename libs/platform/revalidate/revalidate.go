// Package revalidate provides a cache for values that another service owns, such as business snapshots. The cache asks
// the owning service whether a cached value is still the newest version.
//
// For the time [TrustFor] after an answer, the cache returns the value without a request
// to the service, unless [Cache.Expire] reports a change. If the service does not answer
// in time, the cache returns the stale value and records its age (stale-if-error).
package revalidate

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// TrustFor is the time for which a confirmed value counts as the newest version.
const TrustFor = 2 * time.Second

// Value is a cached value. It is a pointer to one version of an object, and all readers share it.
type Value interface {
	comparable
	Number() int64 // version number, which never decreases
	Size() int     // size of the value, which counts against the total size of the cache
}

// Ask requests the newest value for `key` from the service that owns the value. The argument `known` is the cached
// value, or nil. If `known` is still the newest value, Ask returns `known` itself. The fault business_not_found means
// that no value exists for `key`.
//
// If the argument `mayBeOld` is true, the owning service may return a stale value. Ask then also returns the time since
// this value was the newest version. In this case, `known` must be nil.
type Ask[V Value] func(ctx context.Context, key string, known V, mayBeOld bool) (V, time.Duration, error)

// Options configures a [Cache].
type Options struct {
	// maximal total size; beyond it, the least recently used values are dropped, but at least one value stays
	MaxSize      int
	StaleTimeout time.Duration // maximal wait for an answer if a value is cached; 0: no maximum
	Clock        clock.Clock
	Stale        metric.Int64Counter // counts reads of a value that is not confirmed as the newest version
	Ages         metric.Float64Histogram
	// Unanswered is an optional function. The cache calls it with the error when the owning service does not answer and
	// the cache returns a stale value.
	Unanswered func(ctx context.Context, key string, err error)
}

// Ages returns the histogram of the ages of stale values that caches returned. The age
// is the time, in seconds, since the value was last confirmed as the newest version.
func Ages(tel *telemetry.Telemetry) metric.Float64Histogram {
	ages, err := tel.Meter.Float64Histogram("slotmesh.offer.age", metric.WithUnit("s"),
		metric.WithDescription("Age of a stale value that is used: the time since it was confirmed as the newest."),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400))
	if err != nil {
		panic(err) // OpenTelemetry fails only for an invalid name
	}
	return ages
}

// Cache holds values by key and revalidates the values with the service that owns them.
type Cache[V Value] struct {
	ask     Ask[V]
	opts    Options
	flights singleflight.Group

	mu      sync.Mutex // protects the fields below and the entries
	entries *simplelru.LRU[string, *entry[V]]
	size    int
}

// entry is a cached value with the times of its validation.
type entry[V Value] struct {
	value       V
	confirmedAt time.Time // time at which the value was last confirmed as the newest version
	nextCheck   time.Time // time from which the value must be revalidated
}

// New returns an empty cache that asks for values with the function `ask`.
func New[V Value](ask Ask[V], options Options) *Cache[V] {
	c := &Cache[V]{ask: ask, opts: options}
	// The cache limits the total size. The limit by number of values is never reached.
	c.entries, _ = simplelru.NewLRU(1<<30, func(_ string, e *entry[V]) { c.size -= e.value.Size() })
	return c
}

// Revalidate asks the owning service and returns the value that is the newest
// version during the call. It returns an error if the service does not answer.
func (c *Cache[V]) Revalidate(ctx context.Context, key string) (V, error) {
	e, err := c.refresh(ctx, key, false)
	return e.value, err
}

// Trusted returns a value that was the newest version at some time within the
// last [TrustFor]. It never returns an older value; it returns an error instead.
func (c *Cache[V]) Trusted(ctx context.Context, key string) (V, error) {
	now := c.opts.Clock.Now()
	if e, cached := c.lookup(key); cached && now.Before(e.nextCheck) && e.age(now) < TrustFor {
		return e.value, nil
	}
	return c.Revalidate(ctx, key)
}

// Get returns a value that was the newest version at some time within the last [TrustFor].
// If the owning service does not confirm a value, Get returns the cached stale value.
func (c *Cache[V]) Get(ctx context.Context, key string) (V, error) {
	now := c.opts.Clock.Now()
	e, cached := c.lookup(key)
	if cached && now.Before(e.nextCheck) {
		if e.age(now) >= TrustFor {
			c.recordStale(ctx, e, now)
		}
		return e.value, nil
	}
	e, err := c.askOrUseStale(ctx, key, c.revalidateOnce)
	return e.value, err
}

// RevalidateOrStale asks the owning service and returns the newest value. If the service does not answer, it
// returns the cached value. It also returns the time since the value was confirmed as the newest version.
func (c *Cache[V]) RevalidateOrStale(ctx context.Context, key string) (V, time.Duration, error) {
	e, err := c.askOrUseStale(ctx, key, func(ctx context.Context, key string) (entry[V], error) {
		return c.refresh(ctx, key, true)
	})
	if err != nil {
		return e.value, 0, err
	}
	return e.value, e.age(c.opts.Clock.Now()), nil
}

// Peek returns the cached value, and whether the cache has a value for the key. It does not ask the owning service.
func (c *Cache[V]) Peek(key string) (V, bool) {
	e, cached := c.lookup(key)
	return e.value, cached
}

// Expire makes the next [Cache.Get] for `key` ask the owning service.
func (c *Cache[V]) Expire(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.nextCheck = time.Time{}
	}
}

// askOrUseStale calls the function `ask` and returns its result. If the cache has a value for the key, askOrUseStale
// waits for `ask` at most for the duration StaleTimeout. If `ask` then fails, askOrUseStale returns the cached value.
func (c *Cache[V]) askOrUseStale(ctx context.Context, key string, ask func(context.Context, string) (entry[V],
	error)) (entry[V], error) {
	now := c.opts.Clock.Now()
	cached, isCached := c.lookup(key)
	wait := ctx
	if isCached && c.opts.StaleTimeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, c.opts.StaleTimeout)
		defer cancel()
	}
	newest, err := ask(wait, key)
	switch {
	case err == nil && newest.age(now) < TrustFor:
		return newest, nil
	case err == nil: // the value was confirmed longer than TrustFor ago
		cached = newest
	case !isCached || fault.Is(err, fault.BusinessNotFound) || ctx.Err() != nil:
		return newest, err
	case c.opts.Unanswered != nil:
		c.opts.Unanswered(ctx, key, err)
	}
	c.postpone(key, now)
	c.recordStale(ctx, cached, now)
	return cached, nil
}

// recordStale records in the metrics that the cache returns an unconfirmed value.
func (c *Cache[V]) recordStale(ctx context.Context, e entry[V], now time.Time) {
	c.opts.Stale.Add(ctx, 1)
	c.opts.Ages.Record(ctx, e.age(now).Seconds())
}

func (e *entry[V]) age(now time.Time) time.Duration { return now.Sub(e.confirmedAt) }

// revalidateOnce revalidates a value once for all concurrent callers. If all callers stop waiting, the request
// continues, so that later callers can use its result.
func (c *Cache[V]) revalidateOnce(ctx context.Context, key string) (entry[V], error) {
	result := c.flights.DoChan(key, func() (any, error) { return c.refresh(context.WithoutCancel(ctx), key, true) })
	select {
	case r := <-result:
		return r.Val.(entry[V]), r.Err
	case <-ctx.Done():
		return entry[V]{}, ctx.Err()
	}
}

// refresh requests the newest value and stores it. If no value exists for the
// key, it stores nothing, so that requests with random keys cannot evict values.
//
// The value counts as confirmed from the time at which the request was sent. A
// change during the request is therefore not missed for longer than [TrustFor].
func (c *Cache[V]) refresh(ctx context.Context, key string, acceptsStale bool) (entry[V], error) {
	start := c.opts.Clock.Now()
	cached, isCached := c.lookup(key)
	newest, age, err := c.ask(ctx, key, cached.value, acceptsStale && !isCached)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if fault.Is(err, fault.BusinessNotFound) {
			c.entries.Remove(key)
		}
		return entry[V]{}, err
	}
	at := start.Add(-age)
	e, hasValue := c.entries.Get(key)
	switch {
	// Another call has stored a newer answer.
	case hasValue && (e.value.Number() > newest.Number() || e.value.Number() == newest.Number() &&
		e.confirmedAt.After(at)):
	case hasValue && e.value == newest:
		e.confirmedAt, e.nextCheck = at, at.Add(TrustFor)
	default:
		c.entries.Remove(key)
		e = &entry[V]{value: newest, confirmedAt: at, nextCheck: at.Add(TrustFor)}
		c.entries.Add(key, e)
		c.size += newest.Size()
		for c.size > c.opts.MaxSize && c.entries.Len() > 1 {
			c.entries.RemoveOldest()
		}
	}
	return *e, nil
}

func (c *Cache[V]) lookup(key string) (entry[V], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Get(key); ok {
		return *e, true
	}
	return entry[V]{}, false
}

// postpone delays the next revalidation of the cached value by
// [TrustFor], so that not every read asks a service that does not answer.
func (c *Cache[V]) postpone(key string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.nextCheck = now.Add(TrustFor)
	}
}
