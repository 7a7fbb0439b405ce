// Package current keeps the newest version of each business ready in memory, so that it is decoded and compiled once per
// version and not once per request.
//
// A version's text never changes, so only the number of the newest one must be kept fresh. [Cache.Verified] asks
// the database for it every time; [Cache.Fresh] trusts what it learned within the last [Trust], unless [Cache.Expire]
// said that there is news, and goes on with the last good version while the database is away (DESIGN.md).
package current

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Trust is for how long a version is taken for the newest without asking.
const Trust = catalogclient.TrustFor

// loadTimeout ends a read that several requests wait for, so it is no single one's deadline.
const loadTimeout = 5 * time.Second

// Source is where versions come from. Both report [fault.BusinessNotFound].
type Source interface {
	Head(ctx context.Context, slug string) (int64, error)
	Text(ctx context.Context, slug string, version int64) (store.Text, error)
}

// Build makes the ready form of a version from its stored text.
type Build[T any] func(text store.Text, version int64) (T, error)

// Cache holds ready versions. Its memory is bounded by the canonical JSON that they were made from.
type Cache[T any] struct {
	source   Source
	build    Build[T]
	clock    clock.Clock
	tel      *telemetry.Telemetry
	maxBytes int
	patience time.Duration

	mu      sync.Mutex
	entries *simplelru.LRU[string, *entry[T]]
	bytes   int

	checks singleflight.Group // by slug
	loads  singleflight.Group // by slug and version

	built metric.Int64Counter
	stale metric.Int64Counter
	ages  metric.Float64Histogram
}

// entry is never changed once it is in the cache, but for what is known of its freshness.
type entry[T any] struct {
	version int64
	ready   T
	bytes   int
	*catalogclient.Freshness
}

// New returns an empty cache that keeps up to maxBytes of canonical JSON in its ready form, and one version at least.
// Who asks for a business of which a version is kept waits for patience at most to learn whether there is a newer one; 0 is no bound.
func New[T any](source Source, build Build[T], maxBytes int, patience time.Duration, clk clock.Clock, tel *telemetry.Telemetry) *Cache[T] {
	c := &Cache[T]{
		source: source, build: build, clock: clk, tel: tel, maxBytes: maxBytes, patience: patience,
		built: tel.Counter("slotmesh.catalog.versions.built", "Versions decoded and compiled."),
		stale: tel.Counter("slotmesh.catalog.versions.stale", "Reads of the last good version while the database was away."),
		ages:  catalogclient.Ages(tel),
	}
	// The bound is kept by bytes; by number it is out of reach.
	c.entries, _ = simplelru.NewLRU(1<<30, func(_ string, e *entry[T]) { c.bytes -= e.bytes })
	return c
}

// Verified returns the version of slug that is the newest while the call lasts, and its number.
func (c *Cache[T]) Verified(ctx context.Context, slug string) (T, int64, error) {
	asked := c.clock.Now()
	head, err := c.source.Head(ctx, slug)
	if err != nil {
		c.forget(slug, err)
		var none T
		return none, 0, err
	}
	return c.at(ctx, slug, head, asked)
}

// Fresh returns a version of slug that was the newest at some time within the last [Trust], and its number. While
// the database is away, or slow to say, it is the last one known.
func (c *Cache[T]) Fresh(ctx context.Context, slug string) (T, int64, error) {
	asked := c.clock.Now()
	known := c.lookup(slug)
	if known == nil {
		return c.check(ctx, slug)
	}
	if known.Due(asked) {
		wait, cancel := catalogclient.Patient(ctx, c.patience) // the check itself goes on, for who comes later
		defer cancel()
		ready, version, err := c.check(wait, slug)
		if err == nil || fault.Is(err, fault.BusinessNotFound) || ctx.Err() != nil {
			return ready, version, err
		}
		c.tel.Logger.WarnContext(ctx, "the last good version is served: the database did not say which is the newest",
			"slug", slug, "version", known.version, "error", err)
		known.Postpone(asked)
		c.old(ctx, known, asked)
	} else if known.Age(asked) >= Trust {
		c.old(ctx, known, asked)
	}
	return known.ready, known.version, nil
}

// old counts that a version is served of which nobody says whether it is the newest.
func (c *Cache[T]) old(ctx context.Context, e *entry[T], now time.Time) {
	c.stale.Add(ctx, 1)
	c.ages.Record(ctx, e.Age(now).Seconds())
}

// check asks for the newest version once for all who wait for it.
func (c *Cache[T]) check(ctx context.Context, slug string) (T, int64, error) {
	e, err := shared(ctx, &c.checks, slug, func(ctx context.Context) (*entry[T], error) {
		ready, version, err := c.Verified(ctx, slug)
		return &entry[T]{ready: ready, version: version}, err
	})
	if err != nil {
		var none T
		return none, 0, err
	}
	return e.ready, e.version, nil
}

// at returns a version of slug, which was the newest at some time since the caller asked.
func (c *Cache[T]) at(ctx context.Context, slug string, version int64, asked time.Time) (T, int64, error) {
	if e := c.lookup(slug); e != nil && e.version == version {
		e.Confirm(asked)
		return e.ready, version, nil
	}
	e, err := shared(ctx, &c.loads, fmt.Sprintf("%s@%d", slug, version), func(ctx context.Context) (*entry[T], error) {
		return c.load(ctx, slug, version, asked)
	})
	if err != nil {
		var none T
		return none, 0, err
	}
	return e.ready, version, nil
}

func (c *Cache[T]) load(ctx context.Context, slug string, version int64, asked time.Time) (*entry[T], error) {
	ctx, span := c.tel.Tracer.Start(ctx, "catalog.load")
	defer span.End()
	text, err := c.source.Text(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	ready, err := c.build(text, version)
	if err != nil {
		return nil, fmt.Errorf("version %d of %s: %w", version, slug, err)
	}
	c.built.Add(ctx, 1)
	e := &entry[T]{version: version, ready: ready, bytes: len(text.JSON), Freshness: catalogclient.FreshSince(asked)}
	c.put(slug, e)
	return e, nil
}

// shared runs fn once for all concurrent callers with the key. Each waits no longer than its own context; the run
// itself outlives the caller that began it, for the others' sake.
func shared[E any](ctx context.Context, group *singleflight.Group, key string, fn func(context.Context) (E, error)) (E, error) {
	result := group.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		return fn(ctx)
	})
	var none E
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(E), nil
	}
}

// Expire makes the next [Cache.Fresh] of slug ask the database.
func (c *Cache[T]) Expire(slug string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(slug); ok {
		e.Expire()
	}
}

func (c *Cache[T]) lookup(slug string) *entry[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ := c.entries.Get(slug)
	return e
}

// put keeps e unless a newer version came in meanwhile, and drops what was used longest ago to make room.
func (c *Cache[T]) put(slug string, e *entry[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have, ok := c.entries.Peek(slug); ok {
		if have.version >= e.version {
			return
		}
		c.entries.Remove(slug)
	}
	c.entries.Add(slug, e)
	c.bytes += e.bytes
	for c.bytes > c.maxBytes && c.entries.Len() > 1 {
		c.entries.RemoveOldest()
	}
}

// forget drops a business that is gone; other errors say nothing about it.
func (c *Cache[T]) forget(slug string, err error) {
	if !fault.Is(err, fault.BusinessNotFound) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(slug)
}
