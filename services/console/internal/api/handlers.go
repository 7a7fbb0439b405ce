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

// newCreateHandler returns the handler of a write that creates an object. The handler decodes the body, passes the body
// to the function `write`, and answers 201 with the object. The service that stores the object validates the body.
func newCreateHandler[B, T any](write func(context.Context, identity.Principal, string, B) (*T, error)) fiber.Handler {
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

// newChangeHandler returns the handler of a write that changes one object. The handler decodes the body, passes the
// body to the function `write`, and answers with the changed object. The argument `label` is the name of the object in
// errors.
func newChangeHandler[B, T any](label string, write func(context.Context, identity.Principal, string, uuid.UUID, B) (*T,
	error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
		if err != nil {
			return err
		}
		var body B
		if err := decode(c, &body); err != nil {
			return err
		}
		result, err := write(c.UserContext(), principal(c), slug, id, body)
		if err != nil {
			return err
		}
		return c.JSON(result)
	}
}

// withNotification returns the context for a write. If `notify` points to false, the services do not send the customer
// a notification about the write.
func withNotification(ctx context.Context, notify *bool) context.Context {
	if notify != nil && !*notify {
		return actor.Silently(ctx)
	}
	return ctx
}

// newBooking is the body of a request to book.
type newBooking struct {
	booking.NewBooking
	Notify *bool `json:"notify"` // omitted: true
}

func (a *Admin) book(ctx context.Context, by identity.Principal, slug string, b newBooking) (*booking.Booking, error) {
	return a.Rooms.Sales.Book(withNotification(ctx, b.Notify), by, slug, b.NewBooking)
}

// reschedule is the body of a request to reschedule a booking.
type reschedule struct {
	booking.Reschedule
	Notify *bool `json:"notify"` // omitted: true
}

func (a *Admin) reschedule(ctx context.Context, by identity.Principal, slug string, id uuid.UUID,
	to reschedule) (*booking.Booking, error) {
	return a.Rooms.Sales.Reschedule(withNotification(ctx, to.Notify), by, slug, id, to.Reschedule)
}

// relocate is the body of a request to change the location of a booking.
type relocate struct {
	booking.Relocate
	Notify *bool `json:"notify"` // omitted: true
}

func (a *Admin) relocate(ctx context.Context, by identity.Principal, slug string, id uuid.UUID,
	to relocate) (*booking.Booking, error) {
	return a.Rooms.Sales.Relocate(withNotification(ctx, to.Notify), by, slug, id, to.Relocate)
}

// confirm confirms the booking in the path. The body may set whether the customer is notified.
func (a *Admin) confirm(c *fiber.Ctx) error {
	slug, id, err := parseID(c, "Booking")
	if err != nil {
		return err
	}
	var body struct {
		Notify *bool `json:"notify"`
	}
	if err := decodeOptional(c, &body); err != nil {
		return err
	}
	confirmed, err := a.Rooms.Sales.TransitionBooking(withNotification(c.UserContext(), body.Notify), principal(c),
		slug, id,
		booking.TransitionConfirm)
	if err != nil {
		return err
	}
	return c.JSON(confirmed)
}

// newIDHandler returns the handler of a write that has no body. The handler calls the function `write` with the id in
// the path, and answers with the HTTP status `status` and the changed object. The argument `label` is the name of the
// object in errors.
func newIDHandler[T any](label string, status int, write func(context.Context, identity.Principal, string,
	uuid.UUID) (*T,
	error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
		if err != nil {
			return err
		}
		result, err := write(c.UserContext(), principal(c), slug, id)
		if err != nil {
			return err
		}
		return c.Status(status).JSON(result)
	}
}

// newTransitionHandler returns the handler of a write that changes the status of an object. The arguments `label` and
// `name` are the name of the object in errors and the name of the transition.
func newTransitionHandler[T any](label, name string, write func(context.Context, identity.Principal, string, uuid.UUID,
	string) (*T, error)) fiber.Handler {
	return newIDHandler(label, fiber.StatusOK, func(ctx context.Context, by identity.Principal, slug string,
		id uuid.UUID) (*T,
		error) {
		return write(ctx, by, slug, id, name)
	})
}

// newDiscardHandler returns the handler of a write that returns no object. The handler answers 204 without a body.
func newDiscardHandler(label string, write func(context.Context, identity.Principal, string,
	uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
		if err != nil {
			return err
		}
		if err := write(c.UserContext(), principal(c), slug, id); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	}
}

// newReadHandler returns the handler of a read of one object. The handler answers with the object that the function
// `ask` returns.
func newReadHandler[T any](label string, ask func(context.Context, string, uuid.UUID) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
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

// newListHandler returns the handler of a paged list of a business. The function `ask` reads a page of the list for the
// business with the given id.
func newListHandler[T any](a *Admin, ask func(context.Context, uuid.UUID, request.Page) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		page, err := server.Query(c).Page()
		if err != nil {
			return err
		}
		business, err := a.findBusiness(c)
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

// newSlugListHandler returns the handler of a paged list of a business. The function `ask` reads a page of the list for
// the business with the given slug.
func newSlugListHandler[T any](ask func(context.Context, string, request.Page) (*T, error)) fiber.Handler {
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
