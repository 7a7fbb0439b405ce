package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

// Webhooks serves the webhooks of businesses under /internal.
type Webhooks struct {
	Owner   *usecase.Webhooks
	Records *store.Store
}

// Mount registers the routes.
func (a *Webhooks) Mount(router fiber.Router) {
	business := router.Group("/internal/businesses/:business")
	business.Post("/webhooks", once(a.Records, a.create, fiber.StatusCreated, a.showSecret))
	business.Get("/webhooks", a.list)
	business.Patch("/webhooks/:id", once(a.Records, a.change, fiber.StatusOK, plain(showEndpoint)))
	business.Delete("/webhooks/:id", a.remove())
	business.Post("/webhooks/:id/rotate", once(a.Records, a.rotate, fiber.StatusOK, a.showSecret))
	business.Post("/webhooks/:id/test", once(a.Records, a.test, fiber.StatusAccepted, plain(showDelivery)))
	business.Get("/webhooks/:id/deliveries", a.deliveries)
	business.Post("/deliveries/:id/retry", once(a.Records, a.retry, fiber.StatusAccepted, plain(showDelivery)))
}

func (a *Webhooks) create(c *fiber.Ctx) (store.Created, error) {
	business, err := businessID(c)
	if err != nil {
		return store.Created{}, err
	}
	var wanted notifications.NewWebhook
	if err := server.JSON(c, &wanted); err != nil {
		return store.Created{}, err
	}
	return a.Owner.Create(c.UserContext(), business, wanted.URL, wanted.Events)
}

func (a *Webhooks) list(c *fiber.Ctx) error {
	business, page, err := businessAndPage(c)
	if err != nil {
		return err
	}
	found, next, err := a.Records.Endpoints(c.UserContext(), business, page)
	if err != nil {
		return err
	}
	return c.JSON(notifications.WebhookList{Webhooks: all(found, showEndpoint), NextCursor: next})
}

func (a *Webhooks) change(c *fiber.Ctx) (store.Endpoint, error) {
	business, id, err := ids(c, "Webhook")
	if err != nil {
		return store.Endpoint{}, err
	}
	var change notifications.WebhookChange
	if err := server.JSON(c, &change); err != nil {
		return store.Endpoint{}, err
	}
	return a.Owner.Change(c.UserContext(), business, id, store.EndpointChange{URL: change.URL, Events: change.Events,
		Active: change.Active})
}

func (a *Webhooks) remove() fiber.Handler {
	return server.HandleIdempotently(func(c *fiber.Ctx) error {
		business, id, err := ids(c, "Webhook")
		if err != nil {
			return err
		}
		if err := a.Owner.Delete(c.UserContext(), business, id); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusNoContent)
	}, outcome(a.Records), server.AnswerWithResult(fiber.StatusNoContent))
}

func (a *Webhooks) rotate(c *fiber.Ctx) (store.Created, error) {
	business, id, err := ids(c, "Webhook")
	if err != nil {
		return store.Created{}, err
	}
	return a.Owner.Rotate(c.UserContext(), business, id)
}

func (a *Webhooks) test(c *fiber.Ctx) (store.Delivery, error) {
	business, id, err := ids(c, "Webhook")
	if err != nil {
		return store.Delivery{}, err
	}
	return a.Owner.Test(c.UserContext(), business, id)
}

func (a *Webhooks) deliveries(c *fiber.Ctx) error {
	business, id, err := ids(c, "Webhook")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	status := c.Query("status")
	switch status {
	case "", store.Pending, store.Delivered, store.Failed:
	default:
		return request.Invalid("status: write pending, delivered or failed, or leave it out for all.")
	}
	found, next, err := a.Owner.Deliveries(c.UserContext(), business, id, status, page)
	if err != nil {
		return err
	}
	return c.JSON(notifications.DeliveryList{Deliveries: all(found, showDelivery), NextCursor: next})
}

func (a *Webhooks) retry(c *fiber.Ctx) (store.Delivery, error) {
	business, id, err := ids(c, "Delivery")
	if err != nil {
		return store.Delivery{}, err
	}
	return a.Owner.SendAgain(c.UserContext(), business, id)
}

func showEndpoint(e store.Endpoint) notifications.Webhook {
	return notifications.Webhook{ID: e.ID, URL: e.URL, Events: e.Events, Active: e.Active, CreatedAt: e.CreatedAt,
		CreatedBy: e.CreatedBy, DisabledReason: e.DisabledReason}
}

func (a *Webhooks) showSecret(c *fiber.Ctx, made store.Created) (notifications.SecretWebhook, error) {
	made, err := a.Owner.Secret(c.UserContext(), made)
	if err != nil {
		return notifications.SecretWebhook{}, err
	}
	return notifications.SecretWebhook{Webhook: showEndpoint(made.Endpoint), Secret: webhook.ShowSecret(made.Secret)},
		nil
}

func showDelivery(d store.Delivery) notifications.Delivery {
	shown := notifications.Delivery{
		ID: d.ID, WebhookID: d.EndpointID, EventID: d.EventID, Type: d.EventType,
		Subject:  notifications.Subject{Kind: d.SubjectKind, ID: d.SubjectID},
		Sequence: d.Sequence, Status: d.Status, CreatedAt: d.CreatedAt, Body: d.Body,
		Attempts: make([]notifications.DeliveryAttempt, len(d.Attempts)),
	}
	if d.DueAt != nil {
		at := d.DueAt.UTC()
		shown.NextAt = &at
	}
	for i, a := range d.Attempts {
		shown.Attempts[i] = notifications.DeliveryAttempt{
			Number: a.Number, At: a.At.UTC(), Milliseconds: a.Milliseconds, Status: a.Status, Error: a.Error,
			Answer: a.Answer,
		}
	}
	return shown
}
