// Package catalogclient is the client of the catalog service. [Client] reads snapshots and keeps them in memory.
// [Owner] publishes and reads manifests. [Eraser] deletes the data of removed businesses, and [RetentionJob]
// anonymizes customers after the retention time. The types of requests and responses are in libs/contracts/catalog.
package catalogclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/revalidate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// maxCachedSnapshots is the maximal number of cached snapshots. When the
// cache exceeds it, the cache drops the least recently used snapshot.
const maxCachedSnapshots = 4096

// Client reads snapshots and caches them, decoded and prepared (libs/platform/revalidate). When a snapshot changes,
// a message through Redis expires the cached snapshot immediately. If the message is lost, the cached snapshot
// expires after two seconds. While the catalog service is down or slow, the client returns the cached snapshot.
type Client struct {
	peer   *peer.Client
	offers *revalidate.Cache[*taggedSnapshot]
}

// taggedSnapshot is a snapshot together with its entity tag.
type taggedSnapshot struct {
	*catalog.Snapshot
	etag string
}

func (t *taggedSnapshot) Number() int64 { return t.Version }
func (t *taggedSnapshot) Size() int     { return 1 }

// NewClient returns a client of the catalog service. The caller must also
// start [Client.Run], which receives the messages about changed snapshots.
func NewClient(p *peer.Client, tel *telemetry.Telemetry) *Client {
	return newClient(p, tel, clock.System()) // ages are in real time, even if the clock of the service is shifted
}

func newClient(p *peer.Client, tel *telemetry.Telemetry, now clock.Clock) *Client {
	c := &Client{peer: p}
	c.offers = revalidate.New(c.revalidate, revalidate.Options{
		MaxSize: maxCachedSnapshots, StaleTimeout: p.Patience(), Clock: now, Ages: revalidate.Ages(tel),
		Stale: tel.Counter("slotmesh.offer.stale", "Reads of a cached offer while catalog was unavailable."),
	})
	return c
}

// Get returns the snapshot of a business. While the catalog service and its database are available, the snapshot
// is at most two seconds old. Otherwise Get returns the cached snapshot, whatever its age. If a snapshot is
// cached, Get waits for the catalog service at most for the duration Patience in the settings of the peer.
//
// Errors: [fault.BusinessNotFound]; [fault.PeerUnavailable] if the
// snapshot is not cached and the catalog service cannot return it.
func (c *Client) Get(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	return unwrapSnapshot(c.offers.Get(ctx, slug))
}

// Fresh requests the newest snapshot from the catalog service on every call.
// It never returns an older snapshot. Errors: the errors of [Client.Get].
func (c *Client) Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	return unwrapSnapshot(c.offers.Revalidate(ctx, slug))
}

// Trusted returns a snapshot that was the newest one at some time within the last two seconds. It returns the cached
// snapshot if the catalog service confirmed the snapshot within this time. Errors: the errors of [Client.Fresh].
func (c *Client) Trusted(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	return unwrapSnapshot(c.offers.Trusted(ctx, slug))
}

// Uncached requests the newest snapshot from the catalog service and does not cache
// it. Jobs that read the snapshots of all businesses use it, so that these jobs do
// not evict the snapshots that requests need. Errors: the errors of [Client.Fresh].
func (c *Client) Uncached(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	newest, _, err := c.revalidate(ctx, slug, nil, false)
	return unwrapSnapshot(newest, err)
}

// AtLeast returns the snapshot in the given version or a newer one,
// from the cache if possible. Errors: the errors of [Client.Get].
func (c *Client) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error) {
	cached, ok := c.offers.Peek(slug)
	if !ok {
		var err error
		if cached, _, err = c.offers.RevalidateOrStale(ctx, slug); err != nil {
			return nil, err
		}
	}
	if cached.Version < version {
		return c.Fresh(ctx, slug)
	}
	return cached.Snapshot, nil
}

func unwrapSnapshot(t *taggedSnapshot, err error) (*catalog.Snapshot, error) {
	if err != nil {
		return nil, err
	}
	return t.Snapshot, nil
}

// revalidate requests a snapshot from the catalog service for the cache. The argument `cached` is the cached
// snapshot, or nil. If the cached snapshot is still the newest one, revalidate returns `cached`. If `acceptsStale` is
// true, the catalog service may send a stale snapshot. The returned duration is the age of the snapshot.
func (c *Client) revalidate(ctx context.Context, slug string, cached *taggedSnapshot,
	acceptsStale bool) (*taggedSnapshot, time.Duration, error) {
	if !request.IsSlug(slug) {
		return nil, 0, fault.New(fault.BusinessNotFound, "Business not found")
	}
	header := http.Header{}
	if cached != nil {
		header.Set("If-None-Match", cached.etag)
	}
	if acceptsStale {
		header.Set("Cache-Control", catalog.MaxStale)
	}
	response, err := c.peer.Do(ctx, peer.Request{Method: http.MethodGet, Header: header,
		Path: ReadOffer.URL(&endpoints.OfSlug{Slug: slug})})
	if err != nil {
		return nil, 0, err
	}
	if cached != nil && response.Status == http.StatusNotModified {
		return cached, 0, nil
	}
	snapshot := new(catalog.Snapshot)
	if err := errors.Join(json.Unmarshal(response.Body, snapshot), snapshot.Prepare()); err != nil {
		return nil, 0, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable offer; try "+
			"again shortly.")
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Age")) // absent if catalog has just read its database
	return &taggedSnapshot{Snapshot: snapshot, etag: response.Header.Get("ETag")}, time.Duration(seconds) * time.Second,
		nil
}

// Run receives the messages about changed snapshots until ctx ends. While Redis
// is down, the client notices a change only when the cached snapshot expires.
func (c *Client) Run(ctx context.Context, rdb redis.UniversalClient) error {
	return Listen(ctx, rdb, c.offers.Expire)
}

// Listen calls the function `changed` with the slug of each business whose snapshot has
// changed, until ctx ends. When Redis is available again after a failure, Listen reconnects.
func Listen(ctx context.Context, rdb redis.UniversalClient, changed func(slug string)) error {
	subscription := rdb.Subscribe(ctx, catalog.ChangesChannel)
	defer func() { _ = subscription.Close() }()
	for {
		select {
		case message, open := <-subscription.Channel():
			if !open {
				return nil
			}
			changed(message.Payload)
		case <-ctx.Done():
			return nil
		}
	}
}
