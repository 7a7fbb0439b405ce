package server

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/plain"
)

// Query returns a function that reads the query parameters of the request.
func Query(c *fiber.Ctx) request.Query {
	args := c.Context().QueryArgs()
	return func(name string) []string {
		var all []string
		for _, value := range args.PeekMulti(name) {
			all = append(all, string(value))
		}
		return all
	}
}

// CheckQuery returns an error if a query parameter is probably a misspelled known parameter. The name of such a
// parameter differs from a known name only in case, underscores or hyphens. Fault: invalid_parameter.
//
// If all parameters are known, CheckQuery allocates no memory, because every request for a list calls it.
func CheckQuery(c *fiber.Ctx, known ...string) error {
	for name := range c.Context().QueryArgs().All() {
		if slices.ContainsFunc(known, func(k string) bool { return k == string(name) }) {
			continue
		}
		if err := plain.CheckNames("parameter", []string{string(name)}, known); err != nil {
			return err
		}
	}
	return nil
}

// WithParameters returns a handler that checks the query with [CheckQuery] before it calls `next`. The argument `known`
// lists the valid parameters.
func WithParameters(next fiber.Handler, known ...string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := CheckQuery(c, known...); err != nil {
			return err
		}
		return next(c)
	}
}

// JSON decodes the JSON object in the body of the request, as [request.JSON] does. The argument
// `into` is a pointer to the struct for the result. Faults: invalid_parameter; the faults of [Body].
func JSON(c *fiber.Ctx, into any) error {
	body, err := Body(c)
	if err != nil {
		return err
	}
	return request.JSON(body, into)
}

// Slug returns the value of the path parameter `slug`, which is the slug of a business. Fault: business_not_found if
// the value does not have the form of a slug.
func Slug(c *fiber.Ctx) (string, error) { return request.Slug(c.Params("slug")) }
