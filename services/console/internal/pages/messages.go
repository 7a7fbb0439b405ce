package pages

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// messageResent is the value of the parameter `done` after a person has sent a message again.
const messageResent = "message_again"

// mountMessages adds the routes of the pages about messages to customers and owners.
func (p *Pages) mountMessages(business *authorize.Router) {
	business.Get("/messages", access.SeeCustomers, p.listMessages)
	business.Get("/messages/:id", access.SeeCustomers, p.showMessage)
	business.Post("/messages/:id/retry", access.Sell,
		p.newButtonHandler(messageResent, func(c *fiber.Ctx, slug string, id uuid.UUID) error {
			_, err := p.rooms.Sales.RetryMessage(c.UserContext(), authorize.Principal(c), slug, id)
			return err
		}))
}

// listMessages lists messages, newest first. The query parameters of the request filter the list.
func (p *Pages) listMessages(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	about, err := server.Query(c).OptionalID("about")
	if err != nil {
		return err
	}
	l := view.MessageList{Filter: notifications.MessageFilter{Status: c.Query("status"), Kind: c.Query("kind")},
		IsPaged: c.Query("cursor") != ""}
	if about != nil {
		l.Filter.About = *about
	}
	found, err := p.rooms.Sales.ListMessages(c.UserContext(), page.Business.Slug, l.Filter,
		request.Page{Limit: bookingsPageSize, Cursor: c.Query("cursor")})
	if err != nil {
		return err
	}
	l.Messages, l.Next = found.Messages, found.NextCursor
	return p.render(c, fiber.StatusOK, page, view.Messages(page, l))
}

// showMessage shows one message with its whole text.
func (p *Pages) showMessage(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	m, err := p.rooms.Sales.FindMessage(c.UserContext(), page.Business.Slug, id)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.OneMessage(page, m))
}
