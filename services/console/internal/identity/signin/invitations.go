package signin

import (
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
)

// mountInvitations adds the routes for people who already have an account and are invited to a business. They accept
// the invitation on the page of a mailed link, or accept or decline it on their account page.
func (p *Pages) mountInvitations(router fiber.Router) {
	router.Get("/sign-in/invitation/:secret", p.showInvitation)
	router.Post("/sign-in/invitation/:secret", p.acceptByLink)
	router.Post("/account/invitations/:id/accept", p.acceptInvitation)
	router.Post("/account/invitations/:id/decline", p.declineInvitation)
}

// showInvitation shows a button that accepts the invitation. So a program that only opens the link, such as a mail
// scanner, does not accept the invitation.
func (p *Pages) showInvitation(c *fiber.Ctx) error {
	received, err := p.accounts.FindInvitationByLink(c.UserContext(), c.Params("secret"))
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredInvitation)
	}
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, func(page view.Page) view.Content { return view.AskInvitation(page, received) })
}

// acceptByLink accepts the invitation to which a mailed link belongs. The link proves that the person owns the invited
// e-mail address, so the person need not be signed in. acceptByLink does not sign the person in.
func (p *Pages) acceptByLink(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	received, err := p.accounts.FindInvitationByLink(c.UserContext(), c.Params("secret"))
	if err == nil {
		err = p.accounts.AcceptInvitation(c.UserContext(), received.ID, received.Email)
	}
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredInvitation)
	}
	if err != nil {
		return err
	}
	return c.Redirect("/", fiber.StatusSeeOther)
}

func (p *Pages) acceptInvitation(c *fiber.Ctx) error {
	return p.answerInvitation(c, "invitation_accepted", func(id uuid.UUID) error {
		return p.accounts.AcceptOwnInvitation(c.UserContext(), SignedInPerson(c), id)
	})
}

func (p *Pages) declineInvitation(c *fiber.Ctx) error {
	return p.answerInvitation(c, "invitation_declined", func(id uuid.UUID) error {
		return p.accounts.DeclineInvitation(c.UserContext(), SignedInPerson(c), id)
	})
}

// answerInvitation calls the function `answer` with the id of the invitation in the path. Then it redirects to the
// account page, which shows the result; the argument `done` is the id of the text about the result. If the invitation
// is no longer open, answerInvitation shows the account page with the reason.
func (p *Pages) answerInvitation(c *fiber.Ctx, done string, answer func(uuid.UUID) error) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	err = answer(id)
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.showAccount(c, fiber.StatusNotFound, "invitation_gone")
	}
	if err != nil {
		return err
	}
	return c.Redirect("/account?done="+done, fiber.StatusSeeOther)
}
