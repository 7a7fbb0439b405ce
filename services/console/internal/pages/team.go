package pages

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountTeam adds the routes of the pages on which an owner manages the members of a business.
func (p *Pages) mountTeam(business *authorize.Router) {
	business.Get("/team", access.ManageTeam, p.showTeam)
	business.Get("/team/invite", access.ManageTeam, p.askInvitation)
	business.Post("/team/invite", access.ManageTeam, p.invite)
	business.Post("/team/invitations/:id/withdraw", access.ManageTeam,
		p.newEndHandler("/team", "team_withdrawn", p.withdrawInvitation))
	business.Get("/team/:id", access.ManageTeam, p.showMember)
	business.Post("/team/:id", access.ManageTeam, p.changeMember)
	business.Get("/team/:id/made", access.ManageTeam, p.showCredentials)
	business.Post("/team/:id/made", access.ManageTeam, p.revokeCredentials)
	business.Get("/team/:id/remove", access.ManageTeam, p.askMemberRemoval)
	business.Post("/team/:id/remove", access.ManageTeam, p.removeMember)
}

func (p *Pages) showTeam(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	limited, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, next, err := p.rooms.Accounts.ListMembers(c.UserContext(), authorize.Principal(c), page.Business, limited)
	if err != nil {
		return err
	}
	invitations, err := p.rooms.Accounts.ListInvitations(c.UserContext(), authorize.Principal(c), page.Business)
	if err != nil {
		return err
	}
	happened, more, err := p.loadTeamHistory(c, page)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Team(page,
		view.TeamList{Members: list, Next: next, Invitations: invitations, Events: happened, HasMore: more}))
}

func (p *Pages) withdrawInvitation(c *fiber.Ctx, slug string, id uuid.UUID) error {
	business, err := p.rooms.FindBusiness(c.UserContext(), slug)
	if err != nil {
		return err
	}
	return p.rooms.Accounts.WithdrawInvitation(c.UserContext(), authorize.Principal(c), business, id)
}

// maxTeamHistory is the maximum number of events that the team's history shows.
const maxTeamHistory = 25

// loadTeamHistory returns the newest events about the members and the API tokens of the business, newest first. The
// second result reports whether there are older events.
func (p *Pages) loadTeamHistory(c *fiber.Ctx, page *view.Page) ([]view.TeamEvent, bool, error) {
	list, err := p.rooms.ListTeamEvents(c.UserContext(), authorize.Principal(c), page.Business.ID,
		request.Page{Limit: maxTeamHistory})
	if err != nil {
		return nil, false, err
	}
	var people []uuid.UUID
	for _, e := range list.Events {
		people = append(people, e.Subject.ID, e.Actor.ID)
	}
	names, err := p.rooms.Accounts.FindNames(c.UserContext(), people)
	if err != nil {
		return nil, false, err
	}
	happened := make([]view.TeamEvent, len(list.Events))
	for i, e := range list.Events {
		happened[i] = view.TeamEvent{Event: e, Subject: names[e.Subject.ID], By: namePublisher(page, names, e.Actor)}
	}
	return happened, list.NextCursor != "", nil
}

func (p *Pages) askInvitation(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Invite(page, view.InviteForm{}))
}

// invite invites a person, and shows the link of the invitation. It does not redirect after the invitation, because
// only this response can show the link.
func (p *Pages) invite(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	inviteForm := view.InviteForm{
		Email: strings.TrimSpace(form.Get("email")), Name: strings.TrimSpace(form.Get("name")),
		RoleForm: parseJoining(page, form, nil),
	}
	if !email.Valid(inviteForm.Email) {
		inviteForm.EmailError = page.Words.Say("email_wrong")
	}
	if inviteForm.EmailError != "" || inviteForm.HasErrors() {
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.Invite(page, inviteForm))
	}
	invitation, err := p.rooms.Accounts.Invite(c.UserContext(), authorize.Principal(c), page.Business,
		identity.Invitation{
			Email: inviteForm.Email, Name: inviteForm.Name, Role: access.Role(inviteForm.Role),
			StaffID: inviteForm.StaffID(), Locations: inviteForm.Limits(),
		})
	switch {
	case errors.Is(err, store.ErrAlreadyMember):
		inviteForm.EmailError = page.Words.Say("team_member_already")
	case errors.Is(err, store.ErrTooManyBusinesses), errors.Is(err, store.ErrTooManyInvitations):
		inviteForm.EmailError = page.Words.Say("team_other_business")
	case err != nil:
		return err
	default:
		return p.render(c, fiber.StatusOK, page,
			view.Invited(page, invitation, cmp.Or(p.rooms.Accounts.OwnerURL, c.BaseURL())))
	}
	return p.render(c, fiber.StatusConflict, page, view.Invite(page, inviteForm))
}

