// Package revalidate is a cache for values that another service owns, such as
// offers. The cache asks that service whether its value is still the newest version.
//
// The cache returns a value without asking for the time [TrustFor] after the last
// answer, unless [Cache.Expire] reports a change. If the service does not answer
// in time, the cache returns its stale value and records the age (stale-if-error).
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

// TrustFor is how long a value is considered the newest without asking.
const TrustFor = 2 * time.Second

// Value is a cached value: a pointer to one version of an object. Readers share it.
type Value interface {
	comparable
	Number() int64 // version number; it only grows
	Size() int     // its part of the cache's total size
}

// Ask requests the newest value of key from its owner. known is the value in the cache, or nil; if it is
// still the newest, Ask returns known itself. The fault business_not_found means that no value exists.
//
// If mayBeOld is true, the owner may return a stale value, with
// the time since it was the newest. known must then be nil.
type Ask[V Value] func(ctx context.Context, key string, known V, mayBeOld bool) (V, time.Duration, error)

// Options configure a cache.
type Options struct {
	Most     int           // maximal total size; at least one value is kept, and the least recently used goes first
	Patience time.Duration // how long a reader waits for an answer if a value is in memory; 0: no bound
	Clock    clock.Clock
	Stale    metric.Int64Counter // counts reads of a value that is not confirmed as the newest
	Ages     metric.Float64Histogram
	// Unanswered, if not nil, is called with the error because of which a stale value is returned.
	Unanswered func(ctx context.Context, key string, err error)
}

// Ages returns the histogram of the ages of stale values that a cache returned.
// The age is the time, in seconds, since the value was known to be the newest.
func Ages(tel *telemetry.Telemetry) metric.Float64Histogram {
	ages, err := tel.Meter.Float64Histogram("slotmesh.offer.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the last good version where it is served: since it was last known to be the "+
			"newest."),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400))
	if err != nil {
		panic(err) // only for a name that OpenTelemetry refuses
	}
	return ages
}

// Cache holds values by key.
type Cache[V Value] struct {
	ask     Ask[V]
	opts    Options
	flights singleflight.Group

	mu      sync.Mutex // protects the fields below and the entries
	entries *simplelru.LRU[string, *entry[V]]
	size    int
}

// entry is a value with the times of its validation.
type entry[V Value] struct {
	value   V
	checked time.Time // when it was last known to be the newest
	due     time.Time // when it must be revalidated
}

// New returns an empty cache.
func New[V Value](ask Ask[V], options Options) *Cache[V] {
	c := &Cache[V]{ask: ask, opts: options}
	// The cache is bounded by size; the limit by number is never reached.
	c.entries, _ = simplelru.NewLRU(1<<30, func(_ string, e *entry[V]) { c.size -= e.value.Size() })
	return c
}

// Newest returns a value that is the newest at some time during the call.
func (c *Cache[V]) Newest(ctx context.Context, key string) (V, error) {
	e, err := c.revalidate(ctx, key, false)
	return e.value, err
}

// Recent returns a value that was the newest at some time within the last [TrustFor], and never an older one.
func (c *Cache[V]) Recent(ctx context.Context, key string) (V, error) {
	now := c.opts.Clock.Now()
	if e, known := c.lookup(key); known && now.Before(e.due) && e.age(now) < TrustFor {
		return e.value, nil
	}
	return c.Newest(ctx, key)
}

// Get returns a value that was the newest at some time within the last [TrustFor], or the last valid one.
func (c *Cache[V]) Get(ctx context.Context, key string) (V, error) {
	now := c.opts.Clock.Now()
	e, known := c.lookup(key)
	if known && now.Before(e.due) {
		if e.age(now) >= TrustFor {
			c.old(ctx, e, now)
		}
		return e.value, nil
	}
	e, err := c.orLast(ctx, key, c.shared)
	return e.value, err
}

