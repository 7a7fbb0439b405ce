// Package revalidate keeps values in memory that change rarely and elsewhere, and asks there whether they are still the newest.
//
// A value is trusted for [TrustFor], or until [Cache.Expire] says that there is news. While nobody answers, or nobody soon enough,
// the last good value is served on, and its age is told (stale-if-error).
package revalidate

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// TrustFor is how long a value is taken for the newest without asking.
const TrustFor = 2 * time.Second

// Value is what is kept: a pointer to one version of something. It is shared by readers.
type Value interface {
	comparable
	Number() int64 // of the version; it grows
	Size() int     // what it takes of the cache's bound
}

// Ask asks for the newest value of key. known is the one in memory, or nil: it is returned itself where it is still the newest.
// With mayBeOld, and only where nothing is known, the answer may be the last one that was, with the time since then. The fault
// business_not_found says that there is none.
type Ask[V Value] func(ctx context.Context, key string, known V, mayBeOld bool) (V, time.Duration, error)

// Options are what a cache is made with.
type Options struct {
	Most     int           // of all sizes together; one value is kept at least, and the least recently used goes first
	Patience time.Duration // how long a reader waits for news of what is in memory; 0 is no bound
	Clock    clock.Clock
	Stale    metric.Int64Counter // of the readers that were given a value of which nobody says that it is the newest
	Ages     metric.Float64Histogram
	// Unanswered is told, where it is not nil, why a value in memory is served on.
	Unanswered func(ctx context.Context, key string, err error)
}

// Ages returns the histogram of how old values are, in seconds since they were last known to be the newest, with which
// readers are answered while nobody says whether there is a newer one.
func Ages(tel *telemetry.Telemetry) metric.Float64Histogram {
	ages, err := tel.Meter.Float64Histogram("slotmesh.offer.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the last good version where it is served: since it was last known to be the newest."),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400))
	if err != nil {
		panic(err) // only for a name that OpenTelemetry refuses
	}
	return ages
}

// Cache keeps values by their keys.
type Cache[V Value] struct {
	ask     Ask[V]
	opts    Options
	flights singleflight.Group

	mu      sync.Mutex // of all below, entries included
	entries *simplelru.LRU[string, *entry[V]]
	size    int
}

// entry is a value and what is known of whether it is the newest.
type entry[V Value] struct {
	value   V
	checked time.Time // when it last was the newest
	due     time.Time // from when on it is asked again
}

// New returns an empty cache.
func New[V Value](ask Ask[V], options Options) *Cache[V] {
	c := &Cache[V]{ask: ask, opts: options}
	// The bound is kept by size; by number it is out of reach.
	c.entries, _ = simplelru.NewLRU(1<<30, func(_ string, e *entry[V]) { c.size -= e.value.Size() })
	return c
}

// Newest returns the value that is the newest while the call lasts.
func (c *Cache[V]) Newest(ctx context.Context, key string) (V, error) {
	e, err := c.revalidate(ctx, key, false)
	return e.value, err
}

// Recent returns a value that was the newest at some time within the last [TrustFor]; it never returns an older one.
func (c *Cache[V]) Recent(ctx context.Context, key string) (V, error) {
	now := c.opts.Clock.Now()
	if e, known := c.lookup(key); known && now.Before(e.due) && e.age(now) < TrustFor {
		return e.value, nil
	}
	return c.Newest(ctx, key)
}

// Get returns a value that was the newest at some time within the last [TrustFor], or the last good one.
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

// LastKnown returns what [Cache.Newest] does, or the last good value; and how long ago that was last known to be the newest.
func (c *Cache[V]) LastKnown(ctx context.Context, key string) (V, time.Duration, error) {
	e, err := c.orLast(ctx, key, func(ctx context.Context, key string) (entry[V], error) { return c.revalidate(ctx, key, true) })
	if err != nil {
		return e.value, 0, err
	}
	return e.value, e.age(c.opts.Clock.Now()), nil
}

// Peek returns the value in memory, if there is one.
func (c *Cache[V]) Peek(key string) (V, bool) {
	e, known := c.lookup(key)
	return e.value, known
}

// Expire makes the next [Cache.Get] of key ask.
func (c *Cache[V]) Expire(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.due = time.Time{}
	}
}

// orLast returns what ask learns. Where a value is in memory, it waits no longer than the patience, and serves that where it learns
// nothing.
func (c *Cache[V]) orLast(ctx context.Context, key string, ask func(context.Context, string) (entry[V], error)) (entry[V], error) {
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
	case err == nil: // nobody knows whether it is the newest
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

// old counts that a value is served of which nobody says whether it is the newest.
func (c *Cache[V]) old(ctx context.Context, e entry[V], now time.Time) {
	c.opts.Stale.Add(ctx, 1)
	c.opts.Ages.Record(ctx, e.age(now).Seconds())
}

func (e *entry[V]) age(now time.Time) time.Duration { return now.Sub(e.checked) }

// shared asks once for all who wait for it. The question goes on when they have gone, for who comes later.
func (c *Cache[V]) shared(ctx context.Context, key string) (entry[V], error) {
	result := c.flights.DoChan(key, func() (any, error) { return c.revalidate(context.WithoutCancel(ctx), key, true) })
	select {
	case r := <-result:
		return r.Val.(entry[V]), r.Err
	case <-ctx.Done():
		return entry[V]{}, ctx.Err()
	}
}

// revalidate asks, and keeps what it learns. A value counts as checked from the moment of asking, so that a change during the
// call is not missed. Unknown keys are not remembered: guesses must not push out values.
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
	case have && (e.value.Number() > newest.Number() || e.value.Number() == newest.Number() && e.checked.After(at)): // another call learned more
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

// postpone lets the next readers until another [TrustFor] has passed have what is in memory, and not each of them ask.
func (c *Cache[V]) postpone(key string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(key); ok {
		e.due = now.Add(TrustFor)
	}
}
