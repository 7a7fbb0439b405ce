package notifications

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
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
	return typed.Call[Erased](ctx, c.peer, http.MethodPost, path(businessID, "customers/erase"), asked)
}

// HeldMessage is a message about a customer, as it was written: its HTML has the words of Text. One to an owner has no Recipient.
type HeldMessage struct {
	Message
	Text string `json:"text"`
}

// MostHeld bounds how many messages about a customer are exported: a few of each booking.
const MostHeld = 5 * customer.MostHeld

// Held is what is held of one customer, oldest first: at most one more than [MostHeld].
type Held struct {
	Messages []HeldMessage `json:"messages"`
}

// Held returns what is held of a customer: messages to them, and to owners about them. Fault: invalid_parameter for what is no address.
func (c *Client) Held(ctx context.Context, businessID uuid.UUID, email string) (*Held, error) {
	return typed.Ask[Held](ctx, c.peer, path(businessID, "customers/held"), customer.Of{Email: email})
}
