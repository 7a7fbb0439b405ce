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

// sendLasting sends an answer that depends only on the key and the version, so it is valid as long as the version.
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

// numbered holds the numbers in an answer (prices and counts), which were requested from other
// services for this request.
type numbered struct {
	prices   prices
	counts   map[uuid.UUID]int
	complete bool // every service whose counts are needed has answered
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

// numbered returns the answer with the numbers n (prices and counts). If the cached answer shows the
// same numbers, it returns that one; otherwise show builds a new one. It does not cache an answer if a
// number is missing, or if its prices belong to another version.
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

// foundOrRendered returns the answer that look finds. If look finds none, it renders the value that
// show returns, and keep turns the bytes into an answer. Only a few renderings of one business run at
// the same time ([Public.Places]), because a large list keeps a processor busy.
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
	if held := look(); held != nil { // rendered by another request while this one waited for a place
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

// encode renders v as JSON and leaves HTML in texts unescaped, as answers are never inserted into a page unchanged.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.Clone(body.Bytes()), nil // kept for long: without the unused capacity of the buffer
}

// sendTagged sends the body, or status 304 if the caller already has it.
//
// Cache-Control: no-cache lets callers store the answer but makes them revalidate it before each use,
// because prices, the pause of bookings and the version can change at any moment.
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

// The keys and values of headers in fasthttp's canonical form. Converting them for each answer would
// take longer than finding the answer in the cache.
var etagKey, cacheControlKey, noCache = []byte("Etag"), []byte(fiber.HeaderCacheControl), []byte("no-cache")
