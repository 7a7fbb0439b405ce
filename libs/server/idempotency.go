package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// IdempotencyHeader is the request header by which a client names a write, so that it is done once however often it is sent.
const IdempotencyHeader = "Idempotency-Key"

// maxIdempotencyKey is more than any scheme of making such keys needs.
const maxIdempotencyKey = 255

// IdempotencyKey returns the request's Idempotency-Key, "" where it has none. Its fault is invalid_parameter for one that is
// not 1 to 255 visible ASCII characters, and for several (semantics.md §3).
func IdempotencyKey(c *fiber.Ctx) (string, error) {
	values := c.Request().Header.PeekAll(IdempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := string(values[0])
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, invisible) {
		return "", fault.Newf(fault.InvalidParameter, "%s: send one of 1 to %d visible ASCII characters, such as a UUID.", IdempotencyHeader, maxIdempotencyKey)
	}
	return key, nil
}
