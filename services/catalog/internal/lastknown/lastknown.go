// Package lastknown keeps a copy of each business's newest version in Redis, for replicas that start while PostgreSQL does not
// answer.
//
// A copy is never the truth: it is read only where neither PostgreSQL nor the process's memory has an answer, and it lives
// for [Lifetime] after PostgreSQL last confirmed it. A newer version, or a removal, supersedes it for good: see confirm.lua.
package lastknown

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

	"github.com/slotmesh/slotmesh/libs/telemetry"
)

const (
	// Lifetime is how long after it was last known to be the newest a version is served from its copy.
	Lifetime = 24 * time.Hour
	// ConfirmEvery is how often each replica says that a version is still the newest; ages are as exact as that.
	ConfirmEvery = time.Minute

	mostBytes  = 1 << 20  // of a compressed text; larger ones have no copy
	mostText   = 64 << 20 // of a text
	atOnce     = 16       // copies that a process writes at the same time
	retryEvery = time.Second
)

//go:embed confirm.lua
var confirmSource string

var confirm = redis.NewScript(confirmSource)

// waits are how long Redis is waited for.
type waits struct {
	write time.Duration // by nobody: a copy is written beside requests
	tell  time.Duration // by a change or a reader
}

// Copies are the copies of one database's businesses.
type Copies struct {
	redis  redis.UniversalClient
	prefix string
	tel    *telemetry.Telemetry
	within waits
	writes errgroup.Group
	away   atomic.Bool // Redis did not take the last copy

	mu      sync.Mutex
	pending map[string]int64 // superseded versions by slug, which Redis has not been told of

	served, unsaved metric.Int64Counter
}

// New returns the copies whose Redis keys begin with prefix. Run tells Redis later what it could not be told at once.
func New(client redis.UniversalClient, prefix string, tel *telemetry.Telemetry) *Copies {
	c := &Copies{
		redis: client, prefix: prefix, tel: tel, within: waits{write: 2 * time.Second, tell: 250 * time.Millisecond}, pending: map[string]int64{},
		served:  tel.Counter("slotmesh.catalog.copies.read", "Versions taken from their copy in Redis because PostgreSQL did not answer."),
		unsaved: tel.Counter("slotmesh.catalog.copies.unsaved", "Copies of versions that Redis did not take."),
	}
	c.writes.SetLimit(atOnce)
	return c
}

// Wait sets how long Redis is waited for, by all.
func (c *Copies) Wait(within time.Duration) { c.within = waits{within, within} }

func (c *Copies) key(slug string) string { return c.prefix + slug }

// marker exists while any copy does; no business is called so.
func (c *Copies) marker() string { return c.prefix + "*" }

// Confirm notes, without being waited for, that the version of slug was the newest at the age before now. text gives its canonical
// JSON where the copy lacks it. It reports false where too much else is being written: try again later.
func (c *Copies) Confirm(slug string, version int64, age time.Duration, text func(context.Context) ([]byte, error)) bool {
	return c.writes.TryGo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), c.within.write)
		defer cancel()
		err := c.confirm(ctx, slug, version, age, text)
		if err != nil {
			c.unsaved.Add(ctx, 1)
			if !c.away.Swap(true) {
				c.tel.Logger.WarnContext(ctx, "the last known version was not copied to Redis; more such failures are only counted", "slug", slug, "error", err)
			}
			return nil
		}
		c.away.Store(false)
		return nil
	})
}

func (c *Copies) confirm(ctx context.Context, slug string, version int64, age time.Duration, text func(context.Context) ([]byte, error)) error {
	there, err := c.tell(ctx, slug, version, age)
	if err != nil {
		return err
	}
	if !there {
		plain, err := text(ctx)
		if err != nil {
			return err
		}
		packed, err := pack(plain)
		if err != nil {
			return err
		}
		if len(packed) > mostBytes || len(plain) > mostText {
			packed = nil // an empty text: nothing older is served in its place
		}
		if _, err := c.tell(ctx, slug, version, age, packed); err != nil {
			return err
		}
	}
	return c.redis.Set(ctx, c.marker(), "", Lifetime).Err()
}

func (c *Copies) tell(ctx context.Context, slug string, version int64, age time.Duration, text ...any) (bool, error) {
	return confirm.Run(ctx, c.redis, []string{c.key(slug)}, append([]any{version, (Lifetime - age).Milliseconds()}, text...)...).Bool()
}

// Supersede says that the versions of slug before this one are not the newest any more, for good; version is the newest now, or
// follows the last one of a business that is removed. Where Redis does not answer soon it is told by [Copies.Run].
func (c *Copies) Supersede(ctx context.Context, slug string, version int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.within.tell)
	defer cancel()
	if _, err := c.tell(ctx, slug, version, 0, ""); err != nil {
		c.tel.Logger.WarnContext(ctx, "Redis was not told yet that older versions are superseded", "slug", slug, "version", version, "error", err)
		c.SupersedeLater(slug, version)
	}
}

// SupersedeLater is [Copies.Supersede] for those who do not wait.
func (c *Copies) SupersedeLater(slug string, version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[slug] = max(version, c.pending[slug])
}

// Run tells Redis what it could not be told at once, until ctx ends.
func (c *Copies) Run(ctx context.Context) error {
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			c.retry(ctx)
		}
	}
}

// retry goes on to the first failure: Redis is away then.
func (c *Copies) retry(ctx context.Context) {
	c.mu.Lock()
	pending := maps.Clone(c.pending)
	c.mu.Unlock()
	for slug, version := range pending {
		within, cancel := context.WithTimeout(ctx, c.within.tell)
		_, err := c.tell(within, slug, version, 0, "")
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

// Close waits for what is being written.
func (c *Copies) Close() error { return c.writes.Wait() }

// Copy is the last known version of a business.
type Copy struct {
	Version int64
	JSON    []byte        // canonical; its descriptions may not be sanitized
	Age     time.Duration // since the version was last known to be the newest
}

// ErrNone says that there is no copy of a business.
var ErrNone = errors.New("no copy of the business is known")

// Read returns the copy of slug. It waits for Redis only a little.
func (c *Copies) Read(ctx context.Context, slug string) (Copy, error) {
	ctx, cancel := context.WithTimeout(ctx, c.within.tell)
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
	text, err := unpack(known.Text)
	if err != nil {
		return Copy{}, fmt.Errorf("unpack the last known version: %w", err)
	}
	c.served.Add(ctx, 1)
	return Copy{Version: known.Version, JSON: text, Age: max(0, Lifetime-left.Val())}, nil
}

// Any returns nil where there are copies, as a replica must know that is asked whether it is ready.
func (c *Copies) Any(ctx context.Context) error {
	there, err := c.redis.Exists(ctx, c.marker()).Result()
	if err == nil && there == 0 {
		err = errors.New("there is no copy of any business")
	}
	return err
}

func pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	err := writer.Close()
	return packed.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reader, mostText+1))
	if err == nil && len(text) > mostText {
		err = errors.New("it is too large")
	}
	return text, err
}
