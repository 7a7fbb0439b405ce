package sales

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// ListBookings lists the bookings that the principal's role may see, sorted by local start. A member of the staff sees
// only the bookings with this member. A viewer sees no contact data of customers. Faults: invalid_parameter for an
// invalid filter or page; forbidden if a viewer searches by customer.
func (o *UseCases) ListBookings(ctx context.Context, by peers.Principal, slug string, filter booking.Filter,
	page request.Page) (*booking.BookingList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	reach := by.PermissionIn(business.ID, access.SeeBookings)
	switch {
	case reach == access.Own:
		self, _ := by.MembershipIn(business.ID)
		filter.StaffID = &self.StaffID
	case reach == access.NoContact && filter.Query != "":
		// The results of a search by customer would reveal contact data.
		return nil, fault.Newf(
			fault.Forbidden,
			"The role %s may not look for bookings by their customer.",
			access.Viewer,
		)
	}
	filter.LocationIDs = addUnlocated(business, filter.LocationIDs)
	list, err := o.Bookings.Bookings(ctx, business.ID, filter, page)
	if err == nil && reach == access.NoContact {
		removeContacts(list.Bookings)
	}
	return list, err
}

// addUnlocated adds the nil UUID, which stands for bookings without a stored location, to the ids of locations if the
// location of these bookings is among them.
func addUnlocated(business *catalog.Snapshot, ids []uuid.UUID) []uuid.UUID {
	if l := business.UnstoredLocation(); l != nil && slices.Contains(ids, l.ID) {
		return append(slices.Clone(ids), uuid.Nil)
	}
	return ids
}

// ListTickets lists the ticket orders that a filter matches. A viewer sees no contact data of customers. Faults:
// invalid_parameter for an invalid filter or page; forbidden if a viewer searches by customer.
func (o *UseCases) ListTickets(ctx context.Context, by peers.Principal, slug string, filter booking.TicketFilter,
	page request.Page) (*booking.TicketList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	hidden := hidesContact(by, business)
	if hidden && filter.Query != "" {
		// The results of a search by customer would reveal contact data.
		return nil, fault.Newf(
			fault.Forbidden,
			"The role %s may not look for tickets by their customer.",
			access.Viewer,
		)
	}
	list, err := o.Bookings.Tickets(ctx, business.ID, filter, page)
	if err == nil && hidden {
		removeContacts(list.Tickets)
	}
	return list, err
}

// ListReservations lists the reservations that a filter matches. A viewer sees no contact data of customers. Fault:
// invalid_parameter for an invalid filter or page.
func (o *UseCases) ListReservations(ctx context.Context, by peers.Principal, slug string, filter rental.Filter,
	page request.Page) (*rental.ReservationList, error) {
	// An operator may see all businesses, so no permission must be checked with data of this business. The rental
	// service finds the business by its slug, so that the list works even while catalog is unavailable.
	if by.IsOperator {
		return o.Rentals.Reservations(ctx, slug, filter, page)
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.listReservations(ctx, by, business, filter, page)
}

// listReservations is [UseCases.ListReservations] for a business that the caller has already read.
func (o *UseCases) listReservations(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	filter rental.Filter,
	page request.Page) (*rental.ReservationList, error) {
	list, err := o.Rentals.ForBusiness(business.ID).Reservations(ctx, business.Slug, filter, page)
	if err != nil {
		return nil, err
	}
	if hidesContact(by, business) {
		removeContacts(list.Reservations)
	}
	return list, nil
}
