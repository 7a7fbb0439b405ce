package server

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/plain"
)

// Query returns the parameters of the request's query.
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

// CheckQuery rejects a query parameter that is probably a misspelled known one: it
// differs only in case, underscores or hyphens. Fault: invalid_parameter. It allocates
// no memory if all parameters are known, because every list request calls it.
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

// WithParameters returns a handler that calls next if the request's query passes [CheckQuery].
func WithParameters(next fiber.Handler, known ...string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := CheckQuery(c, known...); err != nil {
			return err
		}
		return next(c)
	}
}

// JSON strictly decodes the JSON object in the request's body
// into a struct. Faults: those of [Body]; invalid_parameter.
func JSON(c *fiber.Ctx, into any) error {
	body, err := Body(c)
	if err != nil {
		return err
	}
	return request.JSON(body, into)
}

// Slug returns the business's slug from the path parameter :slug. Fault: business_not_found.
func Slug(c *fiber.Ctx) (string, error) { return request.Slug(c.Params("slug")) }
