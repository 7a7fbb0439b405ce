// Package current caches the newest version of each business in memory.
// Each version is decoded and compiled once, not once per request.
//
// A version never changes. The cache therefore only checks whether the cached version is still the
// newest (libs/platform/revalidate). [Cache.Revalidate] asks the database in each call. [Cache.Get] uses
// an answer of the database again for the duration [revalidate.TrustFor]. While the database is
// unavailable, Get and [Cache.RevalidateOrStale] return the last known version (docs/decisions/004). The
// version comes from memory, or from its copy in Redis (package fallback) if memory does not have it.
package current

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/revalidate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/fallback"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Source reads the versions from the database. Both methods
// return [store.ErrNotFound] for an unknown business or version.
type Source interface {
	ReadHead(ctx context.Context, slug string) (int64, error)
	Text(ctx context.Context, slug string, version int64) (store.Text, error)
}

// Build builds the value that the cache holds for a version, from the stored text of the version.
type Build[T any] func(text store.Text, version int64) (T, error)

// Cache holds decoded versions. The total size of the canonical JSON of these versions is limited.
type Cache[T any] struct {
	source       Source
	build        Build[T]
	copies       *fallback.Copies
	staleTimeout time.Duration
	clock        clock.Clock
	tel          *telemetry.Telemetry
	built        metric.Int64Counter

	versions *revalidate.Cache[*version[T]]
	loads    bulkhead.Shared[*version[T]]   // loads in progress, keyed by slug and version number
	reads    bulkhead.Shared[fallback.Copy] // reads of copies in progress, keyed by slug
}

// version is one decoded version of a business. Only the field `copied` ever changes.
type version[T any] struct {
	number int64
	value  T
	bytes  int
	copied atomic.Pointer[time.Time] // when Redis was last informed that the version is the newest
}

func (v *version[T]) Number() int64 { return v.number }
func (v *version[T]) Size() int     { return v.bytes }

// New returns an empty cache. It keeps decoded versions with up
// to maxBytes of canonical JSON, and always at least one version.
//
// The argument `staleTimeout` limits how long a reader waits until the database answers which version is
// the newest. It applies if an older version or a copy can be returned instead. 0 means no limit.
func New[T any](source Source, build Build[T], copies *fallback.Copies, maxBytes int, staleTimeout time.Duration,
	clk clock.Clock, tel *telemetry.Telemetry) *Cache[T] {
	c := &Cache[T]{
		source: source, build: build, copies: copies, staleTimeout: staleTimeout, clock: clk, tel: tel,
		built: tel.Counter("slotmesh.catalog.versions.built", "Versions decoded and compiled."),
	}
	c.versions = revalidate.New(c.revalidate, revalidate.Options{
		MaxSize: maxBytes, StaleTimeout: staleTimeout, Clock: clk, Ages: revalidate.Ages(tel),
		Stale: tel.Counter("slotmesh.catalog.versions.stale",
			"Reads of the last known version while the database was unavailable."),
		Unanswered: func(ctx context.Context, slug string, err error) {
			tel.Logger.WarnContext(ctx, "the last known version is served: the database did not return the newest one",
				"slug", slug, "error", err)
		},
	})
	return c
}

// Revalidate returns the newest version of slug and the number of this version. It
// always asks the database which version is the newest. Fault: business_not_found.
func (c *Cache[T]) Revalidate(ctx context.Context, slug string) (T, int64, error) {
	return unwrap(c.versions.Revalidate(ctx, slug))
}

// Get returns a version of slug, with its number, that was the newest at some
// time within the last [revalidate.TrustFor]. While the database is unavailable
// or slow, Get returns the last known version. Fault: business_not_found.
func (c *Cache[T]) Get(ctx context.Context, slug string) (T, int64, error) {
	return unwrap(c.versions.Get(ctx, slug))
}

// RevalidateOrStale returns the newest version of slug. RevalidateOrStale asks the database which version that is, as
// [Cache.Revalidate] does. If the database is unavailable or slow, it returns the last known version.
// The returned duration is the time since the database last confirmed that the version is the newest.
func (c *Cache[T]) RevalidateOrStale(ctx context.Context, slug string) (T, time.Duration, error) {
	v, age, err := c.versions.RevalidateOrStale(ctx, slug)
	ready, _, err := unwrap(v, err)
	return ready, age, err
}

// Expire makes the next [Cache.Get] of slug ask the database which version is the newest.
func (c *Cache[T]) Expire(slug string) { c.versions.Expire(slug) }

