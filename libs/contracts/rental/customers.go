package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// CustomerData is the stored data of one customer, oldest first. It has at most customer.MaxExported
// + 1 reservations. The last of them shows that there are more than MaxExported.
type CustomerData struct {
	Reservations []Reservation `json:"reservations"`
}

// Customers lists the customers who have reservations, in the order of
// their email addresses. Faults: invalid_parameter for an invalid limit.
func (c *Client) Customers(ctx context.Context, slug string, search customer.Search) ([]customer.Customer, error) {
	call := func(search customer.Search) (*customer.List, error) {
		return SearchCustomers.Call(ctx, c.peer, endpoints.Request(c.slugParams(slug), search))
	}
	out, err := customer.CallAnyRelease(search, call)
	if err != nil {
		return nil, err
	}
	return out.Customers, nil
}

// CustomerData returns the stored data of a customer with the given addresses. Faults: invalid_parameter if one is no
// email address and no telephone number.
func (c *Client) CustomerData(ctx context.Context, slug string, addresses ...string) (*CustomerData, error) {
	return ExportCustomerData.Call(ctx, c.peer, endpoints.Request(c.slugParams(slug),
		customer.Of{Email: addresses[0], Addresses: customer.ListSeveral(addresses)}))
}

// ExpiringCustomers returns digests of customers. These customers' data would be
// deleted if all reservations that ended before the given instant were anonymized.
func (c *Client) ExpiringCustomers(ctx context.Context, slug string,
	request customer.Expiring) (*customer.ExpiringList, error) {
	return ListExpiringCustomers.Call(ctx, c.peer, endpoints.Request(c.slugParams(slug), request))
}

// EraseCustomer anonymizes a customer's reservations. Faults: invalid_parameter if the email address
// is invalid; conflict if the customer has too many future reservations to list in the response.
func (c *Client) EraseCustomer(ctx context.Context, slug string, request customer.Erase) (*customer.Erased, error) {
	return EraseCustomer.Call(ctx, c.peer, endpoints.Request(c.slugParams(slug), request))
}
