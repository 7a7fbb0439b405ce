package notifications

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// SampleMessage selects a message with sample facts, such as a booking of the business's first service.
type SampleMessage struct {
	Kind     string `json:"kind"`     // kind of message, such as booking_confirmed
	Language string `json:"language"` // "" for the default language of the business
	// Intro and Note replace the published texts of the business (notifications.intros and notifications.notes). If a
	// field is null, the published text is used.
	Intro *string `json:"intro,omitempty"`
	Note  *string `json:"note,omitempty"`
}

// MessagePreview is a sample message as its recipient would read it.
type MessagePreview struct {
	Language string `json:"language"`
	Subject  string `json:"subject"`
	Text     string `json:"text"`
	HTML     string `json:"html"` // loads nothing from other hosts
}

// TestMessage requests that a sample message is mailed to one address.
type TestMessage struct {
	SampleMessage
	To string `json:"to"`
}

// Tenant returns the email address of the recipient, as [Mail.Tenant] does.
func (m TestMessage) Tenant() string { return m.To }

// TestResult is the result of a test message. Status is [MessageSent] if the mail server accepted the message.
// It is [MessageNotSent] if the server only shows messages and does not deliver them; Reason then explains it.
type TestResult struct {
	Recipient string `json:"recipient"`
	Subject   string `json:"subject"`
	Status    string `json:"status"`
	Reason    string `json:"reason,omitempty"`
}

// PreviewMessage returns a sample message without sending it. Fault: invalid_parameter for an unknown kind.
func (c *Client) PreviewMessage(ctx context.Context, businessID uuid.UUID,
	sample SampleMessage) (*MessagePreview, error) {
	return PreviewMessage.Call(ctx, c.peer, endpoints.About(businessID, sample))
}

// SendTestMessage mails a sample message at once and stores nothing. Before each call, the caller must count the
// request against a limit of the recipient. Faults: invalid_parameter; conflict if no mail server is configured, if the
// business is a sandbox, or if the server rejects the mail; service_unavailable if the mail server is down.
func (c *Client) SendTestMessage(ctx context.Context, businessID uuid.UUID, test TestMessage) (*TestResult, error) {
	return SendTestMessage.Call(ctx, c.peer, endpoints.About(businessID, test))
}
