package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/etag"
)

// IfNoneMatch returns the If-None-Match header of the request with all its lines as one list; "" if it has none.
func IfNoneMatch(c *fiber.Ctx) string {
	return strings.Join(headerLines(c, fiber.HeaderIfNoneMatch), ", ")
}

// HasTag reports whether the request's If-None-Match has one of these entity tags.
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

// endNotModified removes the body and the default Content-Type from a 304. A cache updates its stored
// response with the headers of a 304, and the default Content-Type would turn JSON into text (RFC 9111 §3.2).
func endNotModified(c *fiber.Ctx) {
	if response := c.Response(); response.StatusCode() == fiber.StatusNotModified {
		response.ResetBody()
		response.Header.SetNoDefaultContentType(true)
	}
}
