// Package catalogclient is the client of the catalog service: [Client] keeps offers fresh in memory, [Owner] publishes and
// reads manifests, [Eraser] erases what others keep of removed businesses. The types are libs/peer/catalog's.
package catalogclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// cachedOffers bounds the cache; the least recently used is dropped first.
const cachedOffers = 4096

// Client reads offers and keeps the decoded, ready-to-use form in memory. A Redis message makes it ask again at once,
// two seconds' age does where the message was lost, and while catalog is away, or slow to say whether there is a newer one, it
// goes on with the last good version.
type Client struct {
	peer   *peer.Client
	clock  clock.Clock
	stale  metric.Int64Counter
	ages   metric.Float64Histogram
	cache  *lru.Cache[string, *entry]
	flight singleflight.Group
}

// entry is one business's last good offer.
type entry struct {
	offer *catalog.Offer
	etag  string

	*Freshness
}

// NewClient returns a client of the catalog service. Run keeps it in step with changes.
func NewClient(p *peer.Client, tel *telemetry.Telemetry) *Client {
	return newClient(p, tel, clock.System()) // ages are real time, also where the service's clock is shifted
}

func newClient(p *peer.Client, tel *telemetry.Telemetry, now clock.Clock) *Client {
	cache, err := lru.New[string, *entry](cachedOffers)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Client{
		peer: p, clock: now, cache: cache,
		stale: tel.Counter("slotmesh.offer.stale", "Reads served from the last good offer while catalog was away."),
		ages:  Ages(tel),
	}
}

// Get returns the offer of a business, at most two seconds old while catalog and its database answer, else the last good one. Where
// one is in memory it waits for catalog no longer than the peer's patience. Errors: [fault.BusinessNotFound];
// [fault.PeerUnavailable] when nobody knows an offer.
func (c *Client) Get(ctx context.Context, slug string) (*catalog.Offer, error) {
	now := c.clock.Now()
	cached, ok := c.cache.Get(slug)
	unsaid := false
	if !ok {
		var err error
		if cached, err = c.shared(ctx, slug, catalog.MaxStale); err != nil {
			return nil, err
		}
		if cached.Due(now) { // it was known to be the newest long ago, and catalog has just said that nobody knows
			cached.Postpone(now)
		}
	} else if cached.Due(now) {
		wait, cancel := Patient(ctx, c.peer.Patience()) // the question itself goes on, for who comes later
		defer cancel()
		newest, err := c.shared(wait, slug, "")
		switch {
		case err == nil:
			return newest.offer, nil
		case fault.Is(err, fault.BusinessNotFound):
			return nil, err
		}
		cached.Postpone(now)
		unsaid = true
	}
	if age := cached.Age(now); unsaid || age >= TrustFor {
		c.stale.Add(ctx, 1)
		c.ages.Record(ctx, age.Seconds())
	}
	return cached.offer, nil
}

// Fresh returns the offer as catalog has it now; it asks every time. Errors as of Get, but never an old offer.
func (c *Client) Fresh(ctx context.Context, slug string) (*catalog.Offer, error) {
	newest, err := c.revalidate(ctx, slug, "")
	if err != nil {
		return nil, err
	}
	return newest.offer, nil
}

// AtLeast returns an offer of this version or a newer one, from memory where it can.
func (c *Client) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Offer, error) {
	if cached, ok := c.cache.Get(slug); ok && cached.offer.Version >= version {
		return cached.offer, nil
	}
	newest, err := c.revalidate(ctx, slug, catalog.MaxStale)
	if err != nil {
		return nil, err
	}
	if newest.offer.Version < version {
		return c.Fresh(ctx, slug)
	}
	return newest.offer, nil
}

// shared revalidates once for all who ask at the same time; one caller's going away does not fail the others.
func (c *Client) shared(ctx context.Context, slug, cacheControl string) (*entry, error) {
	result := c.flight.DoChan(slug, func() (any, error) { return c.revalidate(context.WithoutCancel(ctx), slug, cacheControl) })
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*entry), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// revalidate asks catalog with the ETag of what is cached and keeps the answer. The entry counts as checked from the
// moment of asking, so that a change during the call is not missed. Unknown slugs are not remembered: guesses must not
// push out offers.
func (c *Client) revalidate(ctx context.Context, slug, cacheControl string) (*entry, error) {
	if !request.IsSlug(slug) {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	asked := c.clock.Now()
	header := http.Header{}
	cached, ok := c.cache.Get(slug)
	if ok {
		header.Set("If-None-Match", cached.etag)
	}
	if cacheControl != "" {
		header.Set("Cache-Control", cacheControl)
	}
	response, err := c.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: "/internal/offers/" + slug, Header: header})
	if err != nil {
		if fault.Is(err, fault.BusinessNotFound) {
			c.cache.Remove(slug)
		}
		return nil, err
	}
	age, _ := strconv.Atoi(response.Header.Get("Age")) // none where catalog's database has just said so
	newest := asked.Add(-time.Duration(age) * time.Second)
	if ok && response.Status == http.StatusNotModified {
		cached.Confirm(newest)
		return cached, nil
	}
	offer := new(catalog.Offer)
	if err := errors.Join(json.Unmarshal(response.Body, offer), offer.Prepare()); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable offer; try again shortly.")
	}
	return c.keep(slug, &entry{offer: offer, etag: response.Header.Get("ETag"), Freshness: FreshSince(newest)}), nil
}

// keep stores what was learned, unless a call that asked later has stored a newer version meanwhile.
func (c *Client) keep(slug string, learned *entry) *entry {
	if now, ok := c.cache.Get(slug); ok && now.offer.Version > learned.offer.Version {
		return now
	}
	c.cache.Add(slug, learned)
	return learned
}

// Run listens for changes until ctx ends. While Redis is away nothing is lost but time: ages still make the client ask.
func (c *Client) Run(ctx context.Context, rdb redis.UniversalClient) error {
	subscription := rdb.Subscribe(ctx, catalog.ChangesChannel)
	defer func() { _ = subscription.Close() }()
	for {
		select {
		case message, ok := <-subscription.Channel():
			if !ok {
				return nil
			}
			if cached, ok := c.cache.Peek(message.Payload); ok {
				cached.Expire()
			}
		case <-ctx.Done():
			return nil
		}
	}
}
