package api

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Messages serves the internal endpoints for the messages of businesses.
type Messages struct{ Owner *usecase.Messages }

// Mount registers the endpoints of messages.
func (a *Messages) Mount(r *server.Internal) {
	server.Mount(r, notifications.ListMessages, a.list)
	server.Mount(r, notifications.ReadMessage, server.ShowResult(a.find, showWhole))
	server.MountIdempotent(r, notifications.RetryMessage, server.ShowResult(a.retry, showMessage),
		newResultReader(a.Owner.Store), a.respondToRepeat)
}

func (a *Messages) list(ctx context.Context, r notifications.MessagesRequest) (*notifications.MessageList, error) {
	found, next, err := a.Owner.List(ctx, r.Business, store.MessageFilter(r.MessageFilter), r.Page)
	if err != nil {
		return nil, err
	}
	return &notifications.MessageList{Messages: convertAll(found, showMessage), NextCursor: next}, nil
}

func (a *Messages) find(ctx context.Context, target notifications.MessageID) (store.Message, error) {
	return a.Owner.Find(ctx, target.Business, target.ID)
}

func (a *Messages) retry(ctx context.Context, target notifications.MessageID) (store.Message, error) {
	return a.Owner.Retry(ctx, target.Business, target.ID)
}

// respondToRepeat responds to a retry request that a client sends again with the same Idempotency-Key. The response is
// the current state of the message. It reads the message by its ID, because the stored idempotency result contains only
// the ID.
func (a *Messages) respondToRepeat(ctx context.Context, target notifications.MessageID,
	stored []byte) (*notifications.Message, error) {
	if err := json.Unmarshal(stored, &target.ID); err != nil {
		return nil, err
	}
	return server.ShowResult(a.find, showMessage)(ctx, target)
}

func showWhole(m store.Message) notifications.WholeMessage {
	return notifications.WholeMessage{
		Message: showMessage(m), FromName: m.FromName, ReplyTo: m.ReplyTo, Text: m.Text, HTML: m.HTML,
		Calendar: string(m.Calendar), CalendarMethod: m.Method,
	}
}

func showMessage(m store.Message) notifications.Message {
	response := notifications.Message{
		ID: m.ID, Kind: m.Kind, EventID: m.EventID, About: notifications.Subject{Kind: string(m.About.Kind),
			ID: m.About.ID}, Recipient: m.Recipient,
		Locale: m.Locale, Subject: m.Subject, Status: m.Status, Reason: m.Reason, Attempts: m.Attempts,
		CreatedAt: m.CreatedAt,
	}
	if m.SentAt != nil {
		at := m.SentAt.UTC()
		response.SentAt = &at
	}
	return response
}
