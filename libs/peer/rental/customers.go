package rental

import (
	"context"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Held is what is held of one customer, oldest first: at most one more than customer.MostHeld.
type Held struct {
	Reservations []Reservation `json:"reservations"`
}

// Customers lists those who reserved, by address. Faults: invalid_parameter for a bad limit.
func (c *Client) Customers(ctx context.Context, slug string, asked customer.Search) ([]customer.Customer, error) {
	var out customer.List
	err := c.peer.Ask(ctx, c.at(slug, "customers/search", nil), asked, &out)
	return out.Customers, err
}

// Held returns what is held of a customer. Faults: invalid_parameter for what is no address.
func (c *Client) Held(ctx context.Context, slug, email string) (*Held, error) {
	return typed.Ask[Held](ctx, c.peer, c.at(slug, "customers/held", nil), customer.Of{Email: email})
}

// ExpiringCustomers lists the customers of all reservations that had ended by an instant, as digests.
func (c *Client) ExpiringCustomers(ctx context.Context, slug string, asked customer.Expiring) (*customer.ExpiringList, error) {
	return typed.Ask[customer.ExpiringList](ctx, c.peer, c.at(slug, "customers/expiring", nil), asked)
}

// EraseCustomer forgets a customer's reservations. Faults: invalid_parameter for what is no address; conflict where too much lies ahead to
// be named.
func (c *Client) EraseCustomer(ctx context.Context, slug string, asked customer.Erase) (*customer.Erased, error) {
	return typed.Call[customer.Erased](ctx, c.peer, http.MethodPost, c.at(slug, "customers/erase", nil), asked)
}
