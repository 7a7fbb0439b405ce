package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// Customers serves the internal endpoints that list and delete the stored data of a customer.
type Customers struct {
	Owner   *usecase.Customers
	Records *store.Store
}

// Mount registers the endpoints of customers' data.
func (a *Customers) Mount(r *server.Internal) {
	server.MountResult(r, notifications.EraseCustomer, a.erase, newResultReader(a.Records), server.Plain(showErased))
	server.Mount(r, notifications.ExportCustomerData, a.listMessages)
}

func (a *Customers) listMessages(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, customer.Of]) (*notifications.CustomerData, error) {
	found, err := a.Owner.ListMessages(ctx, r.At.Business, r.Body.Email)
	if err != nil {
		return nil, err
	}
	return &notifications.CustomerData{Messages: convertAll(found, showCustomerMessage)}, nil
}

func (a *Customers) erase(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, notifications.Erase]) (store.ErasureCounts, error) {
	return a.Owner.Erase(ctx, r.At.Business, r.Body)
}

func showCustomerMessage(m store.Message) notifications.StoredMessage {
	return notifications.StoredMessage{Message: showMessage(m), Text: m.Text}
}

func showErased(e store.ErasureCounts) notifications.Erased {
	return notifications.Erased{Messages: e.Messages, Deliveries: e.Deliveries}
}
