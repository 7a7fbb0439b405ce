package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Samples serves the internal endpoints for messages with sample facts.
type Samples struct{ Owner *usecase.Samples }

// Mount registers the endpoints of sample messages.
func (a *Samples) Mount(r *server.Internal) {
	server.Mount(r, notifications.PreviewMessage, func(ctx context.Context,
		r endpoints.With[endpoints.OfBusiness, notifications.SampleMessage]) (*notifications.MessagePreview, error) {
		return a.Owner.Preview(ctx, r.At.Business, r.Body)
	})
	server.Mount(r, notifications.SendTestMessage, func(ctx context.Context,
		r endpoints.With[endpoints.OfBusiness, notifications.TestMessage]) (*notifications.TestResult, error) {
		return a.Owner.SendTest(ctx, r.At.Business, r.Body)
	})
}
