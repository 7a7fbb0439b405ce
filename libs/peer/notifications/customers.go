package notifications

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/customer"
)

// Erase asks to forget a customer, but for what is about these bookings, orders of tickets and reservations, which lie ahead.
type Erase struct {
	Email string      `json:"email"`
	Stay  []uuid.UUID `json:"stay"`
}

// MostStay bounds how much may stay: what lies ahead in booking, and in rental.
const MostStay = 2 * customer.MostHeld

// Erased is what was forgotten.
type Erased struct {
	Messages   int `json:"messages"`   // written, or still to be written
	Deliveries int `json:"deliveries"` // of webhooks
}

// EraseCustomer deletes a customer's messages and the deliveries of webhooks that hold their data, pending ones too. Fault:
// invalid_parameter for what is no address.
func (c *Client) EraseCustomer(ctx context.Context, businessID uuid.UUID, asked Erase) (*Erased, error) {
	return call[Erased](ctx, c, http.MethodPost, path(businessID, "customers/erase"), asked)
}
