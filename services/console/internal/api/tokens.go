package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

func (a *Admin) mountTokens(admin *authorize.Router) {
	admin.Post("/tokens", access.ManageTeam, a.handleOnce(a.createToken, a.findWantedBusiness, answerCreateRetry))
	admin.Get("/tokens", access.ManageTeam, a.listTokens)
	admin.Delete("/tokens/:id", access.ManageTeam,
		a.handleOnce(a.revokeToken, a.findTokenBusiness, server.AnswerWithResult(fiber.StatusNoContent)))
}

// token is the JSON of a token of the admin API. The field Token, the secret, is set only in the answer to the request
// that created the token.
type token struct {
	ID         uuid.UUID   `json:"id"`
	Name       string      `json:"name"`
	BusinessID *uuid.UUID  `json:"business_id"` // null for the token of an operator
	Role       access.Role `json:"role"`
	StaffID    *uuid.UUID  `json:"staff_id"`
	Token      string      `json:"token,omitempty"`
	Prefix     string      `json:"prefix"`
	CreatedAt  time.Time   `json:"created_at"`
	ExpiresAt  *time.Time  `json:"expires_at"`
	LastUsedAt *time.Time  `json:"last_used_at"`
	RevokedAt  *time.Time  `json:"revoked_at"`
}

func showToken(t store.Token) token {
	return token{
		ID: t.ID, Name: t.Name, BusinessID: store.OrNull(t.BusinessID), Role: t.Role, StaffID: store.OrNull(t.StaffID),
		Prefix:    t.Prefix,
		CreatedAt: t.CreatedAt.UTC(), ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}

// newToken is the body of a request that creates a token.
type newToken struct {
	Name      string     `json:"name"`
	Business  string     `json:"business"`
	Role      string     `json:"role"`
	StaffID   *uuid.UUID `json:"staff_id"`
	ExpiresAt *string    `json:"expires_at"`
}

func (a *Admin) createToken(c *fiber.Ctx) error {
	var body newToken
	if err := decode(c, &body); err != nil {
		return err
	}
	wanted := identity.NewToken{Name: body.Name, Role: access.Role(body.Role), StaffID: body.StaffID}
	if body.ExpiresAt != nil {
		expires, err := time.Parse(time.RFC3339, *body.ExpiresAt)
		if err != nil {
			return request.Invalid("expires_at: not an instant; write one such as 2027-03-01T09:00:00Z, or leave it out.")
		}
		wanted.ExpiresAt = &expires
	}
	business, err := a.findNamedBusiness(c, body.Business)
	if err != nil {
		return err
	}
	made, secret, err := a.Rooms.Accounts.CreateToken(c.UserContext(), principal(c), business, wanted)
	if err != nil {
		return err
	}
	answer := showToken(*made)
	answer.Token = secret
	return c.Status(fiber.StatusCreated).JSON(answer)
}

// answerCreateRetry answers a repeated request to create a token. It returns a fault with code conflict, because only
// the answer to the first request contained the token's secret.
func answerCreateRetry(_ *fiber.Ctx, answer []byte) error {
	var tokenExistsError store.TokenExistsError
	if err := json.Unmarshal(answer, &tokenExistsError); err != nil {
		return err
	}
	return identity.ToTokenExistsFault(&tokenExistsError)
}

// findWantedBusiness returns the id of the business for which the body requests a token, or the nil UUID if the token
// is for operators. For a token for a business, the principal must manage the team of the business. For a token for
// operators, the principal must be an operator. Fault: forbidden.
func (a *Admin) findWantedBusiness(c *fiber.Ctx) (uuid.UUID, error) {
	var body newToken
	if err := decode(c, &body); err != nil {
		return uuid.Nil, err
	}
	business, err := a.findNamedBusiness(c, body.Business)
	if err != nil {
		return uuid.Nil, err
	}
	var id uuid.UUID // the nil UUID stands for the operators
	if business != nil {
		id = business.ID
	}
	return id, principal(c).Require(id, access.ManageTeam)
}

// findTokenBusiness returns the id of the business to which the token in the path belongs. It returns an error if the
// principal may not revoke the token.
func (a *Admin) findTokenBusiness(c *fiber.Ctx) (uuid.UUID, error) {
	id, err := parseTokenID(c)
	if err != nil {
		return uuid.Nil, err
	}
	token, err := a.Rooms.Accounts.FindToken(c.UserContext(), principal(c), id)
	if err != nil {
		return uuid.Nil, err
	}
	return token.BusinessID, nil
}

// parseTokenID returns the id in the path. Fault: not_found for an invalid id.
func parseTokenID(c *fiber.Ctx) (uuid.UUID, error) {
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return uuid.Nil, fault.New(fault.NotFound, "Token not found")
	}
	return id, nil
}

// findNamedBusiness returns the business with the slug `slug`, which the body of a request names. It returns nil if the
// slug is "".
func (a *Admin) findNamedBusiness(c *fiber.Ctx, slug string) (*catalog.Snapshot, error) {
	if slug == "" {
		return nil, nil
	}
	slug, err := request.Slug(slug)
	if err != nil {
		return nil, err
	}
	return a.Rooms.FindBusiness(c.UserContext(), slug)
}

func (a *Admin) listTokens(c *fiber.Ctx) error {
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	business, err := a.findNamedBusiness(c, c.Query("business"))
	if err != nil {
		return err
	}
	found, next, err := a.Rooms.Accounts.ListTokens(c.UserContext(), principal(c), business, page)
	if err != nil {
		return err
	}
	list := struct {
		Tokens     []token `json:"tokens"`
		NextCursor string  `json:"next_cursor,omitempty"`
	}{make([]token, len(found)), next}
	for i, t := range found {
		list.Tokens[i] = showToken(t)
	}
	return c.JSON(list)
}

func (a *Admin) revokeToken(c *fiber.Ctx) error {
	id, err := parseTokenID(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Accounts.RevokeToken(c.UserContext(), principal(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
