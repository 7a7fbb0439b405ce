package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
)

// create returns the handler of a write that creates an object. The handler decodes the body, passes it to write and
// answers 201. The service that stores the object validates it.
func create[B, T any](write func(context.Context, identity.Principal, string, B) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		var body B
		if err := decode(c, &body); err != nil {
			return err
		}
		made, err := write(c.UserContext(), principal(c), slug, body)
		if err != nil {
			return err
		}
		return c.Status(fiber.StatusCreated).JSON(made)
	}
}

// change returns the handler of a write that changes one object. The handler decodes the body and passes it to the
// write.
func change[B, T any](what string, write func(context.Context, identity.Principal, string, uuid.UUID, B) (*T,
	error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, what)
		if err != nil {
			return err
		}
		var body B
		if err := decode(c, &body); err != nil {
			return err
		}
		done, err := write(c.UserContext(), principal(c), slug, id, body)
		if err != nil {
			return err
		}
		return c.JSON(done)
	}
}

// notified returns the context of a write. If notify is false, the customer is not notified of the write.
func notified(ctx context.Context, notify *bool) context.Context {
	if notify != nil && !*notify {
		return actor.Silently(ctx)
	}
	return ctx
}

// reschedule is the body of a reschedule in the admin API.
type reschedule struct {
	booking.Reschedule
	Notify *bool `json:"notify"` // omitted: true
}

func (a *Admin) reschedule(ctx context.Context, by identity.Principal, slug string, id uuid.UUID,
	to reschedule) (*booking.Booking, error) {
	return a.Rooms.Sales.Reschedule(notified(ctx, to.Notify), by, slug, id, to.Reschedule)
}

// confirm confirms a booking.
func (a *Admin) confirm(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	var body struct {
		Notify *bool `json:"notify"`
	}
	if err := decodeOptional(c, &body); err != nil {
		return err
	}
	confirmed, err := a.Rooms.Sales.MoveBooking(notified(c.UserContext(), body.Notify), principal(c), slug, id,
		booking.MoveConfirm)
	if err != nil {
		return err
	}
	return c.JSON(confirmed)
}

// ofID returns the handler of a write that needs only an id, and answers with this status.
func ofID[T any](what string, status int, write func(context.Context, identity.Principal, string, uuid.UUID) (*T,
	error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, what)
		if err != nil {
			return err
		}
		done, err := write(c.UserContext(), principal(c), slug, id)
		if err != nil {
			return err
		}
		return c.Status(status).JSON(done)
	}
}

// transition returns the handler of one of the transitions that an owner can make.
func transition[T any](what, move string, write func(context.Context, identity.Principal, string, uuid.UUID,
	string) (*T, error)) fiber.Handler {
	return ofID(what, fiber.StatusOK, func(ctx context.Context, by identity.Principal, slug string, id uuid.UUID) (*T,
		error) {
		return write(ctx, by, slug, id, move)
	})
}

// discard returns the handler of a write whose answer has no content.
func discard(what string, write func(context.Context, identity.Principal, string, uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, what)
		if err != nil {
			return err
		}
		if err := write(c.UserContext(), principal(c), slug, id); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	}
}

// read returns the handler of a read of one object.
func read[T any](what string, ask func(context.Context, string, uuid.UUID) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, what)
		if err != nil {
			return err
		}
		found, err := ask(c.UserContext(), slug, id)
		if err != nil {
			return err
		}
		return c.JSON(found)
	}
}

// listOf returns the handler of a paged list that booking stores for a business.
func listOf[T any](a *Admin, ask func(context.Context, uuid.UUID, request.Page) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		page, err := server.Query(c).Page()
		if err != nil {
			return err
		}
		business, err := a.business(c)
		if err != nil {
			return err
		}
		list, err := ask(c.UserContext(), business.ID, page)
		if err != nil {
			return err
		}
		return c.JSON(list)
	}
}

// listBySlug returns the handler of a paged list of the business with a slug.
func listBySlug[T any](ask func(context.Context, string, request.Page) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		page, err := server.Query(c).Page()
		if err != nil {
			return err
		}
		list, err := ask(c.UserContext(), slug, page)
		if err != nil {
			return err
		}
		return c.JSON(list)
	}
}
