package api

import (
	"bytes"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/catalog/internal/etag"
)

// encode renders v as JSON and leaves HTML in texts readable: answers are never put into a page as they are.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// sendTagged answers with the body, or with 304 when the caller has it already.
//
// Cache-Control no-cache lets anyone keep the answer but ask before each use: prices, the pause and the version can
// change at any moment, and asking costs one 304.
func sendTagged(c *fiber.Ctx, mediaType string, body []byte, tag string) error {
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if etag.Match(c.Get(fiber.HeaderIfNoneMatch), tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, mediaType)
	return c.Send(body)
}
