package sales

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// SearchResults has the customers and bookings that match a search and that the person may see. If a service is
// unavailable, the list from this service is marked as unknown.
type SearchResults struct {
	Bookings  peers.Part[booking.Booking]
	Customers peers.Part[customer.Customer]
}

// maxFound is the maximum number of results that each list of [SearchResults] has.
const maxFound = 10

// Search finds customers and their bookings by a part of the customer's name, e-mail address or phone number. The
// results are empty for a person who may not see contact data. Fault: invalid_parameter for an invalid query.
func (o *UseCases) Search(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	query string) (*SearchResults,
	error) {
	found := &SearchResults{}
	var asks []func() error
	if reach := by.PermissionIn(business.ID, access.SeeBookings); reach != access.None && reach != access.NoContact {
		asks = append(asks, o.newBookingsQuery(ctx, by, business, &found.Bookings, booking.Filter{Query: query},
			maxFound))
	}
	if by.PermissionIn(business.ID, access.SeeCustomers) != access.None {
		asks = append(asks, func() error {
			list, err := o.ListCustomers(ctx, business.Slug, CustomerFilter{Query: query}, request.Page{Limit: maxFound})
			if err != nil {
				return peers.SetPart(ctx, o.Logger, &found.Customers, nil, "", err)
			}
			return peers.SetPart(ctx, o.Logger, &found.Customers, list.Customers, list.NextCursor, nil)
		})
	}
	return found, peers.RunTogether(asks...)
}
