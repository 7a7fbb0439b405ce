package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/etag"
)

// IfNoneMatch returns the If-None-Match of the request, all its lines as one list; "" if it has none.
func IfNoneMatch(c *fiber.Ctx) string {
	return strings.Join(headerLines(c, fiber.HeaderIfNoneMatch), ", ")
}

// HasTag reports whether the caller has an answer with one of these entity tags, by the If-None-Match of the request.
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

// endNotModified removes from a 304 what describes no representation: a cache updates what it keeps with the header of
// a 304, and the default Content-Type would then make text of JSON (RFC 9111 §3.2).
func endNotModified(c *fiber.Ctx) {
	if response := c.Response(); response.StatusCode() == fiber.StatusNotModified {
		response.ResetBody()
		response.Header.SetNoDefaultContentType(true)
	}
}