// LastKnown returns the newest value like [Cache.Newest]. If the owner does not answer, it returns
// the last value that it got. It also returns the time since the value was known to be the newest.
func (c *Cache[V]) LastKnown(ctx context.Context, key string) (V, time.Duration, error) {
	e, err := c.orLast(ctx, key, func(ctx context.Context, key string) (entry[V], error) {
		return c.revalidate(ctx, key, true)
	})
	if err != nil {
		return e.value, 0, err
	}
	return e.value, e.age(c.opts.Clock.Now()), nil
}

// Peek returns the value in memory, if any.
func (c *Cache[V]) Peek(key string) (V, bool) {
	e, known := c.lookup(key)
	return e.value, known
}

// Expire makes the next [Cache.Get] of key revalidate.
func (c *Cache[V]) Expire(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.due = time.Time{}
	}
}

// orLast returns the result of the argument ask. If the cache has a value, orLast waits
// at most for the configured patience, and returns the cached value if ask fails.
func (c *Cache[V]) orLast(ctx context.Context, key string, ask func(context.Context, string) (entry[V],
	error)) (entry[V], error) {
	now := c.opts.Clock.Now()
	last, known := c.lookup(key)
	wait := ctx
	if known && c.opts.Patience > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, c.opts.Patience)
		defer cancel()
	}
	newest, err := ask(wait, key)
	switch {
	case err == nil && newest.age(now) < TrustFor:
		return newest, nil
	case err == nil: // not confirmed as the newest
		last = newest
	case !known || fault.Is(err, fault.BusinessNotFound) || ctx.Err() != nil:
		return newest, err
	case c.opts.Unanswered != nil:
		c.opts.Unanswered(ctx, key, err)
	}
	c.postpone(key, now)
	c.old(ctx, last, now)
	return last, nil
}

// old records that an unconfirmed value is served.
func (c *Cache[V]) old(ctx context.Context, e entry[V], now time.Time) {
	c.opts.Stale.Add(ctx, 1)
	c.opts.Ages.Record(ctx, e.age(now).Seconds())
}

func (e *entry[V]) age(now time.Time) time.Duration { return now.Sub(e.checked) }

// shared revalidates once for all concurrent callers. The request continues after they have left, for later callers.
func (c *Cache[V]) shared(ctx context.Context, key string) (entry[V], error) {
	result := c.flights.DoChan(key, func() (any, error) { return c.revalidate(context.WithoutCancel(ctx), key, true) })
	select {
	case r := <-result:
		return r.Val.(entry[V]), r.Err
	case <-ctx.Done():
		return entry[V]{}, ctx.Err()
	}
}

// revalidate requests the newest value and stores it. It does not store that
// a key is missing, because requests with random keys must not evict values.
//
// The value counts as confirmed from the time at which the request
// was sent, so that a change during the request is not missed.
func (c *Cache[V]) revalidate(ctx context.Context, key string, mayBeOld bool) (entry[V], error) {
	asked := c.opts.Clock.Now()
	last, known := c.lookup(key)
	newest, age, err := c.ask(ctx, key, last.value, mayBeOld && !known)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if fault.Is(err, fault.BusinessNotFound) {
			c.entries.Remove(key)
		}
		return entry[V]{}, err
	}
	at := asked.Add(-age)
	e, have := c.entries.Get(key)
	switch {
	// Another call has a newer answer.
	case have && (e.value.Number() > newest.Number() || e.value.Number() == newest.Number() && e.checked.After(at)):
	case have && e.value == newest:
		e.checked, e.due = at, at.Add(TrustFor)
	default:
		c.entries.Remove(key)
		e = &entry[V]{value: newest, checked: at, due: at.Add(TrustFor)}
		c.entries.Add(key, e)
		c.size += newest.Size()
		for c.size > c.opts.Most && c.entries.Len() > 1 {
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

// postpone makes reads use the cached value for another [TrustFor], so that not every read asks the owner.
func (c *Cache[V]) postpone(key string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.due = now.Add(TrustFor)
	}
}
