// Package notifications is the client of the internal API of the
// notifications service. It defines the types of requests and responses.
package notifications

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// NewWebhook requests a new webhook endpoint.
type NewWebhook struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

// WebhookChange requests a change of a webhook endpoint. Omitted fields stay unchanged.
type WebhookChange struct {
	URL    *string  `json:"url,omitempty"`
	Events []string `json:"events,omitempty"`
	Active *bool    `json:"active,omitempty"`
}

// Webhook is an endpoint, outside Slotmesh, to which events of a business are sent.
type Webhook struct {
	ID        uuid.UUID `json:"id"`
	URL       string    `json:"url"`
	Events    []string  `json:"events"` // types of the events to send, or only "*" for all
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
	// CreatedBy is the id of the person or token that created the endpoint. It is null if unknown.
	CreatedBy *uuid.UUID `json:"created_by"`
	// DisabledReason is set if Slotmesh has disabled the endpoint: gone, because the endpoint answered 410, or failing.
	DisabledReason string `json:"disabled_reason,omitempty"`
}

// SecretWebhook is the response after the creation of an endpoint, and
// after the rotation of its secret. No other response contains the secret.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret"`
}

// WebhookList is one page of the webhook endpoints of a business, oldest first.
type WebhookList struct {
	Webhooks   []Webhook `json:"webhooks"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// The statuses of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// Delivery is the delivery of one event to one webhook endpoint.
type Delivery struct {
	ID        uuid.UUID `json:"id"`
	WebhookID uuid.UUID `json:"webhook_id"`
	EventID   uuid.UUID `json:"event_id"` // value of the header webhook-id
	Type      string    `json:"type"`
	Subject   Subject   `json:"subject"`
	Sequence  int       `json:"sequence"`
	Status    string    `json:"status"`
	// NextAt is the time of the next attempt. It is null if no attempt will follow, or
	// if the delivery waits for the delivery of an earlier event of the same subject.
	NextAt    *time.Time        `json:"next_attempt_at"`
	CreatedAt time.Time         `json:"created_at"`
	Body      json.RawMessage   `json:"body"` // body of the request, exactly as it is sent
	Attempts  []DeliveryAttempt `json:"attempts"`
}

// Subject identifies the booking, order or other object that an event or message is about.
type Subject struct {
	Kind string    `json:"kind"`
	ID   uuid.UUID `json:"id"`
}

// DeliveryAttempt is one attempt at a delivery.
type DeliveryAttempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	Milliseconds int       `json:"duration_ms"`
	Status       *int      `json:"http_status"` // null: no response
	Error        *string   `json:"error"`       // reason why no response was received
	Answer       string    `json:"answer"`      // first 4 KiB of the response
}

// DeliveryList is one page of the deliveries to a webhook endpoint, newest first.
type DeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// Client is the client of the internal API of the notifications service. Every method returns
// the fault that the service sent, or fault.PeerUnavailable if the service did not answer.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through the argument `peer`.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// CreateWebhook creates a webhook endpoint. Only the responses of CreateWebhook and
// [Client.RotateWebhook] contain the secret of the endpoint. Faults: invalid_parameter;
// conflict if the business already has the maximal number of endpoints.
func (c *Client) CreateWebhook(ctx context.Context, businessID uuid.UUID, wanted NewWebhook) (*SecretWebhook, error) {
	return CreateWebhook.Call(ctx, c.peer, endpoints.About(businessID, wanted))
}

// Webhooks lists the webhook endpoints of a business, oldest first. Fault: invalid_parameter for an invalid page.
func (c *Client) Webhooks(ctx context.Context, businessID uuid.UUID, page request.Page) (*WebhookList, error) {
	return ListWebhooks.Call(ctx, c.peer, PageRequest{businessID, page})
}

// ChangeWebhook changes a webhook endpoint. Faults: invalid_parameter; not_found.
func (c *Client) ChangeWebhook(ctx context.Context, businessID, id uuid.UUID, change WebhookChange) (*Webhook, error) {
	return ChangeWebhook.Call(ctx, c.peer, endpoints.Request(WebhookID{businessID, id}, change))
}

// DeleteWebhook deletes a webhook endpoint and the log of its deliveries. Fault: not_found.
func (c *Client) DeleteWebhook(ctx context.Context, businessID, id uuid.UUID) error {
	return DeleteWebhook.Send(ctx, c.peer, WebhookID{businessID, id})
}

// RotateWebhook creates a new secret for a webhook endpoint. For one day,
// deliveries are signed with the old and the new secret. Fault: not_found.
func (c *Client) RotateWebhook(ctx context.Context, businessID, id uuid.UUID) (*SecretWebhook, error) {
	return RotateWebhook.Call(ctx, c.peer, WebhookID{businessID, id})
}

// TestWebhook sends an event of the type webhook.test to a webhook endpoint. Fault: not_found.
func (c *Client) TestWebhook(ctx context.Context, businessID, id uuid.UUID) (*Delivery, error) {
	return TestWebhook.Call(ctx, c.peer, WebhookID{businessID, id})
}

// Deliveries lists the deliveries to a webhook endpoint, newest first. The argument `status`
// selects the deliveries with one status; "" selects all. Faults: invalid_parameter; not_found.
func (c *Client) Deliveries(ctx context.Context, businessID, id uuid.UUID, status string,
	page request.Page) (*DeliveryList, error) {
	return ListDeliveries.Call(ctx, c.peer, DeliveriesRequest{WebhookID{businessID, id}, page, status})
}

// RetryDelivery sends a delivery again. Faults: not_found; conflict if the
// delivery waits for the delivery of an earlier event of the same subject.
func (c *Client) RetryDelivery(ctx context.Context, businessID, id uuid.UUID) (*Delivery, error) {
	return RetryDelivery.Call(ctx, c.peer, DeliveryID{businessID, id})
}
