package server

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/plain"
	"github.com/slotmesh/slotmesh/libs/request"
)

// Query gives the parameters of a request's query.
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

// CheckQuery refuses a parameter that differs from a known one only in its case, underscores or hyphens. Fault: invalid_parameter. It
// allocates nothing for known parameters: each request to a list passes here.
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

// WithParameters returns a handler that calls next once the request's query passes [CheckQuery].
func WithParameters(next fiber.Handler, known ...string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := CheckQuery(c, known...); err != nil {
			return err
		}
		return next(c)
	}
}

// JSON reads the JSON object of a request's body into a struct, strictly. Faults: those of [Body]; invalid_parameter.
func JSON(c *fiber.Ctx, into any) error {
	body, err := Body(c)
	if err != nil {
		return err
	}
	return request.JSON(body, into)
}

// Slug reads the business of the path's :slug. Fault: business_not_found.
func Slug(c *fiber.Ctx) (string, error) { return request.Slug(c.Params("slug")) }
