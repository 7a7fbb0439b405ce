// Package usecase implements the requests of a business's owner about messages, webhook endpoints, deliveries and
// customers' data. If a method returns a fault, the fault is the response to the caller. Any other error is internal.
package usecase

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

// rotationFor is how long after a rotation the previous secret still signs, in addition to the new one.
const rotationFor = 24 * time.Hour

// Webhooks gives owners access to the webhook endpoints and deliveries of their business.
type Webhooks struct {
	Store       *store.Store
	Guard       webhook.Guard
	ResolveHost func(context.Context, string) ([]netip.Addr, error)
	Clock       clock.Clock
	// Wake inserts a job that sends an endpoint's due deliveries at once.
	Wake func(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, state store.EndpointState) error
	// FindSlug returns the slug of a business.
	FindSlug func(ctx context.Context, businessID uuid.UUID) (string, error)
}

// Create adds an active endpoint. Faults: invalid_parameter; conflict if the business already has the maximum number of
// endpoints.
func (w *Webhooks) Create(ctx context.Context, businessID uuid.UUID, url string,
	events []string) (store.EndpointSecret, error) {
	if err := w.Guard.CheckURL(ctx, url, w.ResolveHost); err != nil {
		return store.EndpointSecret{}, err
	}
	if err := webhook.CheckEvents(events); err != nil {
		return store.EndpointSecret{}, err
	}
	created, err := w.Store.CreateEndpoint(ctx, store.Endpoint{
		BusinessID: businessID, ID: uuid.New(), URL: url, Events: events, Active: true, CreatedAt: w.now(),
		CreatedBy: actor.Of(ctx).Maker(),
	}, webhook.NewSecret())
	if errors.Is(err, store.ErrTooMany) {
		err = fault.Newf(fault.Conflict, "A business has at most %d webhook endpoints; delete one first.",
			store.MaxEndpoints)
	}
	return created, err
}

// Change changes the URL or the events of an endpoint, or enables or disables it. Faults: invalid_parameter; not_found.
func (w *Webhooks) Change(ctx context.Context, businessID, id uuid.UUID,
	change store.EndpointChange) (store.Endpoint, error) {
	if change.URL == nil && change.Events == nil && change.Active == nil {
		return store.Endpoint{}, request.Invalid("Nothing changes; send url, events or active.")
	}
	if change.URL != nil {
		if err := w.Guard.CheckURL(ctx, *change.URL, w.ResolveHost); err != nil {
			return store.Endpoint{}, err
		}
	}
	if change.Events != nil {
		if err := webhook.CheckEvents(change.Events); err != nil {
			return store.Endpoint{}, err
		}
	}
	changed, err := w.Store.ChangeEndpoint(ctx, businessID, id, change)
	return changed, convertNotFound(err)
}

// Delete deletes an endpoint and its deliveries. Fault: not_found.
func (w *Webhooks) Delete(ctx context.Context, businessID, id uuid.UUID) error {
	return convertNotFound(w.Store.DeleteEndpoint(ctx, businessID, id))
}

// Rotate gives an endpoint a new secret. For 24 hours, the old and the new secret both sign (lifecycle.md §2). Fault:
// not_found.
func (w *Webhooks) Rotate(ctx context.Context, businessID, id uuid.UUID) (store.EndpointSecret, error) {
	rotated, err := w.Store.RotateSecret(ctx, businessID, id, webhook.NewSecret(), w.now().Add(rotationFor))
	return rotated, convertNotFound(err)
}

// AddSecret sets the secret in the argument `created`, which is the result of [Webhooks.Create] or [Webhooks.Rotate].
// If the request is repeated, AddSecret reads the secret from the database. Faults: not_found; conflict if the secret
// was replaced after the first request.
func (w *Webhooks) AddSecret(ctx context.Context, created store.EndpointSecret) (store.EndpointSecret, error) {
	if created.Secret != nil {
		return created, nil
	}
	found, err := w.Store.FindSecret(ctx, created)
	if errors.Is(err, store.ErrSecretReplaced) {
		err = fault.New(fault.Conflict,
			"The secret that this request has made was replaced since; rotate the webhook's secret to be shown a new one.")
	}
	return found, convertNotFound(err)
}

// SendTest sends an event of type webhook.test to an active or disabled endpoint. Fault: not_found.
func (w *Webhooks) SendTest(ctx context.Context, businessID, id uuid.UUID) (store.Delivery, error) {
	now := w.now()
	slug, err := w.FindSlug(ctx, businessID)
	if err != nil {
		return store.Delivery{}, err
	}
	e := event.Event{ID: uuid.Must(uuid.NewV7()), Type: webhook.TestEvent, BusinessID: businessID, At: now, Sequence: 1,
		Data: []byte(`{"webhook_id":"` + id.String() + `"}`)}
	body, err := e.Webhook(slug)
	if err != nil {
		return store.Delivery{}, err
	}
	sent, err := w.Store.SendTest(ctx, store.NewDelivery{
		BusinessID: businessID, EndpointID: id, EventID: e.ID, EventType: string(e.Type), SubjectKind: "webhook",
		SubjectID: id, Sequence: e.Sequence, Body: body,
	}, now, w.wake(businessID))
	return sent, convertNotFound(err)
}

func (w *Webhooks) wake(businessID uuid.UUID) func(context.Context, pgx.Tx, uuid.UUID, store.EndpointState) error {
	return func(ctx context.Context, tx pgx.Tx, endpointID uuid.UUID, state store.EndpointState) error {
		return w.Wake(ctx, tx, businessID, endpointID, state)
	}
}

// Deliveries returns a page of an endpoint's deliveries, newest first, and the cursor of the next page. The argument
// `status` selects deliveries; "" selects all. Faults: invalid_parameter if the cursor is invalid; not_found.
func (w *Webhooks) Deliveries(ctx context.Context, businessID, id uuid.UUID, status string,
	page request.Page) ([]store.Delivery, string, error) {
	found, next, err := w.Store.Deliveries(ctx, businessID, id, status, page)
	return found, next, convertNotFound(err)
}

// RetryDelivery sends a delivery again, whatever its status is, with as many attempts as a new delivery has. Faults:
// not_found; conflict if the delivery still waits for the delivery of an earlier event of its subject.
func (w *Webhooks) RetryDelivery(ctx context.Context, businessID, id uuid.UUID) (store.Delivery, error) {
	sent, err := w.Store.RetryDelivery(ctx, businessID, id, w.now(), w.wake(businessID))
	if errors.Is(err, store.ErrBlocked) {
		err = fault.New(fault.Conflict,
			"This delivery waits for an earlier event of the same subject; send that one again, and this one follows.")
	}
	return sent, convertNotFound(err)
}

func (w *Webhooks) now() time.Time { return w.Clock.Now().UTC().Truncate(time.Microsecond) }

func convertNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "Webhook not found")
	}
	return err
}
