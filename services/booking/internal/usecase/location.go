package usecase

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// place is where a booking may take place.
type place struct {
	location *uuid.UUID  // the only permitted location; nil permits every location of the services
	excluded []uuid.UUID // locations of the services that are not permitted for this customer
	address  *bookings.CustomerAddress
	refusal  error // why the first of the excluded locations is not permitted; nil without excluded locations
}

// contact is the part of the customer's data that locations can require.
type contact struct {
	address  *bookings.CustomerAddress // nil without an address
	hasPhone bool                      // also true if no telephone number is necessary, because the owner books
}

// checkLocation refuses a location that the actor may not use. Fault: location_not_found.
func checkLocation(ctx context.Context, id uuid.UUID) error {
	if actor.MayUse(ctx, id) {
		return nil
	}
	return fault.Newf(fault.LocationNotFound, "Location not found: %s", id)
}

// requestedPlace returns where the requested booking may take place. Faults: invalid_parameter if a field is invalid,
// if the services have no location in common, or if the address or the telephone number is missing;
// location_not_found; outside_area.
func requestedPlace(ctx context.Context, offer *catalog.Snapshot, by actor.Kind, r *request.Request,
	services []*catalog.Service) (place, error) {
	if len(offer.Locations) == 0 {
		return place{}, nil
	}
	id, errID := r.LocationID()
	address, errAddress := r.CustomerAddress()
	if err := cmp.Or(errID, errAddress); err != nil {
		return place{}, err
	}
	return choosePlace(ctx, offer, services, id, contact{address, by == actor.Owner || r.CustomerPhone != nil})
}

// choosePlace checks that services can be booked together at a location. The argument `id` is the location; nil
// stands for any location that is possible with the customer's data and that the actor may use. Faults:
// invalid_parameter, location_not_found, outside_area.
func choosePlace(ctx context.Context, offer *catalog.Snapshot, services []*catalog.Service, id *uuid.UUID,
	c contact) (place, error) {
	permitted, err := offer.ChooseLocations(services, id)
	if err != nil {
		return place{}, err
	}
	if len(permitted) == 0 {
		return place{}, fault.New(fault.InvalidParameter,
			"service_ids: these services are not offered at a common location; book them one by one.")
	}
	p := place{location: id, address: c.address}
	for _, l := range permitted {
		if !actor.MayUse(ctx, l.ID) { // no reason for a refusal while another location is possible
			p.excluded = append(p.excluded, l.ID)
		} else if err := cmp.Or(checkCustomerAddress(l, c.address), checkPhone(l, c.hasPhone)); err != nil {
			p.excluded, p.refusal = append(p.excluded, l.ID), cmp.Or(p.refusal, err)
		}
	}
	if len(p.excluded) < len(permitted) {
		return p, nil
	}
	return place{}, cmp.Or(p.refusal, checkLocation(ctx, permitted[0].ID))
}

// checkPhone refuses a location at which the business calls the customer, if the customer gives no
// telephone number. Fault: invalid_parameter.
func checkPhone(l *catalog.Location, hasPhone bool) error {
	if hasPhone || !l.NeedsCustomerPhone() {
		return nil
	}
	return fault.New(fault.InvalidParameter,
		"customer_phone: the business calls the customer at the time of the booking; send a telephone number.")
}

// checkCustomerAddress checks that a booking at the location has the address that it needs. The argument `a` is the
// customer's address, or nil. Faults: invalid_parameter if the address or a part of it is missing; outside_area.
func checkCustomerAddress(l *catalog.Location, a *bookings.CustomerAddress) error {
	switch {
	case l.Kind != catalog.KindCustomerAddress:
		return nil
	case a == nil:
		return fault.New(fault.InvalidParameter, "customer_address: this booking takes place at the customer's address; "+
			"send an object with street, postal_code, city and country.")
	case a.Country == "" && len(l.Countries) > 0:
		return fault.Newf(fault.InvalidParameter, "customer_address.country: is missing; send one of %s.",
			strings.Join(l.Countries, ", "))
	case a.PostalCode == "" && len(l.PostalCodes) > 0:
		return fault.New(fault.InvalidParameter, "customer_address.postal_code: is missing; send the postal code.")
	case !l.Serves(a.Address):
		return fault.New(fault.OutsideArea,
			"The business does not come to this address; choose another location, or ask the business.")
	}
	return nil
}

