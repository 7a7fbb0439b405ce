package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

func (a *Admin) mountTeam(business *authorize.Router) {
	business.Post("/members", access.ManageTeam, a.addMember)
	business.Get("/members", access.ManageTeam, a.listMembers)
	business.Get("/invitations", access.ManageTeam, a.listInvitations)
	business.Delete("/invitations/:id", access.ManageTeam,
		a.handleOnce(a.withdrawInvitation, a.findPathBusiness, server.AnswerWithResult(fiber.StatusNoContent)))
	business.Get("/members/:id/made", access.ManageTeam, a.listCredentials)
	business.Delete("/members/:id/made", access.ManageTeam, a.revokeCredentials)
	business.Patch("/members/:id", access.ManageTeam, a.handleOnce(a.changeMember, a.findPathBusiness,
		answerChangeRetry))
	business.Delete("/members/:id", access.ManageTeam,
		a.handleOnce(a.removeMember, a.findPathBusiness, server.AnswerWithResult(fiber.StatusNoContent)))
}

// member is the JSON of a member of a business.
type member struct {
	ID       uuid.UUID   `json:"id"`
	Email    string      `json:"email"`
	Name     string      `json:"name"`
	Role     access.Role `json:"role"`
	StaffID  *uuid.UUID  `json:"staff_id"`
	Verified bool        `json:"verified"`
	JoinedAt time.Time   `json:"joined_at"`

	Locations []uuid.UUID `json:"locations,omitempty"` // omitted for a member who is not limited to locations
}

func showMember(m store.TeamMember) member {
	return member{
		ID: m.Person.ID, Email: m.Person.Email, Name: m.Person.Name, Role: m.Role, StaffID: store.OrNull(m.StaffID),
		Verified: m.Person.IsVerified, JoinedAt: m.JoinedAt.UTC(), Locations: m.Locations,
	}
}

func (a *Admin) addMember(c *fiber.Ctx) error {
	var body newInvitation
	if err := decode(c, &body); err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	body.Business = slug
	return a.sendInvited(c, body)
}

func (a *Admin) listMembers(c *fiber.Ctx) error {
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	business, err := a.findBusiness(c)
	if err != nil {
		return err
	}
	found, next, err := a.Rooms.Accounts.ListMembers(c.UserContext(), principal(c), business, page)
	if err != nil {
		return err
	}
	list := struct {
		Members    []member `json:"members"`
		NextCursor string   `json:"next_cursor,omitempty"`
	}{make([]member, len(found)), next}
	for i, m := range found {
		list.Members[i] = showMember(m)
	}
	return c.JSON(list)
}

func (a *Admin) changeMember(c *fiber.Ctx) error {
	var body struct {
		Role    string     `json:"role"`
		StaffID *uuid.UUID `json:"staff_id"`

		Locations *[]uuid.UUID `json:"locations"` // omitted: the member keeps the locations
	}
	if err := decode(c, &body); err != nil {
		return err
	}
	_, id, err := parseID(c, "Member")
	if err != nil {
		return err
	}
	business, err := a.findBusiness(c)
	if err != nil {
		return err
	}
	teamMember, err := a.Rooms.Accounts.ChangeMember(c.UserContext(), principal(c), business, id,
		access.Role(body.Role),
		body.StaffID, body.Locations)
	if err != nil {
		return err
	}
	return c.JSON(showMember(*teamMember))
}

func answerChangeRetry(c *fiber.Ctx, answer []byte) error {
	var teamMember store.TeamMember
	if err := json.Unmarshal(answer, &teamMember); err != nil {
		return err
	}
	return c.JSON(showMember(teamMember))
}

func (a *Admin) removeMember(c *fiber.Ctx) error {
	_, id, err := parseID(c, "Member")
	if err != nil {
		return err
	}
	business, err := a.findBusiness(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Accounts.RemoveMember(c.UserContext(), principal(c), business, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
