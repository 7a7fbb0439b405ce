// Package api serves notifications' internal API: each handler
// parses a request, calls one use case and writes the result.
package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// once returns a handler for an owner's write, which runs at most once per business and Idempotency-Key.
// The argument write runs the write, and show builds the response body from its result. A repeated
// request gets the response built from the stored result. The response has the given status.
func once[T, W any](records *store.Store, write func(*fiber.Ctx) (T, error), status int,
	show func(*fiber.Ctx, T) (W, error)) fiber.Handler {
	answer := func(c *fiber.Ctx, made T) error {
		shown, err := show(c, made)
		if err != nil {
			return err
		}
		return c.Status(status).JSON(shown)
	}
	return server.HandleIdempotently(func(c *fiber.Ctx) error {
		made, err := write(c)
		if err != nil {
			return err
		}
		return answer(c, made)
	}, outcome(records), func(c *fiber.Ctx, note []byte) error {
		var made T
		if err := json.Unmarshal(note, &made); err != nil {
			return err
		}
		return answer(c, made)
	})
}

// plain adapts a conversion that needs no request and cannot fail.
func plain[T, W any](show func(T) W) func(*fiber.Ctx, T) (W, error) {
	return func(_ *fiber.Ctx, made T) (W, error) { return show(made), nil }
}

// outcome returns a function that reads the idempotency result for a request's Idempotency-Key.
func outcome(records *store.Store) func(*fiber.Ctx) ([]byte, error) {
	return func(c *fiber.Ctx) ([]byte, error) {
		business, err := businessID(c)
		if err != nil {
			return nil, err
		}
		return records.Outcome(c.UserContext(), business)
	}
}

// businessID parses the id of the business in the path.
func businessID(c *fiber.Ctx) (uuid.UUID, error) { return request.ID("business", c.Params("business")) }

// businessAndPage parses the id of the business in the path and the page of a list in the query.
func businessAndPage(c *fiber.Ctx) (uuid.UUID, request.Page, error) {
	business, err := businessID(c)
	if err != nil {
		return uuid.Nil, request.Page{}, err
	}
	page, err := server.Query(c).Page()
	return business, page, err
}

// ids parses the ids of the business and of the object in the path. If the object's id is invalid, it
// returns the fault not_found, whose sentence begins with what, the kind of object.
func ids(c *fiber.Ctx, what string) (uuid.UUID, uuid.UUID, error) {
	business, err := businessID(c)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return uuid.Nil, uuid.Nil, fault.Newf(fault.NotFound, "%s not found", what)
	}
	return business, id, nil
}

// all converts each element of a list.
func all[T, W any](list []T, show func(T) W) []W {
	shown := make([]W, len(list))
	for i, each := range list {
		shown[i] = show(each)
	}
	return shown
}
