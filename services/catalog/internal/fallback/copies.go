// Package fallback keeps a copy of each business's newest version in Redis.
// Replicas that start while PostgreSQL is unavailable serve these copies.
//
// A copy may be outdated. A copy is therefore read only if neither PostgreSQL nor the memory of the process has the
// version. A copy expires [Lifetime] after PostgreSQL last confirmed that the version is the newest. When a newer
// version is published or the business is removed, the copy is marked as superseded and never read again (confirm.lua).
package fallback

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"

	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

const (
	// Lifetime is how long a copy may be served after PostgreSQL last confirmed that its version is the newest.
	Lifetime = 24 * time.Hour
	// ConfirmInterval is the interval at which each replica confirms in Redis that a version is
	// still the newest. The real age of a copy can differ from its recorded age by this interval.
	ConfirmInterval = time.Minute

	maxCompressedBytes  = 1 << 20  // maximum size of a compressed text in bytes; larger texts are not copied
	maxTextBytes        = 64 << 20 // maximum size of an uncompressed text in bytes
	maxConcurrentWrites = 16       // maximum number of copies that a process writes concurrently
	retryInterval       = time.Second
)

//go:embed confirm.lua
var confirmSource string

var confirmScript = redis.NewScript(confirmSource)

// timeouts holds the timeouts for Redis.
type timeouts struct {
	write    time.Duration // timeout for writing a copy, for which no request waits
	announce time.Duration // timeout for marking copies as superseded and for reading a copy; requests wait for both
}

// Copies reads and writes, in Redis, the copies for the businesses of one database.
type Copies struct {
	redis       redis.UniversalClient
	prefix      string
	tel         *telemetry.Telemetry
	timeouts    timeouts
	writers     errgroup.Group
	isRedisDown atomic.Bool // true after an attempt to write a copy failed, until one succeeds

	mu sync.Mutex
	// pending holds, by slug, a version number that Redis has not
	// received yet. All copies of lower versions are superseded.
	pending map[string]int64

	reads, failures metric.Int64Counter
}

// New returns the copies in Redis whose keys begin with prefix. The caller must also start
// [Copies.Run], which marks copies as superseded if Redis did not answer the first time.
func New(client redis.UniversalClient, prefix string, tel *telemetry.Telemetry) *Copies {
	c := &Copies{
		redis: client, prefix: prefix, tel: tel,
		timeouts: timeouts{write: 2 * time.Second, announce: 250 * time.Millisecond},
		pending:  map[string]int64{},
		reads: tel.Counter("slotmesh.catalog.copies.read",
			"Versions taken from their copy in Redis because PostgreSQL did not answer."),
		failures: tel.Counter("slotmesh.catalog.copies.unsaved", "Copies of versions that could not be stored in Redis."),
	}
	c.writers.SetLimit(maxConcurrentWrites)
	return c
}

// SetTimeouts sets all timeouts for Redis to the argument `timeout`. Only tests call it.
func (c *Copies) SetTimeouts(timeout time.Duration) { c.timeouts = timeouts{timeout, timeout} }

func (c *Copies) key(slug string) string { return c.prefix + slug }

// marker returns a key that exists while any copy exists. No slug can be "*", so the marker is not the key of a copy.
func (c *Copies) marker() string { return c.prefix + "*" }

// Confirm stores in Redis that PostgreSQL confirmed the version of slug as the newest. The argument `age` is the time
// since this confirmation. Confirm runs in the background. If Redis does not have the text of the version, it calls the
// function `text` for the canonical JSON. If too many copies are being written, Confirm does nothing and returns false.
// The caller should then try again later.
func (c *Copies) Confirm(slug string, version int64, age time.Duration,
	text func(context.Context) ([]byte, error)) bool {
	return c.writers.TryGo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeouts.write)
		defer cancel()
		err := c.confirmVersion(ctx, slug, version, age, text)
		if err != nil {
			c.failures.Add(ctx, 1)
			if !c.isRedisDown.Swap(true) {
				c.tel.Logger.WarnContext(ctx,
					"the last known version was not copied to Redis; more such failures are only counted", "slug", slug,
					"error", err)
			}
			return nil
		}
		c.isRedisDown.Store(false)
		return nil
	})
}

func (c *Copies) confirmVersion(ctx context.Context, slug string, version int64, age time.Duration,
	text func(context.Context) ([]byte, error)) error {
	exists, err := c.runScript(ctx, slug, version, age)
	if err != nil {
		return err
	}
	if !exists {
		json, err := text(ctx)
		if err != nil {
			return err
		}
		compressed, err := compress(json)
		if err != nil {
			return err
		}
		if len(compressed) > maxCompressedBytes || len(json) > maxTextBytes {
			compressed = nil // an empty text, so that no older version is served instead of this one
		}
		if _, err := c.runScript(ctx, slug, version, age, compressed); err != nil {
			return err
		}
	}
	return c.redis.Set(ctx, c.marker(), "", Lifetime).Err()
}

