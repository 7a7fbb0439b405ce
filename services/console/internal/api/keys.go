package api

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// newKey is the body of a request that creates an API key.
type newKey struct {
	Name      string  `json:"name"`
	Scope     string  `json:"scope"`
	ExpiresAt *string `json:"expires_at"`
}

// createdKey is the answer to a request that created an API key. Only this answer contains the key's secret.
type createdKey struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`
	Key       string     `json:"key"`
	Prefix    string     `json:"prefix"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func (a *Admin) createKey(c *fiber.Ctx) error {
	wanted, err := parseKey(c)
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	key, err := a.Rooms.Integrations.CreateKey(c.UserContext(), principal(c), slug, *wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(createdKey{
		ID: key.ID, Name: key.Name, Scope: key.Scope, Key: key.Secret, Prefix: key.Prefix,
		CreatedAt: key.CreatedAt, ExpiresAt: key.ExpiresAt,
	})
}

// parseKey reads the body of a request that creates an API key. The booking service validates the name, the scope and
// the expiry.
func parseKey(c *fiber.Ctx) (*booking.NewKey, error) {
	var body newKey
	if err := decode(c, &body); err != nil {
		return nil, err
	}
	key := &booking.NewKey{Name: body.Name, Scope: body.Scope}
	if body.ExpiresAt == nil {
		return key, nil
	}
	expires, err := time.Parse(time.RFC3339, *body.ExpiresAt)
	if err != nil {
		return nil,
			request.Invalid("expires_at: not an instant; write one such as 2027-03-01T09:00:00Z, or leave it out.")
	}
	key.ExpiresAt = &expires
	return key, nil
}
