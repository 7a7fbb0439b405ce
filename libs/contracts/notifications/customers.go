package notifications

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Erase is a request to delete a customer's data. Data about the bookings,
// orders and reservations in Stay is kept, because they are in the future.
type Erase struct {
	Email string      `json:"email"`
	Stay  []uuid.UUID `json:"stay"`
}

// MostStay bounds Stay: the future items of booking and of rental.
const MostStay = 2 * customer.MostHeld

// Erased holds the numbers of deleted items.
type Erased struct {
	Messages   int `json:"messages"`   // already written or still to be written
	Deliveries int `json:"deliveries"` // of webhooks
}

// EraseCustomer deletes a customer's messages, and the webhook deliveries that contain the
// customer's data, including pending ones. Fault: invalid_parameter if the address is invalid.
func (c *Client) EraseCustomer(ctx context.Context, businessID uuid.UUID, asked Erase) (*Erased, error) {
	return EraseCustomer.Call(ctx, c.peer, endpoints.About(businessID, asked))
}

// HeldMessage is the text of a message about a customer. HTML has the
// same words as Text. If the message is to an owner, Recipient is empty.
type HeldMessage struct {
	Message
	Text string `json:"text"`
}

// MostHeld bounds the exported messages about a customer: a few per booking.
const MostHeld = 5 * customer.MostHeld

// Held is the stored data of one customer, oldest first. It has at most MostHeld + 1 messages.
type Held struct {
	Messages []HeldMessage `json:"messages"`
}

// Held returns the stored messages to a customer, and to owners about
// the customer. Fault: invalid_parameter if email is not an address.
func (c *Client) Held(ctx context.Context, businessID uuid.UUID, email string) (*Held, error) {
	return ExportHeld.Call(ctx, c.peer, endpoints.About(businessID, customer.Of{Email: email}))
}
