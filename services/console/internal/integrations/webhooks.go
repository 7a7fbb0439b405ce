package integrations

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CreateWebhook adds a webhook endpoint to a business. Only its result, and the result of [UseCases.RotateWebhook],
// contain the endpoint's secret.
func (o *UseCases) CreateWebhook(ctx context.Context, by peers.Principal, slug string,
	newWebhook notifications.NewWebhook) (*notifications.SecretWebhook, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	secretWebhook, err := o.Notifications.CreateWebhook(ctx, business.ID, newWebhook)
	if err == nil {
		o.LogChange(ctx, by, "create webhook", slug, slog.String("webhook_id", secretWebhook.ID.String()))
	}
	return secretWebhook, err
}

// ListWebhooks lists the webhook endpoints of a business, oldest first.
func (o *UseCases) ListWebhooks(ctx context.Context, slug string,
	page request.Page) (*notifications.WebhookList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Webhooks(ctx, business.ID, page)
}

// MaxWebhooks is the page size for lists of webhook endpoints. The page size is larger than the maximum number of
// endpoints of a business, so one page has all endpoints.
const MaxWebhooks = 100

// FindWebhook returns one webhook endpoint of a business. Fault: not_found.
func (o *UseCases) FindWebhook(ctx context.Context, slug string, id uuid.UUID) (*notifications.Webhook, error) {
	for page := (request.Page{Limit: MaxWebhooks}); ; {
		list, err := o.ListWebhooks(ctx, slug, page)
		if err != nil {
			return nil, err
		}
		for i := range list.Webhooks {
			if list.Webhooks[i].ID == id {
				return &list.Webhooks[i], nil
			}
		}
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			return nil, fault.New(fault.NotFound, "Webhook not found")
		}
	}
}

// ChangeWebhook changes the settings of a webhook endpoint.
func (o *UseCases) ChangeWebhook(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	change notifications.WebhookChange) (*notifications.Webhook, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	webhook, err := o.Notifications.ChangeWebhook(ctx, business.ID, id, change)
	if err == nil {
		o.LogChange(ctx, by, "change webhook", slug, slog.String("webhook_id", id.String()),
			slog.Bool("active", webhook.Active))
	}
	return webhook, err
}

// DeleteWebhook deletes a webhook endpoint and the log of its deliveries.
func (o *UseCases) DeleteWebhook(ctx context.Context, by peers.Principal, slug string, id uuid.UUID) error {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Notifications.DeleteWebhook(ctx, business.ID, id); err != nil {
		return err
	}
	o.LogChange(ctx, by, "delete webhook", slug, slog.String("webhook_id", id.String()))
	return nil
}

// RotateWebhook gives a webhook endpoint a new secret. For one day after the change, deliveries are signed with both
// the old and the new secret.
func (o *UseCases) RotateWebhook(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*notifications.SecretWebhook, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	secretWebhook, err := o.Notifications.RotateWebhook(ctx, business.ID, id)
	if err == nil {
		o.LogChange(ctx, by, "rotate webhook secret", slug, slog.String("webhook_id", id.String()))
	}
	return secretWebhook, err
}

// TestWebhook sends a test event to a webhook endpoint, and returns the delivery.
func (o *UseCases) TestWebhook(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*notifications.Delivery, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	sent, err := o.Notifications.TestWebhook(ctx, business.ID, id)
	if err == nil {
		o.LogChange(ctx, by, "test webhook", slug, slog.String("webhook_id", id.String()))
	}
	return sent, err
}

// ListDeliveries lists the deliveries to a webhook endpoint, newest first. The argument `status` limits the list to
// deliveries with this status; "" lists all.
func (o *UseCases) ListDeliveries(ctx context.Context, slug string, id uuid.UUID, status string,
	page request.Page) (*notifications.DeliveryList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Deliveries(ctx, business.ID, id, status, page)
}

// RetryDelivery sends a webhook delivery again.
func (o *UseCases) RetryDelivery(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*notifications.Delivery, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	sent, err := o.Notifications.RetryDelivery(ctx, business.ID, id)
	if err == nil {
		o.LogChange(ctx, by, "retry delivery", slug, slog.String("delivery_id", id.String()))
	}
	return sent, err
}