// parseJoining checks the role, the staff member and the locations that a person has chosen in a form. The argument
// `current` has the member's locations before the change. The result has an error message for each invalid value.
func parseJoining(page *view.Page, posted url.Values, current []uuid.UUID) view.RoleForm {
	role, staff := posted.Get("role"), posted.Get("staff")
	j := view.RoleForm{Role: role, Staff: staff, Locations: current}
	if posted.Get("limits") == "yes" && role != string(access.Owner) {
		j.Chosen = posted["location"]
		j.HasLimits = true
	}
	switch {
	case !access.Role(role).IsBusinessRole():
		j.RoleError = page.Words.Say("fill")
	case role != string(access.Staff):
		j.Staff = ""
	case staff == "":
		j.StaffError = page.Words.Say("team_staff_missing")
	}
	return j
}

// findMember returns the data that the page of a member needs, and the member of the team whose id is in the path.
func (p *Pages) findMember(c *fiber.Ctx) (*view.Page, *store.TeamMember, error) {
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return nil, nil, err
	}
	m, err := p.rooms.Accounts.FindMember(c.UserContext(), authorize.Principal(c), page.Business, id)
	return page, m, err
}

func (p *Pages) showMember(c *fiber.Ctx) error {
	page, m, err := p.findMember(c)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Member(page, m, view.NewRoleForm(m)))
}

func (p *Pages) changeMember(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, m, err := p.findMember(c)
	if err != nil {
		return err
	}
	roleForm := parseJoining(page, form, m.Locations)
	if roleForm.HasErrors() {
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.Member(page, m, roleForm))
	}
	var limits *[]uuid.UUID
	if roleForm.HasLimits {
		chosen := roleForm.Limits()
		limits = &chosen
	}
	_, err = p.rooms.Accounts.ChangeMember(c.UserContext(), authorize.Principal(c), page.Business, m.Person.ID,
		access.Role(roleForm.Role), roleForm.StaffID(), limits)
	if errors.Is(err, store.ErrLastOwner) {
		roleForm.RoleError = page.Words.Say("team_last_owner")
		return p.render(c, fiber.StatusConflict, page, view.Member(page, m, roleForm))
	}
	return p.redirectToTeam(c, page, "team_changed", err)
}

func (p *Pages) askMemberRemoval(c *fiber.Ctx) error {
	page, m, err := p.findMember(c)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.RemoveMember(page, m))
}

func (p *Pages) removeMember(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	page, m, err := p.findMember(c)
	if err != nil {
		return err
	}
	err = p.rooms.Accounts.RemoveMember(c.UserContext(), authorize.Principal(c), page.Business, m.Person.ID)
	if errors.Is(err, store.ErrLastOwner) {
		page.ErrorText = page.Words.Say("team_last_owner")
		return p.render(c, fiber.StatusConflict, page, view.RemoveMember(page, m))
	}
	if err != nil {
		return err
	}
	// The API keys, feeds and webhooks of a removed person stay valid until an owner revokes them. So the next page
	// lists them.
	if credentials, err := p.rooms.Integrations.ListCredentials(c.UserContext(), authorize.Principal(c), page.Business,
		m.Person.ID); err == nil &&
		!credentials.IsEmpty() {
		return c.Redirect(view.Path(page.Business.Slug)+"/team/"+m.Person.ID.String()+"/made?done=team_removed",
			fiber.StatusSeeOther)
	}
	return p.redirectToTeam(c, page, "team_removed", nil)
}

// showCredentials shows the valid API keys, calendar feeds, webhooks and tokens that a person created in this business.
// The person may have left the team.
func (p *Pages) showCredentials(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	credentials, err := p.rooms.Integrations.ListCredentials(c.UserContext(), authorize.Principal(c), page.Business, id)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Credentials(page, id, credentials))
}

func (p *Pages) revokeCredentials(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.redirectToTeam(c, page, "team_made_ended", p.rooms.Integrations.RevokeCredentials(c.UserContext(),
		authorize.Principal(c), page.Business,
		id))
}

// redirectToTeam redirects to the page of the team, which shows the message text with the id `done`. If a person has
// removed themselves, the page of the team redirects them to the sign-in page.
func (p *Pages) redirectToTeam(c *fiber.Ctx, page *view.Page, done string, err error) error {
	if err != nil {
		return err
	}
	return c.Redirect(view.Path(page.Business.Slug)+"/team?done="+done, fiber.StatusSeeOther)
}
