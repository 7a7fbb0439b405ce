// Package api serves notifications' internal API: each handler calls one use case and renders its result.
package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// outcome returns a function that reads the idempotency result for a request's Idempotency-Key.
func outcome(records *store.Store) func(*fiber.Ctx) ([]byte, error) {
	return func(c *fiber.Ctx) ([]byte, error) {
		business, err := request.ID("business", c.Params("business"))
		if err != nil {
			return nil, err
		}
		return records.Outcome(c.UserContext(), business)
	}
}

// all converts each element of a list.
func all[T, W any](list []T, show func(T) W) []W {
	shown := make([]W, len(list))
	for i, each := range list {
		shown[i] = show(each)
	}
	return shown
}
