package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// FindLocation returns the location with this id, or nil if no location has the id.
func (o *Snapshot) FindLocation(id uuid.UUID) *Location {
	for i := range o.Locations {
		if o.Locations[i].ID == id {
			return &o.Locations[i]
		}
	}
	return nil
}

// DefaultLocation returns the location of everything for which the owner names no location: the
// first location of the business. It returns nil if the business has no locations.
func (o *Snapshot) DefaultLocation() *Location {
	if len(o.Locations) == 0 {
		return nil
	}
	return &o.Locations[0]
}

// UnstoredLocation returns the location of bookings without a stored location, which were made while customers always
// came to the same place: the first place or, without one, the default location. It returns nil if the business has no
// locations.
func (o *Snapshot) UnstoredLocation() *Location {
	return cmp.Or(o.Place(), o.DefaultLocation())
}

// LocationsOf returns the locations at which a service is offered, in the order of preference. If the owner
// names none, these are all locations of the kind [KindPlace] or, if there are none, all locations.
func (o *Snapshot) LocationsOf(s *Service) []*Location {
	var offered []*Location
	if len(s.LocationIDs) > 0 {
		for _, id := range s.LocationIDs {
			if l := o.FindLocation(id); l != nil {
				offered = append(offered, l)
			}
		}
		return offered
	}
	hasPlace := o.Place() != nil
	for i := range o.Locations {
		if l := &o.Locations[i]; l.Kind == KindPlace || !hasPlace {
			offered = append(offered, l)
		}
	}
	return offered
}

// CommonLocations returns the locations at which all services of an appointment are offered, in the order of
// the first service. The result is empty if there is none, and if the business has no locations.
func (o *Snapshot) CommonLocations(services []*Service) []*Location {
	if len(o.Locations) == 0 || len(services) == 0 {
		return nil
	}
	common := o.LocationsOf(services[0])
	for _, s := range services[1:] {
		offered := o.LocationsOf(s)
		common = slices.DeleteFunc(common, func(l *Location) bool { return !slices.Contains(offered, l) })
	}
	return common
}

// ChooseLocations returns the locations at which a request for an appointment can be served. The argument
// `id` is the location that the request names; nil stands for any. The result has one element if `id` is set,
// and is empty if the services have no location in common. Without locations, the result is nil, and `id` is ignored.
//
// Faults: location_not_found if `id` is unknown, or if one of the services is not offered there.
func (o *Snapshot) ChooseLocations(services []*Service, id *uuid.UUID) ([]*Location, error) {
	common := o.CommonLocations(services)
	if id == nil || len(o.Locations) == 0 {
		return common, nil
	}
	for _, l := range common {
		if l.ID == *id {
			return []*Location{l}, nil
		}
	}
	return nil, fault.Newf(fault.LocationNotFound, "Location not found: %s", *id)
}

// SessionLocation returns the location of a class session: its own location or, if the owner names none,
// the first location of the class. It returns nil if the business has no locations.
func (o *Snapshot) SessionLocation(class *Service, session *ClassSession) *Location {
	if session.LocationID != nil {
		if l := o.FindLocation(*session.LocationID); l != nil {
			return l
		}
	}
	if offered := o.LocationsOf(class); len(offered) > 0 {
		return offered[0]
	}
	return nil
}

// EventLocation returns the location of an event. It returns nil if the business has no locations.
func (o *Snapshot) EventLocation(e *Event) *Location { return o.findOrDefault(e.LocationID) }

// RentalLocation returns the location at which customers pick up and return a
// rental. It returns nil if the business has no locations.
func (o *Snapshot) RentalLocation(r *Rental) *Location { return o.findOrDefault(r.LocationID) }

// SoldLocation returns the location of the event or the rental with this id. If the business no longer offers it, the
// result is the place of the business if this is the only location. Otherwise the location is unknown, and the result
// is nil.
func (o *Snapshot) SoldLocation(id uuid.UUID) *Location {
	if e := o.Event(id); e != nil {
		return o.EventLocation(e)
	}
	if r := o.Rental(id); r != nil {
		return o.RentalLocation(r)
	}
	if o.HasLocations() {
		return nil
	}
	return o.Place()
}

func (o *Snapshot) findOrDefault(id *uuid.UUID) *Location {
	if id != nil {
		if l := o.FindLocation(*id); l != nil {
			return l
		}
	}
	return o.DefaultLocation()
}

