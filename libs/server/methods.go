package server

import (
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// otherMethod stands for every method that HTTP servers need not know, as OpenTelemetry writes it: such a request
// takes the way of all others and gets the 404 or 405 that its path deserves.
const otherMethod = "_OTHER"

// knownMethods are those that routes may be added for.
var knownMethods = append(slices.Clone(fiber.DefaultMethods), otherMethod)

// knowMethods gives requests of unknown methods the one name they are routed by.
func knowMethods(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !slices.Contains(knownMethods, string(ctx.Method())) {
			ctx.Request.Header.SetMethod(otherMethod)
		}
		next(ctx)
	}
}

// methods answers OPTIONS, completes the Allow of a 405, and opens public reads to pages of other origins. It stands
// in every service, so that it holds behind any ingress.
func methods(c *fiber.Ctx) error {
	err := c.Next()
	refused := errors.Is(err, fiber.ErrMethodNotAllowed) // fiber has set Allow to the methods that the path has
	if refused {
		c.Append(fiber.HeaderAllow, fiber.MethodOptions)
	}
	if refused && c.Method() == fiber.MethodOptions {
		preflight(c)
		c.Status(fiber.StatusNoContent)
		return nil
	}
	if !refused && c.Response().StatusCode() != fiber.StatusMethodNotAllowed && isRead(c.Method()) && isPublic(c.Path()) {
		c.Response().Header.SetCanonical(allowOriginKey, anyOrigin)
		c.Response().Header.SetCanonical(exposeHeadersKey, exposed)
	}
	return err
}

// Headers of every public read, in the form in which fasthttp keeps them. exposed are those that scripts of other origins may
// read, beside those that they always may.
var (
	allowOriginKey, anyOrigin = []byte(fiber.HeaderAccessControlAllowOrigin), []byte("*")
	exposeHeadersKey, exposed = []byte(fiber.HeaderAccessControlExposeHeaders), []byte("ETag, RateLimit, RateLimit-Policy, Retry-After, traceparent")
)

// preflight tells a browser that scripts of any origin may read this path. It says nothing where the path has no GET:
// whoever books holds an API key, and those never belong into a page (interface.md §5).
func preflight(c *fiber.Ctx) {
	allowed := strings.Split(c.GetRespHeader(fiber.HeaderAllow), ", ")
	if !isPublic(c.Path()) || !slices.Contains(allowed, fiber.MethodGet) {
		return
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD")
	c.Set(fiber.HeaderAccessControlAllowHeaders, "*") // any but Authorization, which the wildcard leaves out
	c.Set(fiber.HeaderAccessControlMaxAge, "86400")
}

func isRead(method string) bool { return method == fiber.MethodGet || method == fiber.MethodHead }

// isPublic tells the paths of interface.md, which anyone may read, from those of operators and peers.
func isPublic(path string) bool { return strings.HasPrefix(path, "/api/public/") }
