package server

import (
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// otherMethod replaces every unknown HTTP method; OpenTelemetry uses the same name in telemetry. The answer to such a
// request is 404 or 405.
const otherMethod = "_OTHER"

// knownMethods are the HTTP methods for which handlers can be mounted.
var knownMethods = append(slices.Clone(fiber.DefaultMethods), otherMethod)

// replaceUnknownMethods replaces the method of a request by otherMethod if the method is unknown.
func replaceUnknownMethods(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !slices.Contains(knownMethods, string(ctx.Method())) {
			ctx.Request.Header.SetMethod(otherMethod)
		}
		next(ctx)
	}
}

// handleMethods is middleware that answers OPTIONS requests and adds OPTIONS to the
// header Allow of a 405. It also permits web pages of other origins to read public paths
// (CORS). Services do this themselves, so that they need no support of the ingress.
func handleMethods(c *fiber.Ctx) error {
	err := c.Next()
	refused := errors.Is(err, fiber.ErrMethodNotAllowed) // fiber has set the header Allow to the methods of the path
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

// These variables are the names and values of the CORS headers, in the form that fasthttp stores. Every answer to a
// read of a public path has these headers. exposedHeaders lists the headers that scripts of other origins may read, in
// addition to those that CORS always permits.
var (
	allowOriginKey, anyOrigin        = []byte(fiber.HeaderAccessControlAllowOrigin), []byte("*")
	exposeHeadersKey, exposedHeaders = []byte(fiber.HeaderAccessControlExposeHeaders),
		[]byte("ETag, RateLimit, RateLimit-Policy, Retry-After, traceparent")
)

// preflight answers a CORS preflight request, which a browser sends before a request of a page of another origin.
// It permits scripts of any origin to read the path with GET. If the path does not support GET, it permits
// nothing. POST /book, for example, needs an API key, and web pages must not contain API keys (interface.md §5).
func preflight(c *fiber.Ctx) {
	allowed := strings.Split(c.GetRespHeader(fiber.HeaderAllow), ", ")
	if !isPublic(c.Path()) || !slices.Contains(allowed, fiber.MethodGet) {
		return
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD")
	// any header except Authorization, which the wildcard does not include
	c.Set(fiber.HeaderAccessControlAllowHeaders, "*")
	c.Set(fiber.HeaderAccessControlMaxAge, "86400")
}

func isRead(method string) bool { return method == fiber.MethodGet || method == fiber.MethodHead }

// isPublic reports whether the path belongs to the public API, which everyone
// may read (interface.md). Paths for operators and services are not public.
func isPublic(path string) bool { return strings.HasPrefix(path, "/api/public/") }
