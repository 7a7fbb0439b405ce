package pages

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/integrations"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// mountWebhooks adds the routes of the pages about webhook endpoints and their deliveries.
func (p *Pages) mountWebhooks(business *authorize.Router) {
	const all, one = "/settings/webhooks", "/settings/webhooks/:id"
	business.Get(all, access.Integrate, p.listWebhooks)
	business.Post(all, access.Integrate, p.createWebhook)
	business.Get(one, access.Integrate, p.getWebhook)
	business.Post(one, access.Integrate, p.changeWebhook)
	business.Post(one+"/test", access.Integrate,
		p.newWebhookHandler("webhook_tested", func(c *fiber.Ctx, slug string, id uuid.UUID) error {
			_, err := p.rooms.Integrations.TestWebhook(c.UserContext(), authorize.Principal(c), slug, id)
			return err
		}))
	business.Post(one+"/pause", access.Integrate, p.newWebhookHandler("webhook_paused", p.newActivateAction(false)))
	business.Post(one+"/resume", access.Integrate, p.newWebhookHandler("webhook_resumed", p.newActivateAction(true)))
	business.Post(one+"/rotate", access.Integrate, p.rotateWebhook)
	business.Post(one+"/remove", access.Integrate,
		p.newEndHandler(all, "webhook_removed", func(c *fiber.Ctx, slug string, id uuid.UUID) error {
			return p.rooms.Integrations.DeleteWebhook(c.UserContext(), authorize.Principal(c), slug, id)
		}))
	business.Post("/settings/deliveries/:id/retry", access.Integrate, p.retryDelivery)
}

// listWebhooks shows all webhook endpoints of the business, and the form for a new one. All endpoints are on one page,
// because the number of endpoints of a business has a low limit.
func (p *Pages) listWebhooks(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.showWebhooks(c, fiber.StatusOK, page, view.WebhookForm{Events: []string{"*"}, Key: rand.Text()})
}

func (p *Pages) showWebhooks(c *fiber.Ctx, status int, page *view.Page, form view.WebhookForm) error {
	list, err := p.rooms.Integrations.ListWebhooks(c.UserContext(), page.Business.Slug,
		request.Page{Limit: integrations.MaxWebhooks})
	if err != nil {
		return err
	}
	return p.render(c, status, page, view.Webhooks(page, list.Webhooks, form))
}

// parseWebhook reads the form of a webhook endpoint. If the person has chosen all events, the field `Events` of the
// result is "*".
func parseWebhook(c *fiber.Ctx) (view.WebhookForm, error) {
	form, err := web.Form(c)
	if err != nil {
		return view.WebhookForm{}, err
	}
	webhookForm := view.WebhookForm{URL: strings.TrimSpace(form.Get("url")), Events: form["events"],
		Key: form.Get("key")}
	if form.Get("which") == "all" {
		webhookForm.Events = []string{"*"}
	}
	return webhookForm, nil
}

// prepareRefusedWebhook prepares the form of a webhook endpoint that was refused, so that the form can be shown again.
// It returns the HTTP status of the page. It writes the reason under the name of the input that causes the refusal. The
// second result is false if the person cannot solve the fault.
func prepareRefusedWebhook(page *view.Page, webhookForm *view.WebhookForm, err error) (int, bool) {
	status, ok := prepareRefusedForm(page, err, &webhookForm.FieldErrors)
	if fault.Is(err, fault.InvalidParameter) {
		name, _, _ := strings.Cut(fault.Of(err).Sentence, ":")
		webhookForm.FieldErrors = map[string]string{"url": page.Words.Say("webhook_url_wrong")}
		if name == "events" {
			webhookForm.FieldErrors = map[string]string{"events": page.Words.Say("webhook_events_wrong")}
		}
	}
	if fault.Is(err, fault.Conflict) {
		page.ErrorText = page.Words.Say("webhook_too_many")
	}
	return status, ok
}

