package usecase

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Messages lists the messages of a business, newest first, without their texts. It includes messages that were only
// stored and not sent.
func (o *Owner) Messages(ctx context.Context, slug string, filter notifications.MessageFilter,
	page request.Page) (*notifications.MessageList, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Messages(ctx, business.ID, filter, page)
}

// Message returns one message with its texts.
func (o *Owner) Message(ctx context.Context, slug string, id uuid.UUID) (*notifications.WholeMessage, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Notifications.Message(ctx, business.ID, id)
}

// RetryMessage sends a message again that failed or was only stored.
func (o *Owner) RetryMessage(ctx context.Context, by Principal, slug string,
	id uuid.UUID) (*notifications.Message, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	queued, err := o.Notifications.RetryMessage(ctx, business.ID, id)
	if err == nil {
		o.changed(ctx, by, "retry message", slug, slog.String("message_id", id.String()))
	}
	return queued, err
}
