package server

import (
	"github.com/gofiber/fiber/v2"

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
