package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

// Webhooks serves the internal endpoints for the webhooks of businesses.
type Webhooks struct {
	Owner   *usecase.Webhooks
	Records *store.Store
}

// Mount registers the endpoints of webhooks.
func (a *Webhooks) Mount(r *server.Internal) {
	stored := newResultReader(a.Records)
	server.MountResult(r, notifications.CreateWebhook, a.create, stored, a.showSecret)
	server.Mount(r, notifications.ListWebhooks, a.list)
	server.MountResult(r, notifications.ChangeWebhook, a.change, stored, server.Plain(showEndpoint))
	server.MountIdempotent(r, notifications.DeleteWebhook, a.remove, stored, server.AnswerNothing)
	server.MountResult(r, notifications.RotateWebhook, a.rotate, stored, a.showSecret)
	server.MountResult(r, notifications.TestWebhook, a.test, stored, server.Plain(showDelivery))
	server.Mount(r, notifications.ListDeliveries, a.deliveries)
	server.MountResult(r, notifications.RetryDelivery, a.retry, stored, server.Plain(showDelivery))
}

func (a *Webhooks) create(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, notifications.NewWebhook]) (store.EndpointSecret, error) {
	return a.Owner.Create(ctx, r.At.Business, r.Body.URL, r.Body.Events)
}

func (a *Webhooks) list(ctx context.Context, r notifications.PageRequest) (*notifications.WebhookList, error) {
	found, next, err := a.Records.Endpoints(ctx, r.Business, r.Page)
	if err != nil {
		return nil, err
	}
	return &notifications.WebhookList{Webhooks: convertAll(found, showEndpoint), NextCursor: next}, nil
}

func (a *Webhooks) change(ctx context.Context,
	r endpoints.With[notifications.WebhookID, notifications.WebhookChange]) (store.Endpoint, error) {
	return a.Owner.Change(ctx, r.At.Business, r.At.ID, store.EndpointChange(r.Body))
}

func (a *Webhooks) remove(ctx context.Context, target notifications.WebhookID) (*endpoints.None, error) {
	return nil, a.Owner.Delete(ctx, target.Business, target.ID)
}

func (a *Webhooks) rotate(ctx context.Context, target notifications.WebhookID) (store.EndpointSecret, error) {
	return a.Owner.Rotate(ctx, target.Business, target.ID)
}

func (a *Webhooks) test(ctx context.Context, target notifications.WebhookID) (store.Delivery, error) {
	return a.Owner.SendTest(ctx, target.Business, target.ID)
}

func (a *Webhooks) deliveries(ctx context.Context,
	r notifications.DeliveriesRequest) (*notifications.DeliveryList, error) {
	switch r.Status {
	case "", store.DeliveryPending, store.DeliveryDelivered, store.DeliveryFailed:
	default:
		return nil, request.Invalid("status: write pending, delivered or failed, or leave it out for all.")
	}
	found, next, err := a.Owner.Deliveries(ctx, r.Business, r.ID, r.Status, r.Page)
	if err != nil {
		return nil, err
	}
	return &notifications.DeliveryList{Deliveries: convertAll(found, showDelivery), NextCursor: next}, nil
}

func (a *Webhooks) retry(ctx context.Context, target notifications.DeliveryID) (store.Delivery, error) {
	return a.Owner.RetryDelivery(ctx, target.Business, target.ID)
}

func showEndpoint(e store.Endpoint) notifications.Webhook {
	return notifications.Webhook{ID: e.ID, URL: e.URL, Events: e.Events, Active: e.Active, CreatedAt: e.CreatedAt,
		CreatedBy: e.CreatedBy, DisabledReason: e.DisabledReason}
}

func (a *Webhooks) showSecret(ctx context.Context, created store.EndpointSecret) (*notifications.SecretWebhook, error) {
	created, err := a.Owner.AddSecret(ctx, created)
	if err != nil {
		return nil, err
	}
	return &notifications.SecretWebhook{Webhook: showEndpoint(created.Endpoint),
			Secret: webhook.ShowSecret(created.Secret)},
		nil
}

func showDelivery(d store.Delivery) notifications.Delivery {
	response := notifications.Delivery{
		ID: d.ID, WebhookID: d.EndpointID, EventID: d.EventID, Type: d.EventType,
		Subject:  notifications.Subject{Kind: d.SubjectKind, ID: d.SubjectID},
		Sequence: d.Sequence, Status: d.Status, CreatedAt: d.CreatedAt, Body: d.Body,
		Attempts: make([]notifications.DeliveryAttempt, len(d.Attempts)),
	}
	if d.DueAt != nil {
		at := d.DueAt.UTC()
		response.NextAt = &at
	}
	for i, a := range d.Attempts {
		response.Attempts[i] = notifications.DeliveryAttempt{
			Number: a.Number, At: a.At.UTC(), Milliseconds: a.Milliseconds, Status: a.Status, Error: a.Error,
			Answer: a.Answer,
		}
	}
	return response
}
