package api

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// newInvitation is the body of a request that invites a person. If Business is "", the person is invited to become an
// operator.
type newInvitation struct {
	Business string     `json:"business"` // slug of the business
	Email    string     `json:"email"`
	Name     string     `json:"name"`
	Role     string     `json:"role"`
	StaffID  *uuid.UUID `json:"staff_id"`
	Mail     *bool      `json:"mail"` // false: the server sends no mail; omitted: it sends one

	Locations []uuid.UUID `json:"locations"` // the person sees only these; omitted or empty: all
}

// inviteAnswer is the answer to a request that invites a person. Only this answer contains the link with which the
// person signs in.
type inviteAnswer struct {
	PersonID  *uuid.UUID  `json:"person_id"` // null while the invitation is pending
	Pending   *uuid.UUID  `json:"invitation_id"`
	Email     string      `json:"email"`
	Role      access.Role `json:"role"`
	Link      *string     `json:"link"`      // path of a page to sign in
	OwnerURL  *string     `json:"owner_url"` // public base URL of the owner's pages; null if OWNER_URL is not set
	ExpiresAt *time.Time  `json:"expires_at"`
	Mailed    bool        `json:"mailed"` // the mail server has accepted the invitation's mail
}

func (a *Admin) invite(c *fiber.Ctx) error {
	var body newInvitation
	if err := decode(c, &body); err != nil {
		return err
	}
	return a.sendInvited(c, body)
}

// sendInvited invites a person. If the caller may see the link with which the person signs in, the answer contains this
// link.
func (a *Admin) sendInvited(c *fiber.Ctx, body newInvitation) error {
	made, err := a.inviteInto(c, body)
	if err != nil {
		return err
	}
	answer := inviteAnswer{PersonID: &made.ID, Email: made.Email, Role: made.Role, ExpiresAt: made.ExpiresAt,
		Mailed: made.IsMailed}
	if made.IsPending {
		answer.PersonID, answer.Pending = nil, &made.ID
	}
	if made.Link != "" {
		answer.Link = &made.Link
	}
	if a.Rooms.Accounts.OwnerURL != "" {
		answer.OwnerURL = &a.Rooms.Accounts.OwnerURL
	}
	return c.Status(fiber.StatusCreated).JSON(answer)
}

func (a *Admin) inviteInto(c *fiber.Ctx, body newInvitation) (*identity.Invited, error) {
	invitation := identity.Invitation{Email: body.Email, Name: body.Name, Role: access.Role(body.Role),
		StaffID: body.StaffID, IsSilent: body.Mail != nil && !*body.Mail,
		Locations: body.Locations}
	if invitation.Role == access.Operator && body.Business == "" {
		return a.Rooms.Accounts.InviteOperator(c.UserContext(), principal(c), invitation)
	}
	if body.Business == "" {
		return nil, request.Invalid("business: missing; send the slug of the business that the person is to belong to.")
	}
	business, err := a.findNamedBusiness(c, body.Business)
	if err != nil {
		return nil, err
	}
	return a.Rooms.Accounts.Invite(c.UserContext(), principal(c), business, invitation)
}

// pendingInvitation is the JSON of an open invitation of a business. It contains no data of the invited person except
// the e-mail address.
type pendingInvitation struct {
	ID        uuid.UUID   `json:"id"`
	Email     string      `json:"email"`
	Role      access.Role `json:"role"`
	StaffID   *uuid.UUID  `json:"staff_id"`
	CreatedAt time.Time   `json:"created_at"`
	ExpiresAt time.Time   `json:"expires_at"`

	Locations []uuid.UUID `json:"locations,omitempty"` // omitted for an invitation that is not limited to locations
}

func (a *Admin) listInvitations(c *fiber.Ctx) error {
	business, err := a.findBusiness(c)
	if err != nil {
		return err
	}
	found, err := a.Rooms.Accounts.ListInvitations(c.UserContext(), principal(c), business)
	if err != nil {
		return err
	}
	list := make([]pendingInvitation, len(found))
	for i, inv := range found {
		list[i] = pendingInvitation{
			ID: inv.ID, Email: inv.Email, Role: inv.Role, StaffID: store.OrNull(inv.StaffID),
			CreatedAt: inv.CreatedAt.UTC(), ExpiresAt: inv.ExpiresAt.UTC(), Locations: inv.Locations,
		}
	}
	return c.JSON(map[string]any{"invitations": list})
}

func (a *Admin) withdrawInvitation(c *fiber.Ctx) error {
	_, id, err := parseID(c, "Invitation")
	if err != nil {
		return err
	}
	business, err := a.findBusiness(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Accounts.WithdrawInvitation(c.UserContext(), principal(c), business, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
