package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// ListMessages lists the messages of a business, newest first, without their texts. The list includes messages that the
// notifications service has stored but not sent.
func (o *UseCases) ListMessages(ctx context.Context, slug string, filter notifications.MessageFilter,
	page request.Page) (*notifications.MessageList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Messages(ctx, business.ID, filter, page)
}

// FindMessage returns one message with its texts.
func (o *UseCases) FindMessage(ctx context.Context, slug string, id uuid.UUID) (*notifications.WholeMessage, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Message(ctx, business.ID, id)
}

// RetryMessage sends a message again if sending has failed, or if the message was stored but not sent.
func (o *UseCases) RetryMessage(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*notifications.Message, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	message, err := o.Notifications.RetryMessage(ctx, business.ID, id)
	if err == nil {
		o.LogChange(ctx, by, "retry message", slug, slog.String("message_id", id.String()))
	}
	return message, err
}

// PreviewMessage returns a message with sample facts. Fault: invalid_parameter.
func (o *UseCases) PreviewMessage(ctx context.Context, slug string,
	sample notifications.SampleMessage) (*notifications.MessagePreview, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.PreviewMessage(ctx, business.ID, sample)
}

// SendTestMessage mails a message with sample facts to the principal, and stores nothing. The mail never goes to
// another address. Faults: invalid_parameter; conflict if the principal has no verified address, if the business is
// a sandbox, or if the mail server rejects the mail; rate_limited.
func (o *UseCases) SendTestMessage(ctx context.Context, by peers.Principal, slug string,
	sample notifications.SampleMessage) (*notifications.TestResult, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	to, err := o.Testers.AllowTestMessage(ctx, by)
	if err != nil {
		return nil, err
	}
	result, err := o.Notifications.SendTestMessage(ctx, business.ID,
		notifications.TestMessage{SampleMessage: sample, To: to})
	if err == nil {
		o.LogChange(ctx, by, "send test message", slug, slog.String("kind", sample.Kind))
	}
	return result, err
}
