package sales

import (
	"context"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CustomerDetails has the bookings, ticket orders, reservations and messages of a customer, newest first. Each list
// comes from one service. If this service is unavailable, the list is marked as unknown.
type CustomerDetails struct {
	Email        string
	Bookings     peers.Part[booking.Booking]
	Tickets      peers.Part[booking.Ticket]
	Reservations peers.Part[rental.Reservation]
	Messages     peers.Part[notifications.StoredMessage]
	Spent        []Spending // nil if a list is unknown, because the sums would then be too small
}

// maxCustomerEntries is the maximum number of items that each list of [CustomerDetails] has. An export
// ([UseCases.ExportCustomer]) has all items.
const maxCustomerEntries = 50

// LoadCustomer returns the bookings, ticket orders, reservations and messages of the customer with the given e-mail
// address. Fault: invalid_parameter for an invalid address.
func (o *UseCases) LoadCustomer(ctx context.Context, slug, email string) (*CustomerDetails, error) {
	address, err := customer.Check(email)
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	d := &CustomerDetails{Email: address}
	var taken booking.CustomerData
	var rented rental.CustomerData
	err = peers.RunTogether(func() error {
		data, err := o.Bookings.CustomerData(ctx, business.ID, address)
		if err != nil {
			d.Tickets.IsUnknown = true
			return peers.SetPart(ctx, o.Logger, &d.Bookings, nil, "", err)
		}
		taken = *data
		d.Bookings, d.Tickets = reverseToPart(data.Bookings), reverseToPart(data.Tickets)
		return nil
	}, func() error {
		data, err := o.Rentals.ForBusiness(business.ID).CustomerData(ctx, slug, address)
		if err != nil {
			return peers.SetPart(ctx, o.Logger, &d.Reservations, nil, "", err)
		}
		rented = *data
		d.Reservations = reverseToPart(data.Reservations)
		return nil
	}, func() error {
		data, err := o.Notifications.CustomerData(ctx, business.ID, address)
		if err != nil {
			return peers.SetPart(ctx, o.Logger, &d.Messages, nil, "", err)
		}
		d.Messages = reverseToPart(data.Messages)
		return nil
	})
	if err == nil && !d.Bookings.IsUnknown && !d.Reservations.IsUnknown {
		d.Spent = SumSpending(taken.Bookings, taken.Tickets, rented.Reservations)
	}
	return d, err
}

// reverseToPart returns the newest items of the list in the argument `oldest`, which is sorted oldest first. The result
// has at most maxCustomerEntries items, newest first. Because reverseToPart reverses the list in place, the caller must
// not use `oldest` later.
func reverseToPart[T any](oldest []T) peers.Part[T] {
	slices.Reverse(oldest)
	if len(oldest) > maxCustomerEntries {
		return peers.Part[T]{List: oldest[:maxCustomerEntries], HasMore: true}
	}
	return peers.Part[T]{List: oldest}
}
