package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Messages serves the messages of businesses under /internal.
type Messages struct{ Owner *usecase.Messages }

// Mount registers the routes.
func (a *Messages) Mount(router fiber.Router) {
	business := router.Group("/internal/businesses/:business")
	business.Get("/messages", a.list)
	business.Get("/messages/:id", a.show)
	business.Post("/messages/:id/retry", server.HandleIdempotently(a.retry, outcome(a.Owner.Store), a.retried))
}

func (a *Messages) list(c *fiber.Ctx) error {
	business, page, err := businessAndPage(c)
	if err != nil {
		return err
	}
	about, err := server.Query(c).OptionalID("about")
	if err != nil {
		return err
	}
	filter := store.MessageFilter{Status: c.Query("status"), Kind: c.Query("kind")}
	if about != nil {
		filter.About = *about
	}
	found, next, err := a.Owner.List(c.UserContext(), business, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(notifications.MessageList{Messages: all(found, showMessage), NextCursor: next})
}

func (a *Messages) show(c *fiber.Ctx) error {
	business, id, err := ids(c, "Message")
	if err != nil {
		return err
	}
	m, err := a.Owner.One(c.UserContext(), business, id)
	if err != nil {
		return err
	}
	return c.JSON(notifications.WholeMessage{
		Message: showMessage(m), FromName: m.FromName, ReplyTo: m.ReplyTo, Text: m.Text, HTML: m.HTML,
		Calendar: string(m.Calendar), CalendarMethod: m.Method,
	})
}

func (a *Messages) retry(c *fiber.Ctx) error {
	business, id, err := ids(c, "Message")
	if err != nil {
		return err
	}
	queued, err := a.Owner.Retry(c.UserContext(), business, id)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(showMessage(queued))
}

// retried responds to a repeated retry request with the message as it is now, because the stored
// idempotency result holds only the message's id.
func (a *Messages) retried(c *fiber.Ctx, answer []byte) error {
	business, err := businessID(c)
	if err != nil {
		return err
	}
	var id uuid.UUID
	if err := json.Unmarshal(answer, &id); err != nil {
		return err
	}
	m, err := a.Owner.One(c.UserContext(), business, id)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(showMessage(m))
}

func showMessage(m store.Message) notifications.Message {
	shown := notifications.Message{
		ID: m.ID, Kind: m.Kind, EventID: m.EventID, About: notifications.Subject{Kind: string(m.About.Kind),
			ID: m.About.ID}, Recipient: m.Recipient,
		Locale: m.Locale, Subject: m.Subject, Status: m.Status, Reason: m.Reason, Attempts: m.Attempts,
		CreatedAt: m.CreatedAt,
	}
	if m.SentAt != nil {
		at := m.SentAt.UTC()
		shown.SentAt = &at
	}
	return shown
}
