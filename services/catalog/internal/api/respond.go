package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// sendVersioned sends an answer that depends only on the key and the
// version. The answer is valid while the version is the newest.
func (p *Public) sendVersioned(c *fiber.Ctx, key rendered.Key, version *ready.Version, show func() any) error {
	findCached := func() *rendered.Answer { return p.Rendered.Get(key, version.Snapshot.Version) }
	answer, err := p.findOrRender(c.UserContext(), key.Slug, findCached, show, func(body []byte) *rendered.Answer {
		answer := rendered.New(body, version.Snapshot.Version, rendered.Numbers{}, time.Time{}, time.Time{})
		p.Rendered.Put(key, answer)
		return answer
	})
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// peerNumbers holds the numbers in an answer, prices and counts, that were requested from other services.
type peerNumbers struct {
	prices     prices
	counts     map[uuid.UUID]int
	isComplete bool // true if every service whose counts are needed has answered
}

// sendNumbered sends an answer that also depends on numbers of other services: prices and counts.
func (p *Public) sendNumbered(c *fiber.Ctx, key rendered.Key, version *ready.Version, n peerNumbers,
	show func() any) error {
	answer, err := p.renderNumbered(c.UserContext(), key, version, n, show)
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// renderNumbered returns the answer with the numbers in n (prices and counts). If the cached answer shows the
// same numbers, renderNumbered returns the cached answer. Otherwise, it renders the value that `show` returns.
// It does not cache the new answer if a number is missing, or if the prices belong to another version.
func (p *Public) renderNumbered(ctx context.Context, key rendered.Key, version *ready.Version, n peerNumbers,
	show func() any) (*rendered.Answer, error) {
	numbers := rendered.Numbers{Prices: n.prices.byID, Counts: n.counts}
	isCacheable := n.isComplete && n.prices.byID != nil && n.prices.isOfVersion
	findCached := func() *rendered.Answer {
		cached := p.Rendered.Get(key, version.Snapshot.Version)
		if !isCacheable || cached == nil || !cached.HasNumbers(numbers) {
			return nil
		}
		p.Rendered.Put(key, cached.WithValidity(n.prices.from, n.prices.until))
		return cached
	}
	return p.findOrRender(ctx, key.Slug, findCached, show, func(body []byte) *rendered.Answer {
		answer := rendered.New(body, version.Snapshot.Version, numbers, n.prices.from, n.prices.until)
		if isCacheable {
			p.Rendered.Put(key, answer)
		}
		return answer
	})
}

// findOrRender returns the answer that the function `findCached` finds. If `findCached` returns
// nil, findOrRender renders the value that `value` returns. Then it calls the function `store` with
// the rendered bytes, and returns the answer that `store` returns. Only a few renderings of one
// business run at the same time ([Public.Places]), because a large list keeps a processor busy.
func (p *Public) findOrRender(
	ctx context.Context, slug string, findCached func() *rendered.Answer, value func() any,
	store func(body []byte) *rendered.Answer,
) (*rendered.Answer, error) {
	if cached := findCached(); cached != nil {
		return cached, nil
	}
	release, err := p.Places.Enter(ctx, slug)
	if err != nil {
		return nil, err
	}
	defer release()
	// Another request may have rendered the answer while this request waited for a place.
	if cached := findCached(); cached != nil {
		return cached, nil
	}
	body, err := encode(value())
	if err != nil {
		return nil, err
	}
	return store(body), nil
}

func sendAnswer(c *fiber.Ctx, a *rendered.Answer) error {
	return sendTagged(c, fiber.MIMEApplicationJSON, a.Body, a.Tag)
}

// encode renders v as JSON. It does not escape HTML in texts,
// because clients never insert an answer into a page unchanged.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	// The answer stays in memory for long, so Clone drops the unused capacity of the buffer.
	return bytes.Clone(body.Bytes()), nil
}

// sendTagged sends the body with the entity tag `tag`. If the caller already
// has the body with this tag, sendTagged sends status 304 without a body.
//
// Cache-Control: no-cache allows callers to store the answer, but they must revalidate it
// before each use. Prices, the pause of online bookings and the version can change at any time.
func sendTagged(c *fiber.Ctx, mediaType string, body []byte, tag string) error {
	header := &c.Response().Header
	header.SetBytesK(etagKey, tag)
	header.SetCanonical(cacheControlKey, noCache)
	if server.HasTag(c, tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	header.SetContentType(mediaType)
	return c.Send(body)
}

// The header keys and values in fasthttp's canonical form. They are prepared once, because
// their conversion for each response would take longer than finding an answer in the cache.
var etagKey, cacheControlKey, noCache = []byte("Etag"), []byte(fiber.HeaderCacheControl), []byte("no-cache")
