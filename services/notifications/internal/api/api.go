// Package api serves notifications' internal API: it reads requests, calls one use case and renders its answer.
package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// once answers an owner's write, which is made once for each Idempotency-Key of a business, with this status.
func once[T, W any](records *store.Store, write func(*fiber.Ctx) (T, error), status int, show func(*fiber.Ctx, T) (W, error)) fiber.Handler {
	answer := func(c *fiber.Ctx, made T) error {
		shown, err := show(c, made)
		if err != nil {
			return err
		}
		return c.Status(status).JSON(shown)
	}
	return server.Once(func(c *fiber.Ctx) error {
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

// plain shows what needs nothing else.
func plain[T, W any](show func(T) W) func(*fiber.Ctx, T) (W, error) {
	return func(_ *fiber.Ctx, made T) (W, error) { return show(made), nil }
}

// outcome says what became of the owner's write that a request's Idempotency-Key names.
func outcome(records *store.Store) func(*fiber.Ctx) ([]byte, error) {
	return func(c *fiber.Ctx) ([]byte, error) {
		business, err := businessID(c)
		if err != nil {
			return nil, err
		}
		return records.Outcome(c.UserContext(), business)
	}
}

// businessID reads the id of the business that the path names.
func businessID(c *fiber.Ctx) (uuid.UUID, error) { return request.ID("business", c.Params("business")) }

// businessAndPage reads the id of the business that the path names, and which page of a list is asked for.
func businessAndPage(c *fiber.Ctx) (uuid.UUID, request.Page, error) {
	business, err := businessID(c)
	if err != nil {
		return uuid.Nil, request.Page{}, err
	}
	page, err := server.Query(c).Page()
	return business, page, err
}

// ids reads the ids of the business and of the thing that the path names. What is no UUID names nothing.
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

// all shows each of a list.
func all[T, W any](list []T, show func(T) W) []W {
	shown := make([]W, len(list))
	for i, each := range list {
		shown[i] = show(each)
	}
	return shown
}