func unwrap[T any](v *version[T], err error) (T, int64, error) {
	if err != nil {
		var none T
		return none, 0, err
	}
	return v.value, v.number, nil
}

// revalidate asks the database for the newest version of slug, and returns that version with
// its age, for [revalidate.New]. The argument `cached` is the version in memory, or nil.
// If `acceptsStale` is true and the database does not answer, revalidate returns the copy in Redis.
func (c *Cache[T]) revalidate(ctx context.Context, slug string, cached *version[T],
	acceptsStale bool) (*version[T], time.Duration, error) {
	start := c.clock.Now()
	head, err := c.readHead(ctx, slug, acceptsStale)
	if err != nil && acceptsStale && !errors.Is(err, store.ErrNotFound) {
		if v, age := c.readCopy(ctx, slug); v != nil {
			return v, age, nil
		}
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			// If there is no version in memory and no copy, the database is asked without the limit of c.staleTimeout.
			head, err = c.source.ReadHead(ctx, slug)
		}
	}
	newest := cached
	if err == nil && (cached == nil || cached.number != head) {
		newest, err = c.load(ctx, slug, head, start)
	}
	switch {
	case err == nil:
		c.confirmCopy(slug, newest, start, func(ctx context.Context) ([]byte, error) {
			text, err := c.source.Text(ctx, slug, newest.number)
			return text.JSON, err
		})
		return newest, 0, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, 0, err
	case cached != nil:
		c.copies.SupersedeLater(slug, cached.number+1)
	}
	return nil, 0, fault.New(fault.BusinessNotFound, "Business not found")
}

// readHead returns the number of the newest version in the database.
// If `acceptsStale` is true, readHead waits at most c.staleTimeout.
func (c *Cache[T]) readHead(ctx context.Context, slug string, acceptsStale bool) (int64, error) {
	if acceptsStale && c.staleTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.staleTimeout)
		defer cancel()
	}
	return c.source.ReadHead(ctx, slug)
}

func (c *Cache[T]) load(ctx context.Context, slug string, number int64, start time.Time) (*version[T], error) {
	return c.loads.Do(ctx, fmt.Sprintf("%s@%d", slug, number), func(ctx context.Context) (*version[T], error) {
		ctx, span := c.tel.Tracer.Start(ctx, "catalog.load")
		defer span.End()
		text, err := c.source.Text(ctx, slug, number)
		if err != nil {
			return nil, err
		}
		v, err := c.buildVersion(ctx, slug, number, text)
		if err == nil {
			c.confirmCopy(slug, v, start, func(context.Context) ([]byte, error) { return text.JSON, nil })
		}
		return v, err
	})
}

func (c *Cache[T]) buildVersion(ctx context.Context, slug string, number int64, text store.Text) (*version[T], error) {
	ready, err := c.build(text, number)
	if err != nil {
		return nil, fmt.Errorf("version %d of %s: %w", number, slug, err)
	}
	c.built.Add(ctx, 1)
	return &version[T]{number: number, value: ready, bytes: len(text.JSON)}, nil
}

// readCopy returns the version of slug that is copied in Redis, and the
// age of the copy. readCopy returns nil if there is no readable copy.
func (c *Cache[T]) readCopy(ctx context.Context, slug string) (*version[T], time.Duration) {
	stored, err := c.reads.Do(ctx, slug, func(ctx context.Context) (fallback.Copy, error) {
		return c.copies.Read(ctx, slug)
	})
	var v *version[T]
	if err == nil {
		v, err = c.buildVersion(ctx, slug, stored.Version, store.Text{JSON: stored.JSON})
	}
	switch {
	case err == nil:
		c.tel.Logger.WarnContext(ctx, "a version was read from its copy: the database does not answer", "slug", slug,
			"version", stored.Version, "age", stored.Age.String())
	case !errors.Is(err, fallback.ErrNone):
		c.tel.Logger.WarnContext(ctx, "the copy of the last known version could not be read", "slug", slug, "error",
			err)
	}
	return v, stored.Age
}

// confirmCopy confirms in Redis that the version is the newest ([fallback.Copies.Confirm]), at most once
// per [fallback.ConfirmInterval]. The argument `start` is the time at which the database was asked.
func (c *Cache[T]) confirmCopy(slug string, v *version[T], start time.Time,
	text func(context.Context) ([]byte, error)) {
	now := c.clock.Now()
	last := v.copied.Load()
	if last != nil && now.Sub(*last) < fallback.ConfirmInterval || !v.copied.CompareAndSwap(last, &now) {
		return
	}
	if !c.copies.Confirm(slug, v.number, now.Sub(start), text) {
		v.copied.Store(last)
	}
}
