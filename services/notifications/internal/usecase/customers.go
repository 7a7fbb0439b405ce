package usecase

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/peer/notifications"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Customers shows what is held of customers, and forgets them (lifecycle.md §6).
type Customers struct {
	Store *store.Store
	Clock clock.Clock
	// Wake makes a job that looks after an endpoint at once.
	Wake func(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, state store.LaneState) error
}

// Held returns what is held of a customer, oldest first: at most one more than notifications.MostHeld. Notices to owners come without the
// owners' addresses, which are not the customer's to know. Fault: invalid_parameter for what is no address.
func (c *Customers) Held(ctx context.Context, businessID uuid.UUID, email string) ([]store.Message, error) {
	address, err := customer.Check(email)
	if err != nil {
		return nil, err
	}
	held, err := c.Store.MessagesOf(ctx, businessID, address, notifications.MostHeld+1)
	for i := range held {
		if held[i].Kind == string(letter.OwnerNotice) {
			held[i].Recipient, held[i].Reason = "", "" // a mail server's reason may name the address
		}
	}
	return held, err
}

// Erase forgets a customer, but for what is about the subjects that stay. Fault: invalid_parameter for what is no address, or too many that
// stay.
func (c *Customers) Erase(ctx context.Context, businessID uuid.UUID, asked notifications.Erase) (store.Erased, error) {
	address, err := customer.Check(asked.Email)
	if err != nil {
		return store.Erased{}, err
	}
	if len(asked.Stay) > notifications.MostStay {
		return store.Erased{}, request.Invalid("stay: send at most %d ids.", notifications.MostStay)
	}
	return c.Store.EraseCustomer(ctx, store.Erase{BusinessID: businessID, Email: address, Stay: asked.Stay}, c.Clock.Now(),
		func(ctx context.Context, tx pgx.Tx, endpointID uuid.UUID, state store.LaneState) error {
			return c.Wake(ctx, tx, businessID, endpointID, state)
		})
}
