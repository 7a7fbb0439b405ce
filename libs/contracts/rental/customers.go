package rental

import (
	"context"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
)

// Held is the stored data of one customer, oldest first. It has at most customer.MostHeld + 1 reservations.
type Held struct {
	Reservations []Reservation `json:"reservations"`
}

// Customers lists the customers with reservations, ordered by address. Faults: invalid_parameter for an invalid limit.
func (c *Client) Customers(ctx context.Context, slug string, asked customer.Search) ([]customer.Customer, error) {
	var out customer.List
	err := c.peer.Ask(ctx, c.at(slug, "customers/search", nil), asked, &out)
	return out.Customers, err
}

// Held returns the stored data of a customer. Faults: invalid_parameter if email is not an address.
func (c *Client) Held(ctx context.Context, slug, email string) (*Held, error) {
	return typed.Ask[Held](ctx, c.peer, c.at(slug, "customers/held", nil), customer.Of{Email: email})
}

// ExpiringCustomers returns digests of the customers of all reservations that had ended by an instant.
func (c *Client) ExpiringCustomers(ctx context.Context, slug string,
	asked customer.Expiring) (*customer.ExpiringList, error) {
	return typed.Ask[customer.ExpiringList](ctx, c.peer, c.at(slug, "customers/expiring", nil), asked)
}

// EraseCustomer anonymizes a customer's reservations. Faults: invalid_parameter if the
// address is invalid; conflict if the list of future reservations would be too long.
func (c *Client) EraseCustomer(ctx context.Context, slug string, asked customer.Erase) (*customer.Erased, error) {
	return typed.Call[customer.Erased](ctx, c.peer, http.MethodPost, c.at(slug, "customers/erase", nil), asked)
}
