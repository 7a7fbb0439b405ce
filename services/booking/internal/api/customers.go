package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
)

func (in *Internal) searchCustomers(ctx context.Context,
	r bookingclient.With[customer.Search]) (*customer.List, error) {
	if err := r.Body.Validate(); err != nil {
		return nil, err
	}
	customers, err := in.records.Customers(ctx, r.At.Business, r.Body)
	return &customer.List{Customers: customers}, err
}

func (in *Internal) exportCustomerData(ctx context.Context,
	r bookingclient.With[customer.Of]) (*booking.CustomerData, error) {
	address, err := customer.CheckAddress(r.Body.Email)
	if err != nil {
		return nil, err
	}
	record, err := in.records.FindCustomerRecord(ctx, r.At.Business, address)
	if err != nil {
		return nil, err
	}
	bookings, tickets, err := in.records.FindCustomerData(ctx, r.At.Business, record.Keys(), customer.MaxExported+1)
	if err != nil {
		return nil, err
	}
	return &booking.CustomerData{Bookings: convertAll(bookings, in.showBooking),
		Tickets: convertAll(tickets, showTicket), Record: record}, nil
}

func (in *Internal) listExpiringCustomers(ctx context.Context,
	r bookingclient.With[customer.Expiring]) (*customer.ExpiringList, error) {
	digests, err := in.records.ExpiringCustomers(ctx, r.At.Business, r.Body.Then, customer.MaxExpiring+1)
	return new(customer.CutExpiring(digests)), err
}

func (in *Internal) eraseCustomer(ctx context.Context,
	r bookingclient.With[customer.Erase]) (*customer.Erased, error) {
	var err error
	if r.Body.Addresses, err = r.Body.Keys(); err != nil {
		return nil, err
	}
	erased, err := in.records.EraseCustomer(ctx, r.At.Business, r.Body, in.clock.Now())
	return &erased, err
}
