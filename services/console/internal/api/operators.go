package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

func (a *Admin) mountOperators(admin *authorize.Router) {
	findNoBusiness := func(*fiber.Ctx) (uuid.UUID, error) { return uuid.Nil, nil }
	admin.Get("/operators", access.ManageOperators, a.listOperators)
	admin.Delete("/operators/:id", access.ManageOperators,
		a.handleOnce(newOperatorHandler(a.Rooms.Accounts.DemoteOperator), findNoBusiness,
			server.AnswerWithResult(fiber.StatusNoContent)))
	admin.Post("/operators/:id/sign-out", access.ManageOperators,
		a.handleOnce(newOperatorHandler(a.Rooms.Accounts.SignOutOperator), findNoBusiness,
			server.AnswerWithResult(fiber.StatusNoContent)))
}

// operator is the JSON of an operator: a person with rights in all businesses.
type operator struct {
	ID         uuid.UUID  `json:"id"`
	Email      string     `json:"email"`
	Name       string     `json:"name"`
	Verified   bool       `json:"verified"`
	Sessions   int        `json:"sessions"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	Until      *time.Time `json:"until"` // time at which the right from a provider's group lapses; null without a group
	CreatedAt  time.Time  `json:"created_at"`
}

func showOperator(o store.Operator) operator {
	shown := operator{
		ID: o.ID, Email: o.Email, Name: o.Name, Verified: o.IsVerified, Sessions: o.Sessions,
		LastSeenAt: o.LastSeenAt, CreatedAt: o.CreatedAt.UTC(),
	}
	if o.OperatorByGroupAt != nil {
		until := o.OperatorByGroupAt.Add(store.GroupOperatorLifetime).UTC()
		shown.Until = &until
	}
	return shown
}

func (a *Admin) listOperators(c *fiber.Ctx) error {
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	found, next, err := a.Rooms.Accounts.ListOperators(c.UserContext(), principal(c), page)
	if err != nil {
		return err
	}
	list := struct {
		Operators  []operator `json:"operators"`
		NextCursor string     `json:"next_cursor,omitempty"`
	}{make([]operator, len(found)), next}
	for i, o := range found {
		list.Operators[i] = showOperator(o)
	}
	return c.JSON(list)
}

// newOperatorHandler returns the handler of a write about the operator in the path. The handler answers 204 after the
// function `write` has succeeded.
func newOperatorHandler(write func(context.Context, identity.Principal, uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := request.ID("id", c.Params("id"))
		if err != nil {
			return fault.New(fault.NotFound, "Operator not found")
		}
		if err := write(c.UserContext(), principal(c), id); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	}
}
