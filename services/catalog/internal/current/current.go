// Package current keeps the newest version of each business ready in memory, so that it is decoded and compiled once per
// version and not once per request.
//
// A version's text never changes, so only the number of the newest one must be kept fresh. [Cache.Verified] asks
// the database for it every time; [Cache.Fresh] trusts what it learned within the last [Trust], unless [Cache.Expire]
// said that there is news, and goes on with the last good version while the database is away (DESIGN.md): the one in memory, or
// where there is none its copy in Redis (package lastknown).
package current

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/lastknown"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Trust is for how long a version is taken for the newest without asking.
const Trust = catalogclient.TrustFor

// loadTimeout ends a read that several requests wait for, so it is no single one's deadline.
const loadTimeout = 5 * time.Second

// Source is where versions come from. Both report [store.ErrNotFound].
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
	copies   *lastknown.Copies

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
	copied  atomic.Pointer[time.Time] // when its copy was confirmed last
	*catalogclient.Freshness
}

// New returns an empty cache that keeps up to maxBytes of canonical JSON in its ready form, and one version at least.
// Who asks for a business of which a version is kept waits for patience at most to learn whether there is a newer one; 0 is no bound.
func New[T any](source Source, build Build[T], copies *lastknown.Copies, maxBytes int, patience time.Duration, clk clock.Clock, tel *telemetry.Telemetry) *Cache[T] {
	c := &Cache[T]{
		source: source, build: build, copies: copies, clock: clk, tel: tel, maxBytes: maxBytes, patience: patience,
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
	return unwrap(c.verified(ctx, slug))
}

// Fresh returns a version of slug that was the newest at some time within the last [Trust], and its number. While
// the database is away, or slow to say, it is the last one known.
func (c *Cache[T]) Fresh(ctx context.Context, slug string) (T, int64, error) {
	now := c.clock.Now()
	known := c.lookup(slug)
	if known == nil || known.Due(now) {
		return unwrap(c.orLastKnown(ctx, slug, c.check))
	}
	if known.Age(now) >= Trust {
		c.old(ctx, known, now)
	}
	return known.ready, known.version, nil
}

// LastKnown returns what [Cache.Verified] does, or while the database is away, or slow to say, the last version known; and how long
// ago it was last known to be the newest.
func (c *Cache[T]) LastKnown(ctx context.Context, slug string) (T, time.Duration, error) {
	e, err := c.orLastKnown(ctx, slug, c.verified)
	if err != nil {
		var none T
		return none, 0, err
	}
	return e.ready, e.Age(c.clock.Now()), nil
}

// orLastKnown returns what ask learns of the newest version, for which it waits no longer than the patience where there is something to
// serve instead: the last version known, from memory, else from its copy.
func (c *Cache[T]) orLastKnown(ctx context.Context, slug string, ask func(context.Context, string) (*entry[T], error)) (*entry[T], error) {
	asked := c.clock.Now()
	wait, cancel := catalogclient.Patient(ctx, c.patience)
	defer cancel()
	newest, err := ask(wait, slug)
	if err == nil || fault.Is(err, fault.BusinessNotFound) || ctx.Err() != nil {
		return newest, err
	}
	known := c.lookup(slug)
	if known == nil {
		known = c.copied(ctx, slug)
	}
	switch {
	case known != nil:
	case wait.Err() != nil:
		return ask(ctx, slug)
	default:
		return nil, err
	}
	c.tel.Logger.WarnContext(ctx, "the last good version is served: the database did not say which is the newest",
		"slug", slug, "version", known.version, "error", err)
	known.Postpone(asked)
	c.old(ctx, known, asked)
	return known, nil
}

// copied takes a version from its copy into memory, or returns nil.
func (c *Cache[T]) copied(ctx context.Context, slug string) *entry[T] {
	e, err := shared(ctx, &c.loads, slug, func(ctx context.Context) (*entry[T], error) {
		read, err := c.copies.Read(ctx, slug)
		if err != nil {
			return nil, err
		}
		e, err := c.ready(ctx, slug, read.Version, store.Text{JSON: read.JSON}, c.clock.Now().Add(-read.Age))
		if err == nil {
			c.tel.Logger.WarnContext(ctx, "a version was taken from its copy: the database does not answer",
				"slug", slug, "version", read.Version, "age", read.Age.String())
		}
		return e, err
	})
	switch {
	case err == nil:
		return e
	case !errors.Is(err, lastknown.ErrNone):
		c.tel.Logger.WarnContext(ctx, "the copy of the last known version could not be read", "slug", slug, "error", err)
	}
	return nil
}

// old counts that a version is served of which nobody says whether it is the newest.
func (c *Cache[T]) old(ctx context.Context, e *entry[T], now time.Time) {
	c.stale.Add(ctx, 1)
	c.ages.Record(ctx, e.Age(now).Seconds())
}

// check asks for the newest version once for all who wait for it.
func (c *Cache[T]) check(ctx context.Context, slug string) (*entry[T], error) {
	return shared(ctx, &c.checks, slug, func(ctx context.Context) (*entry[T], error) { return c.verified(ctx, slug) })
}

// verified asks for the newest version.
func (c *Cache[T]) verified(ctx context.Context, slug string) (*entry[T], error) {
	asked := c.clock.Now()
	head, err := c.source.Head(ctx, slug)
	if err != nil {
		return nil, c.gone(slug, err)
	}
	e := c.lookup(slug)
	if e != nil && e.version == head {
		e.Confirm(asked)
	} else {
		e, err = shared(ctx, &c.loads, fmt.Sprintf("%s@%d", slug, head), func(ctx context.Context) (*entry[T], error) {
			return c.load(ctx, slug, head, asked)
		})
		if err != nil {
			return nil, c.gone(slug, err)
		}
	}
	c.copy(slug, e, func(ctx context.Context) ([]byte, error) {
		text, err := c.source.Text(ctx, slug, e.version)
		return text.JSON, err
	})
	return e, nil
}

// copy confirms the version in its copy from time to time.
func (c *Cache[T]) copy(slug string, e *entry[T], text func(context.Context) ([]byte, error)) {
	now := c.clock.Now()
	last := e.copied.Load()
	if last != nil && now.Sub(*last) < lastknown.ConfirmEvery || !e.copied.CompareAndSwap(last, &now) {
		return
	}
	if !c.copies.Confirm(slug, e.version, e.Age(now), text) {
		e.copied.Store(last)
	}
}

func (c *Cache[T]) load(ctx context.Context, slug string, version int64, asked time.Time) (*entry[T], error) {
	ctx, span := c.tel.Tracer.Start(ctx, "catalog.load")
	defer span.End()
	text, err := c.source.Text(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	e, err := c.ready(ctx, slug, version, text, asked)
	if err == nil {
		c.copy(slug, e, func(context.Context) ([]byte, error) { return text.JSON, nil })
	}
	return e, err
}

// ready builds a version and keeps it.
func (c *Cache[T]) ready(ctx context.Context, slug string, version int64, text store.Text, asked time.Time) (*entry[T], error) {
	ready, err := c.build(text, version)
	if err != nil {
		return nil, fmt.Errorf("version %d of %s: %w", version, slug, err)
	}
	c.built.Add(ctx, 1)
	e := &entry[T]{version: version, ready: ready, bytes: len(text.JSON), Freshness: catalogclient.FreshSince(asked)}
	c.put(slug, e)
	return e, nil
}

func unwrap[T any](e *entry[T], err error) (T, int64, error) {
	if err != nil {
		var none T
		return none, 0, err
	}
	return e.ready, e.version, nil
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

// gone drops a business that is gone, and returns the fault that says so; other errors say nothing about it.
func (c *Cache[T]) gone(slug string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries.Peek(slug); ok {
		c.entries.Remove(slug)
		c.copies.SupersedeLater(slug, e.version+1)
	}
	return fault.New(fault.BusinessNotFound, "Business not found")
}
