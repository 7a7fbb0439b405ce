package api

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
)

// credentials is the answer with the valid API keys, calendar feeds, webhooks and tokens that a person created in a
// business.
type credentials struct {
	Keys      []booking.Key           `json:"keys"`
	Calendars []booking.Calendar      `json:"calendars"`
	Webhooks  []notifications.Webhook `json:"webhooks"`
	Tokens    []token                 `json:"tokens"`
}

// findCreator returns the business and the id of the person that the path names. The person may no longer be a member
// of the business.
func (a *Admin) findCreator(c *fiber.Ctx) (*catalog.Snapshot, uuid.UUID, error) {
	_, id, err := parseID(c, "Member")
	if err != nil {
		return nil, uuid.Nil, err
	}
	business, err := a.findBusiness(c)
	return business, id, err
}

func (a *Admin) listCredentials(c *fiber.Ctx) error {
	business, id, err := a.findCreator(c)
	if err != nil {
		return err
	}
	found, err := a.Rooms.Integrations.ListCredentials(c.UserContext(), principal(c), business, id)
	if err != nil {
		return err
	}
	shown := credentials{
		Keys: append([]booking.Key{}, found.Keys...), Calendars: append([]booking.Calendar{}, found.Calendars...),
		Webhooks: append([]notifications.Webhook{}, found.Webhooks...), Tokens: make([]token, len(found.Tokens)),
	}
	for i, t := range found.Tokens {
		shown.Tokens[i] = showToken(t)
	}
	return c.JSON(shown)
}

func (a *Admin) revokeCredentials(c *fiber.Ctx) error {
	business, id, err := a.findCreator(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Integrations.RevokeCredentials(c.UserContext(), principal(c), business, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
