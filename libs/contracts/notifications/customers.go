package notifications

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Erase requests that a customer's data is deleted. Stay lists the customer's
// future bookings, orders and reservations; the data about them is kept.
type Erase struct {
	Email string      `json:"email"`
	Stay  []uuid.UUID `json:"stay"`
}

// MaxStay is the maximal number of ids in Stay: the future bookings and orders
// of the booking service, and the future reservations of the rental service.
const MaxStay = 2 * customer.MaxExported

// Erased holds the numbers of deleted messages and webhook deliveries.
type Erased struct {
	Messages   int `json:"messages"`   // number of messages, whether sent or not
	Deliveries int `json:"deliveries"` // number of deliveries of webhooks
}

// EraseCustomer deletes a customer's messages, and the webhook deliveries that contain data of
// the customer, including pending ones. Fault: invalid_parameter if the email address is invalid.
func (c *Client) EraseCustomer(ctx context.Context, businessID uuid.UUID, request Erase) (*Erased, error) {
	return EraseCustomer.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// StoredMessage is a message to or about a customer, with its text. The HTML form is left
// out, because it has the same words. If the message is to an owner, Recipient is empty.
type StoredMessage struct {
	Message
	Text string `json:"text"`
}

// MaxExported is the maximal number of exported messages about a customer: five for each of customer.MaxExported
// bookings.
const MaxExported = 5 * customer.MaxExported

// CustomerData is the stored data of one customer, oldest first. It has at most MaxExported + 1 messages.
type CustomerData struct {
	Messages []StoredMessage `json:"messages"`
}

// CustomerData returns the stored messages to a customer, and the stored messages to owners
// about the customer. Fault: invalid_parameter if `email` is not an email address.
func (c *Client) CustomerData(ctx context.Context, businessID uuid.UUID, email string) (*CustomerData, error) {
	return ExportCustomerData.Call(ctx, c.peer, endpoints.About(businessID, customer.Of{Email: email}))
}
