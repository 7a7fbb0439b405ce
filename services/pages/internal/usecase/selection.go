package usecase

import (
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The values of [Selection.Staff] that are not the id of a staff member.
const (
	AnyStaff           = "any"  // one free staff member for all services
	AnyStaffPerService = "each" // any free staff member, for each service separately
)

// Selection contains what a visitor has chosen so far. The URL of each step contains the selection in its query.
type Selection struct {
	Services []uuid.UUID
	Variants map[uuid.UUID]uuid.UUID
	Staff    string // "" if not chosen yet, [AnyStaff], [AnyStaffPerService] or the id of a staff member
	Date     *timespan.Date
	Time     *timespan.TimeOfDay
	Session  *uuid.UUID // id of the class session
	Location *uuid.UUID // nil if the visitor has no choice between locations
}

// maxServices is the maximum number of services of an appointment. POST /book has the same limit.
const maxServices = 20

// ReadSelection reads the chosen services, staff member and start from the query of a URL. The query contains
// service=ID or service=ID:VARIANT for each service, and staff, at, date, time and session. Fault: invalid_parameter.
func ReadSelection(query url.Values) (Selection, error) {
	var s Selection
	if len(query["service"]) > maxServices {
		return s, request.TooMany("service", maxServices)
	}
	for _, text := range query["service"] {
		if err := s.add(text); err != nil {
			return s, err
		}
	}
	if staff := query.Get("staff"); staff != "" && staff != AnyStaff && staff != AnyStaffPerService {
		id, err := request.ID("staff", staff)
		if err != nil {
			return s, err
		}
		s.Staff = id.String()
	} else {
		s.Staff = staff
	}
	if at := query.Get("at"); at != "" {
		id, err := request.ID("at", at)
		if err != nil {
			return s, err
		}
		s.Location = &id
	}
	return s.readStart(query)
}

func (s *Selection) add(text string) error {
	service, variant, hasVariant := strings.Cut(text, ":")
	id, err := request.ID("service", service)
	if err != nil {
		return err
	}
	s.Services = append(s.Services, id)
	if !hasVariant {
		return nil
	}
	variantID, err := request.ID("service", variant)
	if err != nil {
		return err
	}
	if s.Variants == nil {
		s.Variants = map[uuid.UUID]uuid.UUID{}
	}
	s.Variants[id] = variantID
	return nil
}

func (s Selection) readStart(query url.Values) (Selection, error) {
	get := request.Query(func(name string) []string {
		if value := query.Get(name); value != "" {
			return []string{value}
		}
		return nil
	})
	var err error
	if date := query.Get("date"); date != "" {
		d, err := request.Date("date", date)
		if err != nil {
			return s, err
		}
		s.Date = &d
	}
	if s.Time, err = get.OptionalTime("time"); err != nil {
		return s, err
	}
	s.Session, err = get.OptionalID("session")
	return s, err
}

// Values returns the selection as query parameters, which [ReadSelection] can read.
func (s Selection) Values() url.Values {
	v := url.Values{}
	for _, id := range s.Services {
		v.Add("service", s.serviceParam(id))
	}
	if s.Staff != "" {
		v.Set("staff", s.Staff)
	}
	if s.Date != nil {
		v.Set("date", s.Date.String())
	}
	if s.Time != nil {
		v.Set("time", s.Time.String())
	}
	if s.Session != nil {
		v.Set("session", s.Session.String())
	}
	if s.Location != nil {
		v.Set("at", s.Location.String())
	}
	return v
}

func (s Selection) serviceParam(id uuid.UUID) string {
	if variant, ok := s.Variants[id]; ok {
		return id.String() + ":" + variant.String()
	}
	return id.String()
}

// WithService returns a copy of the selection with one more service,
// given as ID or ID:VARIANT. The copy has no date and no time.
func (s Selection) WithService(service string) Selection {
	s.Services, s.Date, s.Time = slices.Clone(s.Services), nil, nil
	variants := map[uuid.UUID]uuid.UUID{}
	for service, variant := range s.Variants {
		variants[service] = variant
	}
	s.Variants = variants
	_ = s.add(service) // the text is valid, because it comes from the snapshot
	return s
}

// WithStaff returns a copy of the selection with another staff choice. The copy has no start.
func (s Selection) WithStaff(staff string) Selection {
	s.Staff, s.Date, s.Time, s.Session = staff, nil, nil, nil
	return s
}

// Filter returns a copy of the selection with another staff choice and with the same date, but without a time. The
// visitor then sees the starts of this date for the other choice.
func (s Selection) Filter(staff string) Selection {
	date := s.Date
	s = s.WithStaff(staff)
	s.Date = date
	return s
}

// WithLocation returns a copy of the selection with another location and with the same date, but without a time.
func (s Selection) WithLocation(id uuid.UUID) Selection {
	s.Location, s.Time, s.Session = &id, nil, nil
	return s
}

// WithDate returns a copy of the selection with another date. The copy has no time.
func (s Selection) WithDate(d timespan.Date) Selection {
	s.Date, s.Time, s.Session = &d, nil, nil
	return s
}

// WithStart returns a copy of the selection with another start.
func (s Selection) WithStart(slot Slot) Selection {
	s.Date, s.Time, s.Session = &slot.Date, &slot.Time, slot.ClassScheduleID
	return s
}

// calendarQuery returns the selection as query parameters of /slots and /available-dates.
func (s Selection) calendarQuery() url.Values {
	var ids []string
	for _, id := range s.Services {
		ids = append(ids, id.String())
	}
	q := url.Values{"service_id": {strings.Join(ids, ",")}}
	if variants := s.variantPairs(); len(variants) > 0 {
		q.Set("variants", strings.Join(variants, ","))
	}
	if s.Location != nil {
		q.Set("location_id", s.Location.String())
	}
	switch {
	case s.Staff != "" && s.Staff != AnyStaff && s.Staff != AnyStaffPerService:
		q.Set("staff_id", s.Staff)
	default: // with is_package, each start is listed once for all free staff; it has no effect on classes
		q.Set("is_package", "true")
		if s.Staff == AnyStaffPerService {
			q.Set("staffing_mode", availability.StaffingPerService)
		}
	}
	return q
}

// variantPairs returns the chosen variants in the form serviceId:variantId,
// in the order of the services. It contains each pair only once.
func (s Selection) variantPairs() []string {
	var pairs []string
	for _, id := range s.Services {
		if _, ok := s.Variants[id]; ok && !slices.Contains(pairs, s.serviceParam(id)) {
			pairs = append(pairs, s.serviceParam(id))
		}
	}
	return pairs
}

// Appointment is a selection that was checked against the snapshot.
type Appointment struct {
	Selection
	Services []*catalog.Service // each with the duration and price of the chosen variant
	// Members contains the staff members who can perform all
	// chosen services that require staff. It is empty for a class.
	Members []*catalog.Staff
	// Package is the package that consists of exactly the chosen services, or nil if there is no such package.
	Package *catalog.Package
	// IsSplit is true if more than one of the services requires staff, so that different staff members may perform the
	// services.
	IsSplit bool
	// Locations contains the locations at which all chosen services are offered. It is
	// empty if customers always come to the same place.
	Locations []*catalog.Location
}

// Place returns the location of the appointment. It returns nil if customers always come to the same place.
func (a *Appointment) Place() *catalog.Location {
	for _, l := range a.Locations {
		if a.Location != nil && l.ID == *a.Location || len(a.Locations) == 1 {
			return l
		}
	}
	return nil
}

// AddressPlace returns the location of the appointment if the business comes to the customer, otherwise nil.
func (a *Appointment) AddressPlace() *catalog.Location {
	if l := a.Place(); l != nil && l.Kind == catalog.KindCustomerAddress {
		return l
	}
	return nil
}

// NeedsPhone reports whether the business calls the customer, so that the customer must give a telephone number.
func (a *Appointment) NeedsPhone() bool {
	l := a.Place()
	return l != nil && l.NeedsCustomerPhone()
}

// setLocations sets the locations at which the services are offered, and the chosen location. A chosen class session
// determines the location. The default is the first location. If the visitor has no choice, no location is chosen.
func (a *Appointment) setLocations(snapshot *catalog.Snapshot) {
	chosen, class := a.Location, a.Services[0]
	a.Location = nil
	for i := range class.Classes {
		if session := &class.Classes[i]; a.Session != nil && session.ID == *a.Session {
			if l := snapshot.SessionLocation(class, session); l != nil {
				chosen = &l.ID
			}
		}
	}
	if !snapshot.HasLocations() {
		return
	}
	if a.Locations = snapshot.CommonLocations(a.Services); len(a.Locations) < 2 {
		return
	}
	a.Location = &a.Locations[0].ID
	for _, l := range a.Locations {
		if chosen != nil && l.ID == *chosen {
			a.Location = chosen
		}
	}
}

// IsClass reports whether the appointment is for a class, which takes place only at fixed sessions.
func (a *Appointment) IsClass() bool { return a.Services[0].IsClass() }

// NeedsStaffChoice reports whether the visitor can choose between staff members.
func (a *Appointment) NeedsStaffChoice() bool { return len(a.Members) > 1 || a.IsSplit }

// Appointment checks a selection against the snapshot of the business. It returns the selected services, the possible
// staff members and the start. Faults: service_not_found if a service can no longer be booked; invalid_parameter.
func (b *Business) Appointment(s Selection) (*Appointment, error) {
	if len(s.Services) == 0 {
		return nil, fault.New(fault.ServiceNotFound, "Nothing is chosen.")
	}
	services, err := b.Snapshot.Appointment(s.Services, s.Variants)
	if err != nil {
		return nil, err
	}
	a := &Appointment{Selection: s, Services: services, Package: b.Snapshot.PackageOf(s.Services, len(s.Variants) > 0)}
	a.setLocations(b.Snapshot)
	if a.IsClass() {
		a.Staff = AnyStaff // the session determines the staff
		return a, nil
	}
	staffed := 0
	for _, service := range services {
		if len(service.StaffIDs) > 0 {
			staffed++
		}
	}
	for i := range b.Snapshot.Staff {
		member := &b.Snapshot.Staff[i]
		cannotPerform := func(s *catalog.Service) bool {
			return len(s.StaffIDs) > 0 && !slices.Contains(s.StaffIDs, member.ID)
		}
		if staffed > 0 && member.Active && !slices.ContainsFunc(services, cannotPerform) {
			a.Members = append(a.Members, member)
		}
	}
	a.IsSplit = staffed > 1
	if a.Staff == "" {
		a.Staff = AnyStaff
	}
	if a.Staff == AnyStaff && len(a.Members) == 0 && a.IsSplit {
		a.Staff = AnyStaffPerService // no staff member can perform all services
	}
	return a, nil
}
