// Package notifications is the client of notifications' internal API, with its types.
package notifications

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// NewWebhook is a request for a webhook endpoint.
type NewWebhook struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
}

// WebhookChange is a change of an endpoint. Omitted fields stay unchanged.
type WebhookChange struct {
	URL    *string  `json:"url,omitempty"`
	Events []string `json:"events,omitempty"`
	Active *bool    `json:"active,omitempty"`
}

// Webhook is an endpoint that receives events of a business.
type Webhook struct {
	ID        uuid.UUID `json:"id"`
	URL       string    `json:"url"`
	Events    []string  `json:"events"` // types, or "*" alone
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
	// CreatedBy is the person or token on the owner's side; null if unknown.
	CreatedBy      *uuid.UUID `json:"created_by"`
	DisabledReason string     `json:"disabled_reason,omitempty"` // gone or failing, if Slotmesh has disabled it
}

// SecretWebhook is the response to the creation of an endpoint and to
// a rotation of its secret. No other response contains the secret.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret"`
}

// WebhookList is one page of a business's endpoints, oldest first.
type WebhookList struct {
	Webhooks   []Webhook `json:"webhooks"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// States of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// Delivery is the delivery of one event to one endpoint.
type Delivery struct {
	ID        uuid.UUID         `json:"id"`
	WebhookID uuid.UUID         `json:"webhook_id"`
	EventID   uuid.UUID         `json:"event_id"` // sent in the header webhook-id
	Type      string            `json:"type"`
	Subject   Subject           `json:"subject"`
	Sequence  int               `json:"sequence"`
	Status    string            `json:"status"`
	NextAt    *time.Time        `json:"next_attempt_at"` // null: finished, or waits for an earlier event of its subject
	CreatedAt time.Time         `json:"created_at"`
	Body      json.RawMessage   `json:"body"` // the exact body
	Attempts  []DeliveryAttempt `json:"attempts"`
}

// Subject is what an event is about.
type Subject struct {
	Kind string    `json:"kind"`
	ID   uuid.UUID `json:"id"`
}

// DeliveryAttempt is one attempt at a delivery.
type DeliveryAttempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	Milliseconds int       `json:"duration_ms"`
	Status       *int      `json:"http_status"` // null: no answer
	Error        *string   `json:"error"`       // reason of a missing answer
	Answer       string    `json:"answer"`      // first 4 KiB
}

// DeliveryList is one page of an endpoint's deliveries, newest first.
type DeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// Client is the client of notifications' internal API. Every method returns the fault
// that notifications answered with, or fault.PeerUnavailable if it did not answer.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through peer.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// CreateWebhook creates an endpoint. Only this response and that of [Client.RotateWebhook] contain the
// secret. Faults: invalid_parameter; conflict if the business has the maximal number of endpoints.
func (c *Client) CreateWebhook(ctx context.Context, businessID uuid.UUID, wanted NewWebhook) (*SecretWebhook, error) {
	return CreateWebhook.Call(ctx, c.peer, endpoints.About(businessID, wanted))
}

// Webhooks lists endpoints, oldest first. Fault: invalid_parameter for an invalid page.
func (c *Client) Webhooks(ctx context.Context, businessID uuid.UUID, page request.Page) (*WebhookList, error) {
	return ListWebhooks.Call(ctx, c.peer, PageRequest{businessID, page})
}

// ChangeWebhook changes an endpoint. Faults: invalid_parameter; not_found.
func (c *Client) ChangeWebhook(ctx context.Context, businessID, id uuid.UUID, change WebhookChange) (*Webhook, error) {
	return ChangeWebhook.Call(ctx, c.peer, endpoints.Request(WebhookID{businessID, id}, change))
}

// DeleteWebhook removes an endpoint and the log of its deliveries. Fault: not_found.
func (c *Client) DeleteWebhook(ctx context.Context, businessID, id uuid.UUID) error {
	return DeleteWebhook.Send(ctx, c.peer, WebhookID{businessID, id})
}

// RotateWebhook creates a new secret for an endpoint. For one day, requests are signed with both. Fault: not_found.
func (c *Client) RotateWebhook(ctx context.Context, businessID, id uuid.UUID) (*SecretWebhook, error) {
	return RotateWebhook.Call(ctx, c.peer, WebhookID{businessID, id})
}

// TestWebhook sends an event of type webhook.test to an endpoint. Fault: not_found.
func (c *Client) TestWebhook(ctx context.Context, businessID, id uuid.UUID) (*Delivery, error) {
	return TestWebhook.Call(ctx, c.peer, WebhookID{businessID, id})
}

// Deliveries lists an endpoint's deliveries, newest first. status
// selects one status, "" all. Faults: invalid_parameter; not_found.
func (c *Client) Deliveries(ctx context.Context, businessID, id uuid.UUID, status string,
	page request.Page) (*DeliveryList, error) {
	return ListDeliveries.Call(ctx, c.peer, DeliveriesRequest{WebhookID{businessID, id}, page, status})
}

// RetryDelivery sends a delivery again. Faults: not_found; conflict if it waits for an earlier event of its subject.
func (c *Client) RetryDelivery(ctx context.Context, businessID, id uuid.UUID) (*Delivery, error) {
	return RetryDelivery.Call(ctx, c.peer, DeliveryID{businessID, id})
}
