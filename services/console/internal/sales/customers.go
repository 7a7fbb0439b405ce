package sales

import (
	"context"
	"encoding/base64"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CustomerList is one page of customers, sorted by e-mail address. NextCursor is empty on the last page.
type CustomerList struct {
	Customers  []customer.Customer `json:"customers"`
	NextCursor string              `json:"next_cursor,omitempty"`
}

// CustomerExport has all data that is stored about one customer.
type CustomerExport struct {
	Email        string                        `json:"email"`
	ExportedAt   time.Time                     `json:"exported_at"`
	Bookings     []booking.Booking             `json:"bookings"`
	Tickets      []booking.Ticket              `json:"tickets"`
	Reservations []rental.Reservation          `json:"reservations"`
	Messages     []notifications.StoredMessage `json:"messages"`
}

// ListCustomers lists the customers who have a booking, a reservation or tickets, sorted by e-mail address. The
// argument `query` is a part of a name, an e-mail address or a phone number; "" lists all customers. Fault:
// invalid_parameter for an invalid query or page.
func (o *UseCases) ListCustomers(ctx context.Context, slug, query string, page request.Page) (*CustomerList, error) {
	after, err := base64.RawURLEncoding.DecodeString(page.Cursor)
	if err != nil {
		return nil, request.BadCursor()
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	search := customer.Search{Query: query, After: string(after), Limit: page.Limit + 1}
	if err := search.Validate(); err != nil {
		return nil, err
	}
	customers, err := o.Bookings.Customers(ctx, business.ID, search)
	if err != nil {
		return nil, err
	}
	reserved, err := o.Rentals.ForBusiness(business.ID).Customers(ctx, slug, search)
	if err != nil {
		return nil, err
	}
	if query != "" { // booking and rental may store different names, of which `query` may match one
		more, err := o.findMissingCounts(ctx, business.ID, slug, customers, reserved)
		if err != nil {
			return nil, err
		}
		customers = append(customers, more...)
	}
	list := &CustomerList{}
	list.Customers, list.NextCursor = request.Cut(customer.Merge(customers, reserved), page.Limit,
		func(c customer.Customer) string {
			return base64.RawURLEncoding.EncodeToString([]byte(c.Email))
		})
	return list, nil
}

// findMissingCounts completes a search for customers, of whom booking and rental may each have found only some. It asks
// the booking service for the customers that only rental has found, and the rental service for the customers that only
// booking has found. It returns the customers in both answers, with the counts of their bookings and reservations.
func (o *UseCases) findMissingCounts(ctx context.Context, businessID uuid.UUID, slug string,
	customers, reserved []customer.Customer) ([]customer.Customer, error) {
	var more []customer.Customer
	if of := listMissingAddresses(reserved, customers); len(of) > 0 {
		found, err := o.Bookings.Customers(ctx, businessID, customer.Search{Of: of, Limit: customer.MaxFound})
		if err != nil {
			return nil, err
		}
		more = found
	}
	if of := listMissingAddresses(customers, reserved); len(of) > 0 {
		found, err := o.Rentals.ForBusiness(businessID).Customers(ctx, slug,
			customer.Search{Of: of, Limit: customer.MaxFound})
		if err != nil {
			return nil, err
		}
		more = append(more, found...)
	}
	return more, nil
}

// listMissingAddresses returns the e-mail addresses of the customers that are in the argument `list` but not in the
// argument `other`.
func listMissingAddresses(list, other []customer.Customer) []string {
	var addresses []string
	for _, c := range list {
		if !slices.ContainsFunc(other, func(o customer.Customer) bool { return o.Email == c.Email }) {
			addresses = append(addresses, c.Email)
		}
	}
	return addresses
}

// ExportCustomer returns all data that is stored about a customer. Faults: invalid_parameter for an invalid address;
// conflict if this customer has more bookings, reservations, orders or messages than an export can list.
func (o *UseCases) ExportCustomer(ctx context.Context, by peers.Principal, slug, email string) (*CustomerExport,
	error) {
	address, err := customer.Check(email)
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	booked, err := o.Bookings.CustomerData(ctx, business.ID, address)
	if err != nil {
		return nil, err
	}
	reserved, err := o.Rentals.ForBusiness(business.ID).CustomerData(ctx, slug, address)
	if err != nil {
		return nil, err
	}
	written, err := o.Notifications.CustomerData(ctx, business.ID, address)
	if err != nil {
		return nil, err
	}
	if max(len(booked.Bookings), len(booked.Tickets), len(reserved.Reservations)) > customer.MaxExported ||
		len(written.Messages) > notifications.MaxExported {
		return nil, fault.Newf(fault.Conflict, "More than %d bookings, orders or reservations, or %d messages, have "+
			"this address, which is no one customer's then; list them instead.",
			customer.MaxExported, notifications.MaxExported)
	}
	o.LogChange(ctx, by, "export customer", slug)
	return &CustomerExport{
		Email: address, ExportedAt: o.Clock.Now().UTC().Truncate(time.Second),
		Bookings: booked.Bookings, Tickets: booked.Tickets, Reservations: reserved.Reservations,
		Messages: written.Messages,
	}, nil
}

// EraseCustomer erases a customer's data. Unless `erase.Force` is true, it keeps the data in future bookings and
// reservations, and returns a list of these bookings and reservations. All records of sales stay, but without the
// customer's data: each record keeps the object that was sold, the time and the price. EraseCustomer calls the
// notifications service last, because that service keeps the messages about the bookings that keep their data.
//
// If a service was unavailable, the caller can repeat the call to erase the remaining data. Faults: invalid_parameter
// for an invalid address; conflict for too many future bookings and reservations to list; outcome_unknown if a service
// was unavailable after another service had erased data.
func (o *UseCases) EraseCustomer(ctx context.Context, by peers.Principal, slug string,
	erase customer.Erase) (*customer.Forgotten, error) {
	address, err := customer.Check(erase.Email)
	if err != nil {
		return nil, err
	}
	erase.Email = address
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	erased, err := o.Bookings.EraseCustomer(ctx, business.ID, erase)
	if err != nil {
		return nil, err
	}
	reserved, err := o.Rentals.ForBusiness(business.ID).EraseCustomer(ctx, slug, erase)
	if err != nil {
		return nil, peers.ToUnfinishedFault(err)
	}
	erased.Reservations = reserved.Reservations
	erased.Ahead = append(erased.Ahead, reserved.Ahead...)
	slices.SortFunc(erased.Ahead, func(a, b customer.Ahead) int { return a.StartsAt.Compare(b.StartsAt) })
	messages, err := o.Notifications.EraseCustomer(ctx, business.ID,
		notifications.Erase{Email: address, Stay: listIDs(erased.Ahead)})
	if err != nil {
		return nil, peers.ToUnfinishedFault(err)
	}
	o.LogChange(ctx, by, "erase customer", slug, slog.Int("bookings", erased.Bookings),
		slog.Int("tickets", erased.Tickets),
		slog.Int("reservations", erased.Reservations), slog.Int("messages", messages.Messages),
		slog.Int("deliveries", messages.Deliveries),
		slog.Int("ahead", len(erased.Ahead)), slog.Bool("forced", erase.Force))
	return &customer.Forgotten{Erased: *erased, Messages: messages.Messages, Deliveries: messages.Deliveries}, nil
}

func listIDs(ahead []customer.Ahead) []uuid.UUID {
	ids := make([]uuid.UUID, len(ahead))
	for i, a := range ahead {
		ids[i] = a.ID
	}
	return ids
}
