// Package api serves the internal API of the notifications service. Each handler calls one use case and writes the
// response.
package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// newResultReader returns a function that reads the stored idempotency result of a request, by the request's business
// and Idempotency-Key.
func newResultReader(records *store.Store) func(*fiber.Ctx) ([]byte, error) {
	return func(c *fiber.Ctx) ([]byte, error) {
		business, err := request.ID("business", c.Params("business"))
		if err != nil {
			return nil, err
		}
		return records.IdempotencyResult(c.UserContext(), business)
	}
}

func convertAll[T, W any](list []T, show func(T) W) []W {
	converted := make([]W, len(list))
	for i, element := range list {
		converted[i] = show(element)
	}
	return converted
}