// createWebhook creates a webhook endpoint and shows its secret. The form has an Idempotency-Key, so that sending the
// form twice creates only one endpoint.
func (p *Pages) createWebhook(c *fiber.Ctx) error {
	webhookForm, err := parseWebhook(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	ctx := idempotency.With(c.UserContext(), idempotency.Request{Key: webhookForm.Key})
	secretWebhook, err := p.rooms.Integrations.CreateWebhook(ctx, authorize.Principal(c), page.Business.Slug,
		notifications.NewWebhook{URL: webhookForm.URL, Events: webhookForm.Events})
	if err == nil {
		page.Notice = page.Words.Say("webhook_made")
		return p.showWebhook(c, fiber.StatusCreated, page, secretWebhook.ID,
			view.WebhookPage{Secret: secretWebhook.Secret})
	}
	status, ok := prepareRefusedWebhook(page, &webhookForm, err)
	if !ok {
		return err
	}
	webhookForm.Key = rand.Text()
	return p.showWebhooks(c, status, page, webhookForm)
}

// getWebhook shows one endpoint with its deliveries.
func (p *Pages) getWebhook(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.showWebhook(c, fiber.StatusOK, page, id, view.WebhookPage{})
}

func (p *Pages) showWebhook(c *fiber.Ctx, status int, page *view.Page, id uuid.UUID, shown view.WebhookPage) error {
	shown.Query, shown.Cursor = c.Query("status"), c.Query("cursor")
	if !slices.Contains(view.DeliveryStatuses, shown.Query) {
		shown.Query = ""
	}
	err := peers.RunTogether(func() error {
		found, err := p.rooms.Integrations.FindWebhook(c.UserContext(), page.Business.Slug, id)
		if err == nil {
			shown.Webhook = *found
		}
		return err
	}, func() error {
		sent, err := p.rooms.Integrations.ListDeliveries(c.UserContext(), page.Business.Slug, id, shown.Query,
			request.Page{Limit: bookingsPageSize, Cursor: shown.Cursor})
		if err == nil {
			shown.Deliveries, shown.Next = sent.Deliveries, sent.NextCursor
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(shown.Form.FieldErrors) == 0 {
		shown.Form = view.WebhookForm{URL: shown.Webhook.URL, Events: shown.Webhook.Events}
	}
	return p.render(c, status, page, view.ShowWebhook(page, shown))
}

// changeWebhook changes the URL and the events of an endpoint.
func (p *Pages) changeWebhook(c *fiber.Ctx) error {
	webhookForm, err := parseWebhook(c)
	if err != nil {
		return err
	}
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	change := notifications.WebhookChange{URL: &webhookForm.URL, Events: webhookForm.Events}
	if len(webhookForm.Events) == 0 {
		page.ErrorText, webhookForm.FieldErrors = page.Words.Say("check"),
			map[string]string{"events": page.Words.Say("webhook_events_wrong")}
		return p.showWebhook(c, fiber.StatusUnprocessableEntity, page, id, view.WebhookPage{Form: webhookForm})
	}
	_, err = p.rooms.Integrations.ChangeWebhook(c.UserContext(), authorize.Principal(c), page.Business.Slug, id, change)
	if err == nil {
		return redirectToPage(c, page.Business.Slug, "/settings/webhooks/"+id.String(), "done", "webhook_changed")
	}
	status, ok := prepareRefusedWebhook(page, &webhookForm, err)
	if !ok {
		return err
	}
	return p.showWebhook(c, status, page, id, view.WebhookPage{Form: webhookForm})
}

// newWebhookHandler returns the handler of a form that has only a button and is about one webhook endpoint. The handler
// calls `do` and redirects to the page of the endpoint. The page shows the message text with the id `done`, or the
// reason for the refusal.
func (p *Pages) newWebhookHandler(done string, do func(*fiber.Ctx, string, uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return p.newEndHandler("/settings/webhooks/"+url.PathEscape(c.Params("id")), done, do)(c)
	}
}

func (p *Pages) newActivateAction(active bool) func(*fiber.Ctx, string, uuid.UUID) error {
	return func(c *fiber.Ctx, slug string, id uuid.UUID) error {
		_, err := p.rooms.Integrations.ChangeWebhook(c.UserContext(), authorize.Principal(c), slug, id,
			notifications.WebhookChange{Active: &active})
		return err
	}
}

// rotateWebhook replaces the secret of an endpoint and shows the new secret.
func (p *Pages) rotateWebhook(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	secretWebhook, err := p.rooms.Integrations.RotateWebhook(c.UserContext(), authorize.Principal(c),
		page.Business.Slug, id)
	if err != nil {
		return err
	}
	page.Notice = page.Words.Say("webhook_rotated")
	return p.showWebhook(c, fiber.StatusOK, page, id, view.WebhookPage{Secret: secretWebhook.Secret})
}

// retryDelivery sends a delivery of a webhook again.
func (p *Pages) retryDelivery(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, id, err := p.newPageWithID(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	of, err := request.ID("webhook", form.Get("webhook"))
	if err != nil {
		return err
	}
	to := "/settings/webhooks/" + of.String()
	_, err = p.rooms.Integrations.RetryDelivery(c.UserContext(), authorize.Principal(c), page.Business.Slug, id)
	if fault.Is(err, fault.Conflict) {
		return redirectToPage(c, page.Business.Slug, to, "wrong", "delivery_waits")
	}
	if err != nil {
		return err
	}
	return redirectToPage(c, page.Business.Slug, to, "done", "delivery_again")
}
