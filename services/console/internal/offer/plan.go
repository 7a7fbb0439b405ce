package offer

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Plan returns the changes that publishing a manifest would make, and publishes nothing. Plan also returns the future
// bookings, reservations and tickets that would conflict with the new offer and that the principal's role may see.
// Fault: invalid_parameter with the problems of the manifest, as [UseCases.Publish] returns it.
func (o *UseCases) Plan(ctx context.Context, by peers.Principal, slug string, text []byte) (*plan.Plan, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	snapshot, err := o.Businesses.Compile(ctx, slug, text)
	if err != nil {
		return nil, err
	}
	warnings, err := FindWarnings(ctx, slug, text, o.Clock.Now())
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{
		Version: business.Version, Warnings: warnings,
		Conflicts: plan.Conflicts{Bookings: []plan.Booking{}, Reservations: []rental.Conflict{},
			Tickets: []plan.Tickets{}},
	}
	asks := []func() error{
		func() error { return o.compare(ctx, business, text, p) },
		func() error { return o.findAffectedBookings(ctx, by, business, snapshot, &p.Conflicts) },
		func() error { return o.countErased(ctx, business, snapshot, p) },
	}
	var sales affectedSales
	if by.PermissionIn(business.ID, access.SeeSales) != access.None {
		asks = append(asks,
			func() error { return o.countRelocated(ctx, business, text, p) },
			func() error { return sales.findReservations(ctx, o, business, snapshot) },
			func() error { return sales.findTickets(ctx, o, business, snapshot) },
		)
	}
	if business.Timezone != snapshot.Timezone || business.Currency != snapshot.Currency {
		asks = append(asks, func() error { return o.countKept(ctx, business, p) })
	}
	if err := peers.RunTogether(asks...); err != nil {
		return nil, err
	}
	sales.addTo(&p.Conflicts)
	return p, nil
}

// countKept counts the future bookings, tickets and reservations of a business if the new offer has another time zone
// or currency. These bookings, tickets and reservations keep the old time zone and currency.
func (o *UseCases) countKept(ctx context.Context, business *catalog.Snapshot, p *plan.Plan) error {
	ahead, err := o.countFutureSales(ctx, business)
	if err == nil && ahead.Count() > 0 {
		p.Kept = &ahead
	}
	return err
}

// compare lists the differences between the newest version and the manifest to publish.
func (o *UseCases) compare(ctx context.Context, business *catalog.Snapshot, text []byte, p *plan.Plan) error {
	before, err := o.loadManifest(ctx, business.Slug, business.Version)
	if err != nil {
		return err
	}
	after, err := parseManifest(ctx, business.Slug, text)
	if err != nil {
		return err
	}
	p.Changes, p.MoreChanges, err = changes.Compare(before, after)
	return err
}

// countErased counts the customers whose data would be removed because the new manifest lowers
// privacy.keep_customers_days.
func (o *UseCases) countErased(ctx context.Context, business, snapshot *catalog.Snapshot, p *plan.Plan) error {
	days := snapshot.Privacy.KeepCustomersDays
	if days >= business.Privacy.KeepCustomersDays {
		return nil
	}
	expiring := customer.Expiring{Then: o.Clock.Now().AddDate(0, 0, -days)}
	var expiringList, reserved *customer.ExpiringList
	err := peers.RunTogether(func() error {
		var err error
		expiringList, err = o.Bookings.ExpiringCustomers(ctx, business.ID, expiring)
		return err
	}, func() error {
		var err error
		reserved, err = o.Rentals.ForBusiness(business.ID).ExpiringCustomers(ctx, business.Slug, expiring)
		return err
	})
	if err != nil {
		return err
	}
	p.Erasure = &plan.Erasure{KeepCustomersDays: days, Before: business.Privacy.KeepCustomersDays}
	p.Erasure.Customers, p.Erasure.HasMore = customer.CountExpiring(expiringList, reserved)
	return nil
}

// findAffectedBookings adds the future bookings that conflict with the new offer to the argument `into`.
func (o *UseCases) findAffectedBookings(ctx context.Context, by peers.Principal, business, snapshot *catalog.Snapshot,
	into *plan.Conflicts) error {
	found, more, err := o.listConflictingBookings(ctx, by, business, snapshot)
	if err != nil {
		return err
	}
	into.IsIncomplete = more
	for _, b := range found {
		if into.Add(b.IsExisting); len(into.Bookings) == plan.MaxListed {
			into.Omitted++
			continue
		}
		into.Bookings = append(into.Bookings, b)
	}
	return nil
}

