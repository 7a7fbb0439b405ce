package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// SignIns serves the internal endpoint that mails the one-time links of customers' sign-ins.
type SignIns struct{ Customers *usecase.SignIns }

// Mount registers the endpoint.
func (a *SignIns) Mount(r *server.Internal) {
	server.Mount(r, notifications.SendSignInLink, func(ctx context.Context,
		id notifications.SignInID) (*endpoints.None, error) {
		return nil, a.Customers.Send(ctx, id.Business, id.ID)
	})
}