// HasLocations reports whether bookings of the business have a location. They do not if
// customers always come to the same place, because the location then follows from the snapshot.
func (o *Snapshot) HasLocations() bool {
	return len(o.Locations) > 1 || len(o.Locations) == 1 && o.Locations[0].Kind != KindPlace
}

// ComesToCustomers reports whether the business has a location of the kind [KindCustomerAddress].
func (o *Snapshot) ComesToCustomers() bool {
	return slices.ContainsFunc(o.Locations, func(l Location) bool { return l.Kind == KindCustomerAddress })
}

// Serves reports whether an address is in the area of a location of the kind [KindCustomerAddress]. Spaces,
// hyphens and case in postal codes do not matter.
func (l *Location) Serves(a postal.Address) bool {
	if len(l.Countries) > 0 && !slices.Contains(l.Countries, a.Country) {
		return false
	}
	code := normalizePostalCode(a.PostalCode)
	return len(l.PostalCodes) == 0 || slices.ContainsFunc(l.PostalCodes, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		prefix = normalizePostalCode(prefix)
		return code == prefix || isPrefix && strings.HasPrefix(code, prefix)
	})
}

func normalizePostalCode(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// LocationReach returns how far bookings at other locations can lie from an appointment and still prevent it, in
// addition to the buffers of the services. It is 0 if the business has no location that needs a change or travel.
func (o *Snapshot) LocationReach() time.Duration {
	if len(o.Locations) > 1 || len(o.Locations) == 1 && o.Locations[0].TravelMinutes > 0 {
		return MaxLocationChange * time.Minute
	}
	return 0
}

// OpeningOn returns the opening windows of a location that start on a date. The argument `l` may be nil; it then stands
// for a business without locations. The first of these that exists determines the windows:
//
//  1. the override of the location for the date
//  2. the override of the business for the date, if it closes the business or the location has no own hours
//  3. the hours of the location
//  4. the hours of the business
func (o *Snapshot) OpeningOn(l *Location, d timespan.Date) []timespan.Window {
	if l == nil {
		return o.WindowsOn(d)
	}
	if own := findOverride(l.Overrides, d); own != nil {
		return own.Hours
	}
	if l.Hours == nil {
		return o.WindowsOn(d)
	}
	if business := findOverride(o.Overrides, d); business != nil && len(business.Hours) == 0 {
		return nil
	}
	return l.Hours[d.Weekday()]
}

// ClosesOn reports whether an override closes the location on a date: the override of the
// location or, without one, the override of the business. The argument `l` may be nil.
func (o *Snapshot) ClosesOn(l *Location, d timespan.Date) bool {
	if l != nil {
		if own := findOverride(l.Overrides, d); own != nil {
			return len(own.Hours) == 0
		}
	}
	business := findOverride(o.Overrides, d)
	return business != nil && len(business.Hours) == 0
}

func findOverride(overrides []DayOverride, d timespan.Date) *DayOverride {
	for i := range overrides {
		if overrides[i].Date == d {
			return &overrides[i]
		}
	}
	return nil
}

// StaffWindows returns the windows in which a staff member works at a location and that start on a date, before they
// are cut to the opening windows. The argument `l` may be nil, for a business without locations. The second
// result is false if the member works in the opening windows of the location.
//
// An override of the member without hours applies to every location. An override with hours replaces the windows at
// the locations at which the member works on the weekday or, if there are none, at all locations in At.
func (o *Snapshot) StaffWindows(m *Staff, l *Location, d timespan.Date) ([]timespan.Window, bool) {
	override := findOverride(m.Overrides, d)
	if l == nil || len(m.At) == 0 {
		switch {
		case override != nil:
			return override.Hours, true
		case m.Hours != nil:
			return m.Hours[d.Weekday()], true
		}
		return nil, false
	}
	own := m.HoursAt(l.ID)
	switch {
	case own == nil:
		return nil, true
	case override == nil:
		return own[d.Weekday()], true
	case len(own[d.Weekday()]) > 0 || !m.worksOn(d.Weekday()):
		return override.Hours, true
	}
	return nil, true
}

// HoursAt returns the hours in At for a location, or nil if At does not contain the location.
func (s *Staff) HoursAt(location uuid.UUID) *WeekHours {
	for i := range s.At {
		if s.At[i].LocationID == location {
			return &s.At[i].Hours
		}
	}
	return nil
}

// worksOn reports whether the hours in At have a window on a weekday.
func (s *Staff) worksOn(weekday time.Weekday) bool {
	return slices.ContainsFunc(s.At, func(at StaffLocation) bool { return len(at.Hours[weekday]) > 0 })
}