// listConflictingBookings asks the availability service which future bookings conflict with the offer `snapshot`. The
// second result reports whether there are more future bookings than it has checked.
func (o *UseCases) listConflictingBookings(ctx context.Context, by peers.Principal,
	business, snapshot *catalog.Snapshot) ([]plan.Booking, bool, error) {
	future, more, err := o.listFutureBookings(ctx, by, business)
	if err != nil || len(future) == 0 {
		return nil, false, err
	}
	outsideRequest := availability.ConflictsRequest{Slug: business.Slug, OfferVersion: business.Version,
		Offer:    *snapshot,
		Bookings: make([]availability.FutureBooking, len(future))}
	for i := range future {
		outsideRequest.Bookings[i] = toFutureBooking(&future[i])
	}
	answer, err := availability.FindConflicts.Call(ctx, o.Availability, outsideRequest)
	if err != nil {
		return nil, false, err
	}
	var found []plan.Booking
	for _, c := range addRelocated(answer.Conflicts, future, business, snapshot) {
		if c.Index >= 0 && c.Index < len(future) {
			found = append(found, plan.Booking{Booking: future[c.Index], Reason: c.Reason, IsExisting: c.Already})
		}
	}
	return found, more, nil
}

// addRelocated adds a conflict for each booking without a stored location that has no new conflict, if these bookings are
// at another location in the new offer.
func addRelocated(conflicts []availability.Conflict, future []booking.Booking,
	business, snapshot *catalog.Snapshot) []availability.Conflict {
	from, to := business.UnstoredLocation(), snapshot.UnstoredLocation()
	if from == nil || to == nil || to.ID == from.ID {
		return conflicts
	}
	reason := availability.Reason{Rule: availability.RuleRelocated, Name: from.Name.Text + " → " + to.Name.Text}
	reason.Explain()
	hasConflict := map[int]bool{}
	for _, c := range conflicts {
		hasConflict[c.Index] = hasConflict[c.Index] || !c.Already
	}
	for i := range future {
		if future[i].Location == nil && !hasConflict[i] {
			conflicts = append(conflicts, availability.Conflict{Index: i, Reason: reason})
		}
	}
	return conflicts
}

// listFutureBookings reads the pending and confirmed bookings that have not ended and that the principal may see. The
// bookings of each status are sorted by start. The second result reports whether there are more such bookings, which
// listFutureBookings has not read.
func (o *UseCases) listFutureBookings(ctx context.Context, by peers.Principal,
	business *catalog.Snapshot) ([]booking.Booking, bool,
	error) {
	now := o.Clock.Now()
	from := business.Today(now) - 1 // a booking of yesterday may end after midnight
	var future []booking.Booking
	for _, status := range []string{booking.StatusConfirmed, booking.StatusPending} {
		page := request.Page{Limit: 1000}
		for {
			list, err := o.Sales.ListBookings(ctx, by, business.Slug, booking.Filter{From: &from, Status: status}, page)
			if err != nil {
				return nil, false, err
			}
			for i := range list.Bookings {
				if b := &list.Bookings[i]; b.EndsAt.After(now) && len(b.Services) > 0 &&
					len(b.Services) <= availability.MaxFutureServices {
					future = append(future, *b)
				}
			}
			if len(future) > availability.MaxFutureBookings {
				return future[:availability.MaxFutureBookings], true, nil
			}
			if page.Cursor = list.NextCursor; page.Cursor == "" {
				break
			}
		}
	}
	return future, false, nil
}

func toFutureBooking(b *booking.Booking) availability.FutureBooking {
	h := availability.FutureBooking{
		StartsAt: b.StartsAt.Unix(), StaffID: b.StaffID, SessionID: b.ClassScheduleID, PartySize: b.PartySize,
		PerService: b.IsPackage && b.StaffingMode == availability.StaffingPerService,
	}
	if b.StaffName != nil {
		h.StaffName = *b.StaffName
	}
	if b.Location != nil {
		h.LocationID, h.LocationName = &b.Location.ID, b.Location.Name
	}
	for _, s := range b.Services {
		h.Services = append(h.Services, availability.FutureService{
			ID: s.ID, Name: s.Name, VariantID: s.VariantID, VariantName: s.VariantName,
			DurationMinutes: s.DurationMinutes,
		})
	}
	return h
}
