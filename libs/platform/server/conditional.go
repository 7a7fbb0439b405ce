package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/etag"
)

// IfNoneMatch returns the values of all If-None-Match lines of the request as one list, or "" if there are none.
func IfNoneMatch(c *fiber.Ctx) string {
	return strings.Join(headerLines(c, fiber.HeaderIfNoneMatch), ", ")
}

// HasTag reports whether the header If-None-Match of the request contains one of the entity tags.
func HasTag(c *fiber.Ctx, tags ...string) bool {
	return etag.Match(headerLines(c, fiber.HeaderIfNoneMatch), tags...)
}

// headerLines returns the values of all lines of a header.
func headerLines(c *fiber.Ctx, name string) []string {
	var lines []string
	for _, line := range c.Request().Header.PeekAll(name) {
		lines = append(lines, string(line))
	}
	return lines
}

// endNotModified removes the body and the default Content-Type from an answer with status
// 304. A cache updates its stored answer with the headers of a 304 (RFC 9111 §3.2). The
// default Content-Type would therefore turn a stored JSON answer into plain text.
func endNotModified(c *fiber.Ctx) {
	if response := c.Response(); response.StatusCode() == fiber.StatusNotModified {
		response.ResetBody()
		response.Header.SetNoDefaultContentType(true)
	}
}
