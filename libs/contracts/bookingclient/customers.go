package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Customers lists the customers who have bookings or orders of tickets, in the
// order of their keys. Faults: invalid_parameter for an invalid limit.
func (c *Client) Customers(ctx context.Context, businessID uuid.UUID,
	search customer.Search) ([]customer.Customer, error) {
	call := func(search customer.Search) (*customer.List, error) {
		return SearchCustomers.Call(ctx, c.peer, endpoints.About(businessID, search))
	}
	out, err := customer.CallAnyRelease(search, call)
	if err != nil {
		return nil, err
	}
	return out.Customers, nil
}

// CustomerData returns the record of a customer, and the stored data of all addresses of the record. The argument
// `address` is one of the addresses. Faults: invalid_parameter if it is no email address and no telephone number.
func (c *Client) CustomerData(ctx context.Context, businessID uuid.UUID,
	address string) (*booking.CustomerData, error) {
	return ExportCustomerData.Call(ctx, c.peer, endpoints.About(businessID, customer.Of{Email: address}))
}

// ChangeCustomer writes about a customer, and makes a record if there is none. Faults: invalid_parameter; conflict if
// another record has one of the addresses.
func (c *Client) ChangeCustomer(ctx context.Context, businessID uuid.UUID,
	request customer.Change) (*customer.Written, error) {
	return ChangeCustomer.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// MergeCustomers makes two customers one. Faults: invalid_parameter; conflict if both are one customer, or if the
// customer would have too many addresses.
func (c *Client) MergeCustomers(ctx context.Context, businessID uuid.UUID,
	request customer.MergeRequest) (*customer.Written, error) {
	return MergeCustomers.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// SeparateCustomers undoes a merge. Faults: not_found if the merge does not exist; conflict if the merged record
// has lost all its addresses.
func (c *Client) SeparateCustomers(ctx context.Context, businessID uuid.UUID,
	request customer.Separate) (*customer.Written, error) {
	return SeparateCustomers.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// RemoveCustomerRecord removes what is written about a customer.
func (c *Client) RemoveCustomerRecord(ctx context.Context, businessID uuid.UUID,
	request customer.RecordRemoval) (*customer.Removed, error) {
	return RemoveCustomerRecord.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// ImportCustomers makes records of customers, except of those who have one. Fault: invalid_parameter.
func (c *Client) ImportCustomers(ctx context.Context, businessID uuid.UUID,
	request customer.Import) (*customer.Imported, error) {
	return ImportCustomers.Call(ctx, c.peer, endpoints.About(businessID, request))
}

// CustomerImports returns the newest imports.
func (c *Client) CustomerImports(ctx context.Context, businessID uuid.UUID) (*customer.ImportList, error) {
	return ListCustomerImports.Call(ctx, c.peer, endpoints.OfBusiness{Business: businessID})
}

// UndoCustomerImport removes the records of an import that were not changed later. Fault: not_found.
func (c *Client) UndoCustomerImport(ctx context.Context, businessID uuid.UUID,
	request customer.UndoImport) (*customer.Removed, error) {
	return UndoCustomerImport.Call(ctx, c.peer, endpoints.About(businessID, request))
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
