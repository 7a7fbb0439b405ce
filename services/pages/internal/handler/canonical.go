package handler

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// redirectToCanonical is middleware that redirects a request to the canonical path if the path of the request is not
// canonical. A path is not canonical if it ends with a slash, or if the slug in the path contains capital letters.
func redirectToCanonical(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return c.Next()
	}
	path := canonicalPath(c.Path())
	if path == c.Path() {
		return c.Next()
	}
	if query := c.Request().URI().QueryString(); len(query) > 0 {
		path += "?" + string(query)
	}
	return c.Redirect(path, fiber.StatusMovedPermanently)
}

// mountCanonical adds the middleware [redirectToCanonical] to all pages of businesses.
func (p *Pages) mountCanonical(router fiber.Router) { router.Use("/b", redirectToCanonical) }

// canonicalPath returns the canonical form of a path below /b. If the
// path contains no valid slug, canonicalPath returns the path unchanged.
func canonicalPath(path string) string {
	below, ok := strings.CutPrefix(path, "/b/")
	if !ok {
		return path
	}
	slug, rest, _ := strings.Cut(strings.TrimRight(below, "/"), "/")
	if slug = strings.ToLower(slug); !request.IsSlug(slug) {
		return path
	}
	return strings.TrimRight("/b/"+slug+"/"+rest, "/")
}