// addressAt returns the address to store with a booking at the location: the customer's
// address for the kind customer_address, otherwise nil.
func (p place) addressAt(l *store.Location) *bookings.CustomerAddress {
	if l == nil || l.Kind != catalog.KindCustomerAddress {
		return nil
	}
	return p.address
}

// choosePlace returns where the booking takes place after the change: at the new location or, if only the time
// changes, at the location that the booking has. A booking without a stored location was made before the business had
// several. Its location is the default location, or any location if the services are not offered there.
//
// Faults: those of the function choosePlace for a new location; conflict if the services are no longer
// offered at the location of the booking.
func (m rescheduleRequest) choosePlace(ctx context.Context, b store.Booking,
	services []*catalog.Service) (place, error) {
	// The booking may keep its location: the owner can book it there without a telephone number.
	location := m.LocationID
	if location == nil && m.Address != nil && b.Location != nil { // the new address must be in the served area
		location = &b.Location.ID
	}
	keepsLocation := location != nil && b.Location != nil && *location == b.Location.ID
	c := contact{address: cmp.Or(m.Address, b.Customer.Address),
		hasPhone: m.isByOwner || keepsLocation || b.Customer.Phone != nil}
	switch {
	case location != nil && len(m.offer.Locations) == 0:
		return place{}, fault.Newf(fault.LocationNotFound, "Location not found: %s", *location)
	case location != nil:
		return choosePlace(ctx, m.offer, services, location, c)
	case !m.offer.HasLocations():
		return place{}, nil
	case b.Location == nil:
		p, err := choosePlace(ctx, m.offer, services, &m.offer.UnstoredLocation().ID, c)
		if err != nil {
			return choosePlace(ctx, m.offer, services, nil, c)
		}
		return p, nil
	}
	if _, err := m.offer.ChooseLocations(services, &b.Location.ID); err != nil {
		return place{}, fault.Newf(fault.Conflict,
			"%s is not offered at the location %s any more, so the booking cannot be rescheduled; change its location first.",
			b.Services[0].Name, b.Location.Name)
	}
	return place{location: &b.Location.ID, address: c.address}, nil
}

// keepTime sets the requested time to the time of the booking if only the location changes. Fault: conflict for
// a booking in the repeated hour at the end of daylight saving time, because a local time means its first hour.
func (m *rescheduleRequest) keepTime(b store.Booking) error {
	if !m.keepsTime {
		return nil
	}
	local := b.StartsAt.In(m.offer.Location())
	m.Date = timespan.DateOf(b.StartsAt, m.offer.Location())
	m.Time = timespan.TimeOfDay(local.Hour()*60 + local.Minute())
	if timespan.Instant(m.Date, m.Time, m.offer.Location()) != b.StartsAt.Unix() {
		return fault.New(fault.Conflict,
			"The booking starts in the hour that the clocks repeat; reschedule it to another time.")
	}
	return nil
}

// MeetingLink returns the link to the online meeting of a booking. It returns "" if the booking has none, if the
// booking is not confirmed, or if a payment that is due online is missing.
func MeetingLink(links *link.Links, b store.Booking) string {
	isPaid := b.Payment == nil || b.Payment.Status == store.PaymentPaid
	if b.Location == nil || b.Status != state.Confirmed || !isPaid {
		return ""
	}
	return links.RoomURL(b.Location.Link, b.Location.Secret, b.ID)
}

// newLocation returns the location of an assignment as it is stored with the
// booking. It returns nil if bookings of the business have no location.
func (q question) newLocation(c availability.Assignment, links *link.Links) *store.Location {
	if c.LocationID == nil || !q.offer.HasLocations() {
		return nil
	}
	l := q.offer.FindLocation(*c.LocationID)
	if l == nil {
		return nil
	}
	at := &store.Location{ID: l.ID, Kind: l.Kind, Name: l.Name.Text}
	if l.Kind == catalog.KindLink {
		at.Link, at.Secret = l.Link, links.RoomSecret()
	}
	return at
}
