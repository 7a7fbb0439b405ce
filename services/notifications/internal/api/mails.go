package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Mails serves the internal endpoint that sends mails about accounts.
type Mails struct{ Account *usecase.Mails }

// Mount registers the endpoint that sends mails.
func (a *Mails) Mount(r *server.Internal) {
	server.Mount(r, notifications.SendMail, func(ctx context.Context, body notifications.Mail) (*struct{}, error) {
		return &struct{}{}, a.Account.Send(ctx, body)
	})
}
