package usecase

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Customers lists and deletes the stored data of a customer (lifecycle.md §6).
type Customers struct {
	Store *store.Store
	Clock clock.Clock
	// Wake inserts a job that sends an endpoint's due deliveries at once.
	Wake func(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, state store.EndpointState) error
}

// ListMessages returns the stored messages with the data of a customer, oldest first, at most
// notifications.MaxExported+1. ListMessages removes the owners' addresses from notices to owners, because the customer
// may not see them. Fault: invalid_parameter if the argument `email` is not an address.
func (c *Customers) ListMessages(ctx context.Context, businessID uuid.UUID, email string) ([]store.Message, error) {
	address, err := customer.Check(email)
	if err != nil {
		return nil, err
	}
	found, err := c.Store.CustomerMessages(ctx, businessID, address, notifications.MaxExported+1)
	for i := range found {
		if found[i].Kind == string(letter.OwnerNotice) {
			found[i].Recipient, found[i].Reason = "", "" // Reason may contain an owner's address
		}
	}
	return found, err
}

// Erase deletes the data of a customer, except the data about the subjects in erasure.Stay. Fault: invalid_parameter if
// the e-mail address is invalid or erasure.Stay is too long.
func (c *Customers) Erase(ctx context.Context, businessID uuid.UUID,
	erasure notifications.Erase) (store.ErasureCounts, error) {
	address, err := customer.Check(erasure.Email)
	if err != nil {
		return store.ErasureCounts{}, err
	}
	if len(erasure.Stay) > notifications.MaxStay {
		return store.ErasureCounts{}, request.Invalid("stay: send at most %d ids.", notifications.MaxStay)
	}
	return c.Store.EraseCustomer(ctx, store.Erasure{BusinessID: businessID, Email: address, KeptSubjects: erasure.Stay},
		c.Clock.Now(),
		func(ctx context.Context, tx pgx.Tx, endpointID uuid.UUID, state store.EndpointState) error {
			return c.Wake(ctx, tx, businessID, endpointID, state)
		})
}
