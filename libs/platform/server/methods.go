package server

import (
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// otherMethod replaces every unknown HTTP method; OpenTelemetry uses the
// same word. The request is routed by its path and gets a 404 or 405.
const otherMethod = "_OTHER"

// knownMethods are the methods for which routes can be added.
var knownMethods = append(slices.Clone(fiber.DefaultMethods), otherMethod)

// replaceUnknownMethods replaces unknown methods by otherMethod.
func replaceUnknownMethods(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !slices.Contains(knownMethods, string(ctx.Method())) {
			ctx.Request.Header.SetMethod(otherMethod)
		}
		next(ctx)
	}
}

// handleMethods is middleware that answers OPTIONS, completes the Allow header of a 405, and permits pages of other
// origins to read public paths (CORS). Services do this themselves, so that they work behind any ingress.
func handleMethods(c *fiber.Ctx) error {
	err := c.Next()
	refused := errors.Is(err, fiber.ErrMethodNotAllowed) // fiber has set Allow to the methods of the path
	if refused {
		c.Append(fiber.HeaderAllow, fiber.MethodOptions)
	}
	if refused && c.Method() == fiber.MethodOptions {
		preflight(c)
		c.Status(fiber.StatusNoContent)
		return nil
	}
	if !refused && c.Response().StatusCode() != fiber.StatusMethodNotAllowed && isRead(c.Method()) &&
		isPublic(c.Path()) {
		c.Response().Header.SetCanonical(allowOriginKey, anyOrigin)
		c.Response().Header.SetCanonical(exposeHeadersKey, exposedHeaders)
	}
	return err
}

// Headers of every public read, as fasthttp stores them. The list exposed names the headers
// that scripts of other origins may read, in addition to those that they may always read.
var (
	allowOriginKey, anyOrigin        = []byte(fiber.HeaderAccessControlAllowOrigin), []byte("*")
	exposeHeadersKey, exposedHeaders = []byte(fiber.HeaderAccessControlExposeHeaders),
		[]byte("ETag, RateLimit, RateLimit-Policy, Retry-After, traceparent")
)

// preflight answers the request that a browser sends before a request of another origin (CORS
// preflight). It permits scripts of any origin to read the path. If the path has no GET, it permits
// nothing: booking needs an API key, and pages must not contain API keys (interface.md §5).
func preflight(c *fiber.Ctx) {
	allowed := strings.Split(c.GetRespHeader(fiber.HeaderAllow), ", ")
	if !isPublic(c.Path()) || !slices.Contains(allowed, fiber.MethodGet) {
		return
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD")
	c.Set(fiber.HeaderAccessControlAllowHeaders, "*") // any except Authorization, which the wildcard excludes
	c.Set(fiber.HeaderAccessControlMaxAge, "86400")
}

func isRead(method string) bool { return method == fiber.MethodGet || method == fiber.MethodHead }

// isPublic reports whether anyone may read a path, because interface.md
// defines it. Paths of operators and services are not public.
func isPublic(path string) bool { return strings.HasPrefix(path, "/api/public/") }
