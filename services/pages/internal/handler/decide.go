package handler

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// Decisions reads and decides about bookings by the links in notices. Its implementation is *bookingclient.Decisions,
// which documents the methods.
type Decisions interface {
	Read(ctx context.Context, businessID uuid.UUID, token string) (*booking.Decision, error)
	Decide(ctx context.Context, businessID uuid.UUID, decide booking.Decide) error
}

// mountDecisions adds the page behind the links in notices, on which a recipient confirms or declines a pending booking
// without a sign-in (pages.md §6). Opening the page changes nothing, because programs that check mails open links, too.
func (p *Pages) mountDecisions(router fiber.Router) {
	group := router.Group("/b/:slug/decide/:token", forbidCaching, rejectMalformedDecision)
	group.Get("", p.showDecision)
	group.Post("", p.decide)
}

// rejectMalformedDecision is middleware that rejects a malformed token before any other service is called. The response
// is the same as for an unknown link.
func rejectMalformedDecision(c *fiber.Ctx) error {
	if !link.IsDecisionToken(c.Params("token")) {
		return link.NewNotFoundFault()
	}
	return c.Next()
}

func (p *Pages) showDecision(c *fiber.Ctx) error {
	return p.renderDecision(c, fiber.StatusOK, false, "")
}

// renderDecision shows the booking of a link. The argument `isChanged` is true if the booking has changed since the
// reader saw it. The argument `reason` is the reason for declining, as the reader entered it.
func (p *Pages) renderDecision(c *fiber.Ctx, status int, isChanged bool, reason string) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	d, err := p.decisions.Read(c.UserContext(), page.Business.Snapshot.ID, c.Params("token"))
	if err != nil {
		return err
	}
	page.IsPrivate, page.LinkPath = true, c.Path()
	page.Sale = view.Sale{Timezone: d.Booking.Timezone, Currency: d.Booking.Currency}
	return p.show(c, status, page, view.Decide(page, d, isChanged && d.IsOpen, reason, p.ownerURL))
}

// decide confirms or declines the booking of a link, and redirects to the page that shows the decision.
func (p *Pages) decide(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	sequence, err := strconv.Atoi(form.Get("sequence"))
	if err != nil {
		return fault.New(fault.InvalidParameter, "sequence: send the number that the page had.")
	}
	err = p.decisions.Decide(c.UserContext(), page.Business.Snapshot.ID, booking.Decide{Token: c.Params("token"),
		Sequence: sequence, Transition: form.Get("decision"), Reason: form.Get("reason")})
	if fault.Is(err, fault.Conflict) {
		return p.renderDecision(c, fiber.StatusConflict, true, form.Get("reason"))
	}
	if err != nil {
		return err
	}
	return c.Redirect(string(page.StepURL("decide/"+c.Params("token"))), fiber.StatusSeeOther)
}
