package bookingclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Customers lists those who booked or hold tickets, by address. Faults: invalid_parameter for a bad limit.
func (c *Client) Customers(ctx context.Context, businessID uuid.UUID, asked customer.Search) ([]customer.Customer, error) {
	var out customer.List
	err := c.peer.Ask(ctx, path(businessID, "customers/search"), asked, &out)
	return out.Customers, err
}

// Held returns what is held of a customer. Faults: invalid_parameter for what is no address.
func (c *Client) Held(ctx context.Context, businessID uuid.UUID, email string) (*booking.Held, error) {
	return typed.Ask[booking.Held](ctx, c.peer, path(businessID, "customers/held"), customer.Of{Email: email})
}

// ExpiringCustomers lists the customers of everything that had ended by an instant, as digests.
func (c *Client) ExpiringCustomers(ctx context.Context, businessID uuid.UUID, asked customer.Expiring) (*customer.ExpiringList, error) {
	return typed.Ask[customer.ExpiringList](ctx, c.peer, path(businessID, "customers/expiring"), asked)
}

// EraseCustomer forgets a customer's bookings and orders of tickets. Faults: invalid_parameter for what is no address; conflict where too
// much lies ahead to be named.
func (c *Client) EraseCustomer(ctx context.Context, businessID uuid.UUID, asked customer.Erase) (*customer.Erased, error) {
	return typed.Call[customer.Erased](ctx, c.peer, http.MethodPost, path(businessID, "customers/erase"), asked)
}
