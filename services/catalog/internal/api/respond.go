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

// sendLasting sends an answer that depends only on the key and the
// version. The answer is valid while the version is the newest.
func (p *Public) sendLasting(c *fiber.Ctx, key rendered.Key, version *ready.Version, show func() any) error {
	look := func() *rendered.Answer { return p.Rendered.Get(key, version.Offer.Version) }
	answer, err := p.foundOrRendered(c.UserContext(), key.Slug, look, show, func(body []byte) *rendered.Answer {
		answer := rendered.New(body, version.Offer.Version, rendered.Numbers{}, time.Time{}, time.Time{})
		p.Rendered.Put(key, answer)
		return answer
	})
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// numbered holds the numbers in an answer, prices and counts, that were requested from other services.
type numbered struct {
	prices   prices
	counts   map[uuid.UUID]int
	complete bool // true if every service whose counts are needed has answered
}

// sendNumbered sends an answer that also depends on numbers of other services: prices and counts.
func (p *Public) sendNumbered(c *fiber.Ctx, key rendered.Key, version *ready.Version, n numbered,
	show func() any) error {
	answer, err := p.numbered(c.UserContext(), key, version, n, show)
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// numbered returns the answer with the numbers in n (prices and counts). If the cached answer shows the
// same numbers, numbered returns the cached answer. Otherwise, it renders the value that `show` returns.
// It does not cache the new answer if a number is missing, or if the prices belong to another version.
func (p *Public) numbered(ctx context.Context, key rendered.Key, version *ready.Version, n numbered,
	show func() any) (*rendered.Answer, error) {
	numbers := rendered.Numbers{Prices: n.prices.of, Counts: n.counts}
	lasts := n.complete && n.prices.of != nil && n.prices.ofVersion
	look := func() *rendered.Answer {
		held := p.Rendered.Get(key, version.Offer.Version)
		if !lasts || held == nil || !held.Shows(numbers) {
			return nil
		}
		p.Rendered.Put(key, held.Renewed(n.prices.from, n.prices.until))
		return held
	}
	return p.foundOrRendered(ctx, key.Slug, look, show, func(body []byte) *rendered.Answer {
		answer := rendered.New(body, version.Offer.Version, numbers, n.prices.from, n.prices.until)
		if lasts {
			p.Rendered.Put(key, answer)
		}
		return answer
	})
}

// foundOrRendered returns the answer that the function `look` finds. If `look` returns nil, foundOrRendered renders
// the value that `show` returns. Then it passes the bytes to the function `keep`, which makes the answer. Only a few
// renderings of one business run at the same time ([Public.Places]), because a large list keeps a processor busy.
func (p *Public) foundOrRendered(
	ctx context.Context, slug string, look func() *rendered.Answer, show func() any,
	keep func(body []byte) *rendered.Answer,
) (*rendered.Answer, error) {
	if held := look(); held != nil {
		return held, nil
	}
	leave, err := p.Places.Enter(ctx, slug)
	if err != nil {
		return nil, err
	}
	defer leave()
	if held := look(); held != nil { // another request rendered the answer while this request waited for a place
		return held, nil
	}
	body, err := encode(show())
	if err != nil {
		return nil, err
	}
	return keep(body), nil
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
