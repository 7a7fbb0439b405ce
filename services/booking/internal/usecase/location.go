package usecase

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// requestedLocation returns the location that a request names, or nil if it names none. Faults: invalid_parameter if
// the id is malformed or the services have no location in common; location_not_found.
func requestedLocation(offer *catalog.Snapshot, r *request.Request, services []*catalog.Service) (*uuid.UUID, error) {
	if len(offer.Locations) == 0 {
		return nil, nil
	}
	id, err := r.LocationID()
	if err != nil {
		return nil, err
	}
	return id, checkLocation(offer, services, id)
}

// checkLocation refuses services that cannot be booked together at a location. The argument
// `id` is the location; nil stands for any. Faults: invalid_parameter, location_not_found.
func checkLocation(offer *catalog.Snapshot, services []*catalog.Service, id *uuid.UUID) error {
	common, err := offer.ChooseLocations(services, id)
	if err == nil && len(common) == 0 {
		err = fault.New(fault.InvalidParameter,
			"service_ids: these services are not offered at a common location; book them one by one.")
	}
	return err
}

// chooseLocation returns the location of the booking after the change: the new location or, if only the time
// changes, the location that the booking has. A booking without a stored location was made before the business had
// several. Its location is the default location, or any location if the services are not offered there.
//
// Faults: location_not_found; conflict if the services are no longer offered at the location of the booking.
func (m rescheduleRequest) chooseLocation(b store.Booking, services []*catalog.Service) (*uuid.UUID, error) {
	switch {
	case m.relocateTo != nil && len(m.offer.Locations) == 0:
		return nil, fault.Newf(fault.LocationNotFound, "Location not found: %s", *m.relocateTo)
	case m.relocateTo != nil:
		return m.relocateTo, checkLocation(m.offer, services, m.relocateTo)
	case !m.offer.HasLocations():
		return nil, nil
	case b.Location == nil:
		id := m.offer.DefaultLocation().ID
		if checkLocation(m.offer, services, &id) != nil {
			return nil, nil
		}
		return &id, nil
	case checkLocation(m.offer, services, &b.Location.ID) != nil:
		return nil, fault.Newf(fault.Conflict,
			"%s is not offered at the location %s any more, so the booking cannot be rescheduled; change its location first.",
			b.Services[0].Name, b.Location.Name)
	}
	return &b.Location.ID, nil
}

// keepTime sets the requested time to the time of the booking if only the location changes. Fault: conflict for
// a booking in the repeated hour at the end of daylight saving time, because a local time means its first hour.
func (m *rescheduleRequest) keepTime(b store.Booking) error {
	if m.relocateTo == nil {
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

// checkPhone refuses a customer's booking without a telephone number if the business
// calls the customer at the location of the assignment. Fault: invalid_parameter.
func (q question) checkPhone(c availability.Assignment) error {
	if q.by == actor.Owner || q.request.CustomerPhone != nil || c.LocationID == nil {
		return nil
	}
	if l := q.offer.FindLocation(*c.LocationID); l == nil || !l.NeedsCustomerPhone() {
		return nil
	}
	return fault.New(fault.InvalidParameter,
		"customer_phone: the business calls the customer at the time of the booking; send a telephone number.")
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
