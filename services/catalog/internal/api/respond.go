package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// sendLasting answers with what depends on nothing but the key and the version.
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

// numbered are the numbers of an answer, just asked for.
type numbered struct {
	prices   prices
	counts   map[uuid.UUID]int
	complete bool // nobody whose counts are needed was away
}

// sendNumbered answers with what depends on numbers too.
func (p *Public) sendNumbered(c *fiber.Ctx, key rendered.Key, version *ready.Version, n numbered, show func() any) error {
	answer, err := p.numbered(c.UserContext(), key, version, n, show)
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// numbered is the answer with these numbers: the one that is held where it shows the same ones. An answer that lacks a
// number, or whose prices are another version's, is not kept.
func (p *Public) numbered(ctx context.Context, key rendered.Key, version *ready.Version, n numbered, show func() any) (*rendered.Answer, error) {
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

// foundOrRendered is the answer that is there, or else JSON that is made in one of the business's places: a large list takes long, and others
// wait for the processor.
func (p *Public) foundOrRendered(
	ctx context.Context, slug string, look func() *rendered.Answer, show func() any, keep func(body []byte) *rendered.Answer,
) (*rendered.Answer, error) {
	if held := look(); held != nil {
		return held, nil
	}
	leave, err := p.Places.Enter(ctx, slug)
	if err != nil {
		return nil, err
	}
	defer leave()
	if held := look(); held != nil { // made by those who had a place while this waited for one
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

// encode renders v as JSON and leaves HTML in texts readable: answers are never put into a page as they are.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.Clone(body.Bytes()), nil // kept for long: without the room that the buffer grew by
}

// sendTagged answers with the body, or with 304 when the caller has it already.
//
// Cache-Control no-cache lets anyone keep the answer but ask before each use: prices, the pause and the version can
// change at any moment, and asking costs one 304.
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

// Headers of every answer as fasthttp keeps them: brought into that form anew, they took longer than finding the answer.
var etagKey, cacheControlKey, noCache = []byte("Etag"), []byte(fiber.HeaderCacheControl), []byte("no-cache")