func (c *Copies) runScript(ctx context.Context, slug string, version int64, age time.Duration,
	text ...any) (bool, error) {
	return confirmScript.Run(ctx, c.redis, []string{c.key(slug)},
		append([]any{version, (Lifetime - age).Milliseconds()},
			text...)...).Bool()
}

// Supersede marks in Redis all copies of slug whose version is lower than the argument `version`, so that no
// replica serves them again. The argument `version` is the newest version. After the removal of a business,
// it is the last version plus 1. If Redis does not answer within the timeout, [Copies.Run] tries again later.
func (c *Copies) Supersede(ctx context.Context, slug string, version int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeouts.announce)
	defer cancel()
	if _, err := c.runScript(ctx, slug, version, 0, ""); err != nil {
		c.tel.Logger.WarnContext(ctx, "older versions are not yet marked as superseded in Redis", "slug", slug,
			"version", version, "error", err)
		c.SupersedeLater(slug, version)
	}
}

// SupersedeLater marks the same copies as [Copies.Supersede], but does not wait for
// Redis: [Copies.Run] sends the version number to Redis, usually within a second.
func (c *Copies) SupersedeLater(slug string, version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[slug] = max(version, c.pending[slug])
}

// Run sends the pending version numbers to Redis, which marks all copies
// of lower versions as superseded. Run tries every second until ctx ends.
func (c *Copies) Run(ctx context.Context) error {
	return periodic.Job{Every: retryInterval, Do: func(ctx context.Context) error {
		c.retryPending(ctx)
		return nil
	}}.Run(ctx, c.tel.Logger)
}

// retryPending sends the pending version numbers to Redis. It stops at the first failure, because Redis is then
// unavailable.
func (c *Copies) retryPending(ctx context.Context) {
	c.mu.Lock()
	pending := maps.Clone(c.pending)
	c.mu.Unlock()
	for slug, version := range pending {
		retryCtx, cancel := context.WithTimeout(ctx, c.timeouts.announce)
		_, err := c.runScript(retryCtx, slug, version, 0, "")
		cancel()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.pending[slug] == version {
			delete(c.pending, slug)
		}
		c.mu.Unlock()
	}
}

// Close waits until all copies in progress are written.
func (c *Copies) Close() error { return c.writers.Wait() }

// Copy is the last known version of a business, as it was read from Redis.
type Copy struct {
	Version int64
	JSON    []byte        // canonical JSON of the manifest, whose descriptions may be unsanitized
	Age     time.Duration // time since PostgreSQL last confirmed that the version is the newest
}

// ErrNone reports that Redis has no copy of the business.
var ErrNone = errors.New("no copy of the business is known")

// Read returns the copy of slug, or the error [ErrNone] if there is no copy. It waits for Redis at most 250 ms.
func (c *Copies) Read(ctx context.Context, slug string) (Copy, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeouts.announce)
	defer cancel()
	var (
		known = struct {
			Version int64  `redis:"version"`
			Text    []byte `redis:"text"`
		}{}
		both = c.redis.Pipeline()
		hash = both.HMGet(ctx, c.key(slug), "version", "text")
		left = both.PTTL(ctx, c.key(slug))
	)
	if _, err := both.Exec(ctx); err != nil {
		return Copy{}, fmt.Errorf("read the last known version: %w", err)
	}
	if err := hash.Scan(&known); err != nil {
		return Copy{}, fmt.Errorf("read the last known version: %w", err)
	}
	if len(known.Text) == 0 {
		return Copy{}, ErrNone
	}
	text, err := decompress(known.Text)
	if err != nil {
		return Copy{}, fmt.Errorf("unpack the last known version: %w", err)
	}
	c.reads.Add(ctx, 1)
	return Copy{Version: known.Version, JSON: text, Age: max(0, Lifetime-left.Val())}, nil
}

// CheckAny returns nil if Redis has a copy of any business. The readiness check calls
// CheckAny, because a replica can serve copies while PostgreSQL is unavailable.
func (c *Copies) CheckAny(ctx context.Context) error {
	count, err := c.redis.Exists(ctx, c.marker()).Result()
	if err == nil && count == 0 {
		err = errors.New("there is no copy of any business")
	}
	return err
}

func compress(text []byte) ([]byte, error) {
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	err := writer.Close()
	return compressed.Bytes(), err
}

func decompress(compressed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxTextBytes+1))
	if err == nil && len(text) > maxTextBytes {
		err = errors.New("it is too large")
	}
	return text, err
}
