package sales

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// CustomerDetails has the record of a customer, and the bookings, ticket orders, reservations and messages of all
// addresses, newest first. Each list comes from one service. If this service is unavailable, the list is marked as
// unknown.
type CustomerDetails struct {
	Address      string // key of the address by which the customer was found
	Record       customer.Record
	Bookings     peers.Part[booking.Booking]
	Tickets      peers.Part[booking.Ticket]
	Reservations peers.Part[rental.Reservation]
	Messages     peers.Part[notifications.StoredMessage]
	Visits       Visits
	Spent        []Spending // nil if a list is unknown, because the sums would then be too small
}

// Email returns the first e-mail address of the customer, or "".
func (d *CustomerDetails) Email() string { return firstEmail(d.Record.Keys()) }

// Visits summarizes a customer's bookings.
type Visits struct {
	Next    *time.Time // start of the next one; nil: none
	Last    *time.Time // start of the last one that the customer did not miss; nil: none
	Count   int        // past ones that the customer did not miss
	NoShows int
}

// countVisits summarizes bookings at the instant `now`. Cancelled ones do not count.
func countVisits(bookings []booking.Booking, now time.Time) Visits {
	var v Visits
	add := func(start time.Time) {
		switch {
		case start.After(now):
			if v.Next == nil || start.Before(*v.Next) {
				v.Next = &start
			}
		default:
			v.Count++
			if v.Last == nil || start.After(*v.Last) {
				v.Last = &start
			}
		}
	}
	for _, b := range bookings {
		switch b.Status {
		case booking.StatusCancelled:
		case booking.StatusNoShow:
			v.NoShows++
		default:
			add(b.StartsAt)
		}
	}
	return v
}

// maxCustomerEntries is the maximum number of items that each list of [CustomerDetails] has. An export
// ([UseCases.ExportCustomer]) has all items.
const maxCustomerEntries = 50

// LoadCustomer returns the record of the customer with the given address, and the bookings, ticket orders, reservations
// and messages. Fault: invalid_parameter for an invalid address.
func (o *UseCases) LoadCustomer(ctx context.Context, slug, of string) (*CustomerDetails, error) {
	address, err := customer.CheckAddress(of)
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	d := &CustomerDetails{Address: address}
	taken, err := o.loadBookings(ctx, business, d)
	if err != nil {
		return nil, err
	}
	var rented rental.CustomerData
	keys := listKeys(&taken, address)
	err = peers.RunTogether(func() error {
		data, err := o.Rentals.ForBusiness(business.ID).CustomerData(ctx, slug, keys...)
		if err != nil {
			return peers.SetPart(ctx, o.Logger, &d.Reservations, nil, "", err)
		}
		rented = *data
		d.Reservations = reverseToPart(slices.Clone(data.Reservations))
		return nil
	}, func() error {
		messages, err := o.findMessages(ctx, business.ID, keys)
		if err != nil {
			return peers.SetPart(ctx, o.Logger, &d.Messages, nil, "", err)
		}
		d.Messages = reverseToPart(messages)
		return nil
	})
	if err == nil && !d.Bookings.IsUnknown && !d.Reservations.IsUnknown {
		d.Spent = SumSpending(taken.Bookings, taken.Tickets, rented.Reservations)
	}
	return d, err
}

// loadBookings sets the parts of `d` that the booking service knows. If the service is unavailable, the customer has
// one address.
func (o *UseCases) loadBookings(ctx context.Context, business *catalog.Snapshot,
	d *CustomerDetails) (booking.CustomerData, error) {
	data, err := o.Bookings.CustomerData(ctx, business.ID, d.Address)
	if err != nil {
		d.Tickets.IsUnknown = true
		if customer.IsEmail(d.Address) {
			d.Record.Emails = []string{d.Address}
		} else {
			d.Record.Phones = []string{d.Address}
		}
		return booking.CustomerData{}, peers.SetPart(ctx, o.Logger, &d.Bookings, nil, "", err)
	}
	d.Record = data.Record
	d.Visits = countVisits(data.Bookings, o.Clock.Now())
	d.Bookings = reverseToPart(slices.Clone(data.Bookings))
	d.Tickets = reverseToPart(slices.Clone(data.Tickets))
	return *data, nil
}

// CustomerSummary is a customer as the admin API shows it.
type CustomerSummary struct {
	customer.Record
	NextVisit *time.Time     `json:"next_visit"`
	LastVisit *time.Time     `json:"last_visit"`
	Visits    int            `json:"visits"`
	NoShows   int            `json:"no_shows"`
	Spent     []SpentSummary `json:"spent"`
}

// SpentSummary is a [Spending] as the admin API shows it.
type SpentSummary struct {
	Currency string      `json:"currency"`
	Total    json.Number `json:"total"`
	Paid     json.Number `json:"paid_online"`
}

// FindCustomer returns the record of a customer with a summary of the sales. Faults: invalid_parameter for an invalid
// address; not_found if no data is stored about the customer; service_unavailable.
func (o *UseCases) FindCustomer(ctx context.Context, slug, of string) (*CustomerSummary, error) {
	d, err := o.LoadCustomer(ctx, slug, of)
	if err != nil {
		return nil, err
	}
	if d.Bookings.IsUnknown || d.Reservations.IsUnknown {
		return nil, fault.New(fault.PeerUnavailable, "A part of the system does not answer; try again shortly.")
	}
	if d.Record.ID == nil && !d.Bookings.IsShown() && !d.Tickets.IsShown() && !d.Reservations.IsShown() {
		return nil, fault.New(fault.NotFound, "There is no such customer.")
	}
	summary := &CustomerSummary{Record: d.Record, NextVisit: d.Visits.Next, LastVisit: d.Visits.Last,
		Visits: d.Visits.Count, NoShows: d.Visits.NoShows, Spent: []SpentSummary{}}
	for _, s := range d.Spent {
		summary.Spent = append(summary.Spent, SpentSummary{s.Currency, json.Number(s.Total.String()),
			json.Number(s.Paid.String())})
	}
	return summary, nil
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
