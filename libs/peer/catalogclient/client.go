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

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/revalidate"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// cachedOffers bounds the cache; the least recently used is dropped first.
const cachedOffers = 4096

// Client reads offers and keeps the decoded, ready-to-use form in memory (libs/revalidate). A Redis message makes it ask again at once,
// two seconds' age does where the message was lost, and while catalog is away, or slow to say whether there is a newer one, it
// goes on with the last good version.
type Client struct {
	peer   *peer.Client
	offers *revalidate.Cache[*tagged]
}

// tagged is an offer and the entity tag that it came with.
type tagged struct {
	*catalog.Offer
	etag string
}

func (t *tagged) Number() int64 { return t.Version }
func (t *tagged) Size() int     { return 1 }

// NewClient returns a client of the catalog service. Run keeps it in step with changes.
func NewClient(p *peer.Client, tel *telemetry.Telemetry) *Client {
	return newClient(p, tel, clock.System()) // ages are real time, also where the service's clock is shifted
}

func newClient(p *peer.Client, tel *telemetry.Telemetry, now clock.Clock) *Client {
	c := &Client{peer: p}
	c.offers = revalidate.New(c.ask, revalidate.Options{
		Most: cachedOffers, Patience: p.Patience(), Clock: now, Ages: revalidate.Ages(tel),
		Stale: tel.Counter("slotmesh.offer.stale", "Reads served from the last good offer while catalog was away."),
	})
	return c
}

// Get returns the offer of a business, at most two seconds old while catalog and its database answer, else the last good one. Where
// one is in memory it waits for catalog no longer than the peer's patience. Errors: [fault.BusinessNotFound];
// [fault.PeerUnavailable] when nobody knows an offer.
func (c *Client) Get(ctx context.Context, slug string) (*catalog.Offer, error) {
	return untagged(c.offers.Get(ctx, slug))
}

// Fresh returns the offer as catalog has it now; it asks every time. Errors as of Get, but never an old offer.
func (c *Client) Fresh(ctx context.Context, slug string) (*catalog.Offer, error) {
	return untagged(c.offers.Newest(ctx, slug))
}

// Recent returns an offer that was the newest at some time within the last two seconds, from memory where it can. Errors as of Fresh.
func (c *Client) Recent(ctx context.Context, slug string) (*catalog.Offer, error) {
	return untagged(c.offers.Recent(ctx, slug))
}

// Uncached returns the offer as catalog has it now, and keeps nothing in memory. Work on every business uses it, so that it
// does not push out the offers that requests need. Errors as of Fresh.
func (c *Client) Uncached(ctx context.Context, slug string) (*catalog.Offer, error) {
	newest, _, err := c.ask(ctx, slug, nil, false)
	return untagged(newest, err)
}

// AtLeast returns an offer of this version or a newer one, from memory where it can.
func (c *Client) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Offer, error) {
	known, ok := c.offers.Peek(slug)
	if !ok {
		var err error
		if known, _, err = c.offers.LastKnown(ctx, slug); err != nil {
			return nil, err
		}
	}
	if known.Version < version {
		return c.Fresh(ctx, slug)
	}
	return known.Offer, nil
}

func untagged(t *tagged, err error) (*catalog.Offer, error) {
	if err != nil {
		return nil, err
	}
	return t.Offer, nil
}

// ask is what offers are revalidated by: it asks catalog with the tag of what is in memory.
func (c *Client) ask(ctx context.Context, slug string, known *tagged, mayBeOld bool) (*tagged, time.Duration, error) {
	if !request.IsSlug(slug) {
		return nil, 0, fault.New(fault.BusinessNotFound, "Business not found")
	}
	header := http.Header{}
	if known != nil {
		header.Set("If-None-Match", known.etag)
	}
	if mayBeOld {
		header.Set("Cache-Control", catalog.MaxStale)
	}
	response, err := c.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: "/internal/offers/" + slug, Header: header})
	if err != nil {
		return nil, 0, err
	}
	if known != nil && response.Status == http.StatusNotModified {
		return known, 0, nil
	}
	offer := new(catalog.Offer)
	if err := errors.Join(json.Unmarshal(response.Body, offer), offer.Prepare()); err != nil {
		return nil, 0, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable offer; try again shortly.")
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Age")) // none where catalog's database has just said so
	return &tagged{Offer: offer, etag: response.Header.Get("ETag")}, time.Duration(seconds) * time.Second, nil
}

// Run listens for changes until ctx ends. While Redis is away nothing is lost but time: ages still make the client ask.
func (c *Client) Run(ctx context.Context, rdb redis.UniversalClient) error {
	return Listen(ctx, rdb, c.offers.Expire)
}

// Listen calls changed with the slug of each business that changes, until ctx ends. While Redis is away it keeps trying.
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
