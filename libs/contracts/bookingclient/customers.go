package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Customers lists the customers who have bookings or orders of tickets, in the
// order of their email addresses. Faults: invalid_parameter for an invalid limit.
func (c *Client) Customers(ctx context.Context, businessID uuid.UUID,
	search customer.Search) ([]customer.Customer, error) {
	out, err := SearchCustomers.Call(ctx, c.peer, endpoints.About(businessID, search))
	if err != nil {
		return nil, err
	}
	return out.Customers, nil
}

// CustomerData returns the stored data of a customer. Faults: invalid_parameter if `email` is not an email address.
func (c *Client) CustomerData(ctx context.Context, businessID uuid.UUID, email string) (*booking.CustomerData, error) {
	return ExportCustomerData.Call(ctx, c.peer, endpoints.About(businessID, customer.Of{Email: email}))
}

// ExpiringCustomers returns digests of customers. These customers' data would be deleted
// if all bookings and orders that ended before the given instant were anonymized.
func (c *Client) ExpiringCustomers(ctx context.Context, businessID uuid.UUID,
	request customer.Expiring) (*customer.ExpiringList, error) {
	return ListExpiringCustomers.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// EraseCustomer anonymizes a customer's bookings and orders of tickets. Faults: invalid_parameter if the
// email address is invalid; conflict if the customer has too many future bookings to list in the response.
func (c *Client) EraseCustomer(ctx context.Context, businessID uuid.UUID,
	request customer.Erase) (*customer.Erased, error) {
	return EraseCustomer.Call(ctx, c.peer, endpoints.About(businessID, request))
}
