package sales

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// RentalOverview has lists of the present, future and problematic reservations of a business, and the numbers of
// free units.
type RentalOverview struct {
	Date     timespan.Date                  // today in the time zone of the business
	PickedUp peers.Part[rental.Reservation] // picked-up reservations: overdue ones first, then sorted by return time
	Due      peers.Part[rental.Reservation] // reservations not picked up yet whose dates include today
	Unpaid   peers.Part[rental.Reservation] // reservations that end today or later and whose online payment is pending
	// RefundFailed and Disputed have the reservations whose refund failed or whose payment is disputed. The owner must
	// act on these reservations, so the lists have all dates.
	RefundFailed, Disputed peers.Part[rental.Reservation]
	Upcoming               peers.Part[rental.Reservation] // reservations whose pickup is later in the fortnight
	Free                   Fortnight
}

// Fortnight has the number of free units of each rental on each of [FortnightDays] days.
type Fortnight struct {
	Days      []timespan.Date
	Rows      []FreeUnits
	IsUnknown bool
}

// FreeUnits has the number of free units of one rental on each day of a [Fortnight]. The number of a day is nil if the
// number is unknown, or if customers cannot reserve the rental for this day yet. If Closed is true for a day, customers
// can neither pick up nor return the rental on this day.
type FreeUnits struct {
	Rental *catalog.Rental
	Free   []*int
	Closed []bool
}

// newFreeUnits returns the row of a rental, in which the closed days are marked and all numbers are still unknown.
func newFreeUnits(business *catalog.Snapshot, r *catalog.Rental, days []timespan.Date) FreeUnits {
	row := FreeUnits{Rental: r, Free: make([]*int, len(days)), Closed: make([]bool, len(days))}
	for i, day := range days {
		row.Closed[i] = !business.HandsOverOn(r, day)
	}
	return row
}

const (
	// FortnightDays is the number of days of a Fortnight.
	FortnightDays       = 14
	maxRequestedRentals = 20 // maximum number of rentals in one request (interface.md §4)
	maxRentals          = 100
)

// LoadRentalOverview reads the lists of reservations of a [RentalOverview]. It also reads the numbers of free units on
// [FortnightDays] days; the argument `from` is the first day. If a service is unavailable, the data of this service is
// marked as unknown.
func (o *UseCases) LoadRentalOverview(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	from timespan.Date) (*RentalOverview, error) {
	today := business.Today(o.Clock.Now())
	r := &RentalOverview{Date: today}
	tomorrow, last := today+1, today+FortnightDays-1
	err := peers.RunTogether(
		o.newReservationsQuery(ctx, by, business, &r.PickedUp, rental.Filter{Status: rental.StatusPickedUp}),
		o.newReservationsQuery(ctx, by, business, &r.Due,
			rental.Filter{From: &today, To: &today, Status: rental.StatusReserved}),
		o.newReservationsQuery(ctx, by, business, &r.Unpaid, rental.Filter{From: &today, Status: rental.StatusPending}),
		o.newReservationsQuery(ctx, by, business, &r.RefundFailed, rental.Filter{Payment: booking.PaymentRefundFailed}),
		o.newReservationsQuery(ctx, by, business, &r.Disputed, rental.Filter{Payment: booking.PaymentDisputed}),
		o.newReservationsQuery(ctx, by, business, &r.Upcoming,
			rental.Filter{From: &tomorrow, To: &last, Status: rental.StatusReserved}),
		func() error { return o.loadFreeUnits(ctx, business, from, &r.Free) },
	)
	if err != nil {
		return nil, err
	}
	r.Upcoming.List = slices.DeleteFunc(r.Upcoming.List, func(one rental.Reservation) bool {
		return one.StartDate <= today
	})
	slices.SortStableFunc(r.PickedUp.List, func(a, b rental.Reservation) int {
		if a.Overdue != b.Overdue {
			if a.Overdue {
				return -1
			}
			return 1
		}
		return int(a.EndDate - b.EndDate)
	})
	return r, nil
}

// loadFreeUnits reads the numbers of free units of at most maxRentals active rentals. The argument `from` is the first
// day.
func (o *UseCases) loadFreeUnits(ctx context.Context, business *catalog.Snapshot, from timespan.Date,
	f *Fortnight) error {
	for i := range timespan.Date(FortnightDays) {
		f.Days = append(f.Days, from+i)
	}
	for i := range business.Rentals {
		if r := &business.Rentals[i]; r.Active && len(f.Rows) < maxRentals {
			f.Rows = append(f.Rows, newFreeUnits(business, r, f.Days))
		}
	}
	for rows := range slices.Chunk(f.Rows, maxRequestedRentals) {
		computed, err := o.requestFreeUnits(ctx, business.Slug, f.Days, rows)
		if err != nil && !fault.Is(err, fault.PeerUnavailable) {
			return err
		}
		f.IsUnknown = f.IsUnknown || err != nil || !computed
	}
	return nil
}

// requestFreeUnits sets the numbers of free units in the argument `rows`. It returns false if the rental service cannot
// determine the numbers now.
func (o *UseCases) requestFreeUnits(ctx context.Context, slug string, days []timespan.Date,
	rows []FreeUnits) (bool, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.Rental.ID.String()
	}
	answer, err := o.Rentals.AvailableDates(ctx, slug, url.Values{
		"start": {days[0].String()}, "end": {days[len(days)-1].String()}, "rental_id": {strings.Join(ids, ",")},
	})
	if err != nil {
		return false, err
	}
	var free struct {
		Days     map[string]map[uuid.UUID]int `json:"days"`
		Computed bool                         `json:"computed"`
	}
	if err := json.Unmarshal(answer, &free); err != nil {
		return false, err
	}
	for i, day := range days {
		for j, row := range rows {
			if n, ok := free.Days[day.String()][row.Rental.ID]; ok {
				rows[j].Free[i] = &n
			}
		}
	}
	return free.Computed, nil
}

// FindReservation returns one reservation. If the principal's role hides contact data, the reservation omits the
// customer's contact. Fault: not_found.
func (o *UseCases) FindReservation(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	id uuid.UUID) (*rental.Reservation, error) {
	found, err := o.Rentals.ForBusiness(business.ID).Reservation(ctx, business.Slug, id)
	if err == nil && hidesContact(by, business) {
		removeContact(found)
	}
	return found, err
}
