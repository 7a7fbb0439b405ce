package usecase

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Messages gives owners access to the messages of their business, sent or not (lifecycle.md §2).
type Messages struct {
	Store *store.Store
	// RetryMessage queues a message again for sending. RetryMessage is the method Retry of messages.Messages.
	RetryMessage func(ctx context.Context, businessID, id uuid.UUID) (store.Message, error)
}

// List returns a page of messages, newest first, and the cursor of the next page. The messages lack their contents.
// Fault: invalid_parameter if the status, the kind or the cursor is invalid.
func (m *Messages) List(ctx context.Context, businessID uuid.UUID, filter store.MessageFilter,
	page request.Page) ([]store.Message, string, error) {
	switch filter.Status {
	case "", store.MessageNotSent, store.MessageQueued, store.MessageHeld, store.MessageSent, store.MessageFailed:
	default:
		return nil, "",
			request.Invalid("status: write not_sent, queued, held, sent or failed, or leave it out for all.")
	}
	if filter.Kind != "" && !letter.Kind(filter.Kind).IsKnown() {
		return nil, "",
			request.Invalid("kind: %s is no kind of message; write one such as %s, or leave it out for all.",
				request.Quote(filter.Kind), letter.BookingConfirmed)
	}
	return m.Store.Messages(ctx, businessID, filter, page)
}

// Find returns a message with its contents. Fault: not_found.
func (m *Messages) Find(ctx context.Context, businessID, id uuid.UUID) (store.Message, error) {
	found, err := m.Store.Message(ctx, businessID, id)
	found.HTML = messages.ShowCodes(found.HTML, found.About.ID)
	return found, convertMessageError(err)
}

// Retry queues a failed or unsent message again. Faults: not_found; conflict if no mail server is configured, or if the
// business is a sandbox. The fault is also conflict if the message was sent, is held or is being sent, because the
// recipient could otherwise get the message twice.
func (m *Messages) Retry(ctx context.Context, businessID, id uuid.UUID) (store.Message, error) {
	queued, err := m.RetryMessage(ctx, businessID, id)
	return queued, convertMessageError(err)
}

func convertMessageError(err error) error {
	var status *store.StatusError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "Message not found")
	case errors.Is(err, messages.ErrNoServer):
		return fault.New(fault.Conflict,
			"Messages are kept and not sent here, as there is no mail server; its operator sets SMTP_URL.")
	case errors.Is(err, messages.ErrSandbox):
		return fault.New(fault.Conflict, "This business is a sandbox: its messages are kept and never sent.")
	case errors.As(err, &status) && status.Status == store.MessageHeld:
		return fault.New(fault.Conflict, "A limit holds this message back; it is sent when the limit allows it.")
	case errors.As(err, &status) && status.Status == store.MessageSent:
		return fault.New(fault.Conflict, "This message was sent; only one that failed or was not sent is sent again.")
	case errors.As(err, &status):
		return fault.New(fault.Conflict,
			"This message is being tried already; only one that failed or was not sent is sent again.")
	}
	return err
}
