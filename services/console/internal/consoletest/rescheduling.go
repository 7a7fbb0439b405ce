package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// RefusedTime is a time of day. The fake booking service refuses every booking that begins at this time.
const RefusedTime = "13:00"

// book accepts every booking that does not begin at [RefusedTime].
func (s *Booking) book(r *http.Request) (*reply, error) {
	var wanted struct {
		Slug string
		booking.NewBooking
	}
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return nil, err
	}
	if wanted.Slug == "" || wanted.Time == RefusedTime {
		return nil, fault.New(fault.NoStaffAvailable, "No staff member is free at that time; choose another from "+
			"/slots.")
	}
	start, err := time.Parse("2006-01-02 15:04", wanted.Date+" "+wanted.Time)
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "date: write YYYY-MM-DD.")
	}
	service, err := uuid.Parse(wanted.ServiceIDs[0])
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "service_ids[0]: is not a UUID.")
	}
	member, err := optionalID("staff_id", wanted.StaffID)
	if err != nil {
		return nil, err
	}
	session, err := optionalID("class_schedule_id", wanted.ClassScheduleID)
	if err != nil {
		return nil, err
	}
	booked := booking.Booking{
		StaffID: member, ClassScheduleID: session,
		ID: uuid.New(), Status: booking.StatusConfirmed,
		Services:  []booking.BookedService{{ID: service, Name: "Haircut", DurationMinutes: 45, Price: "40.00"}},
		PartySize: 1, Total: "40.00", Currency: "EUR", Source: "dashboard", CustomerName: wanted.CustomerName,
		CustomerEmail: wanted.CustomerEmail,
		FormData:      json.RawMessage(`{}`), Locale: "en", CreatedAt: Epoch, UpdatedAt: Epoch, Sequence: 1,
		StaffRequested: wanted.StaffID != nil,
	}
	setStart(&booked, start)
	business := r.PathValue("business")
	if s.bookings == nil {
		s.bookings = map[string][]booking.Booking{}
	}
	s.bookings[business] = append(s.bookings[business], booked)
	return &reply{status: http.StatusCreated, value: booked}, nil
}

// optionalID parses an id. If the argument `text` is nil, optionalID returns nil. Fault: invalid_parameter for an
// invalid id.
func optionalID(field string, text *string) (*uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := uuid.Parse(*text)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "%s: is not a UUID.", field)
	}
	return &id, nil
}

// setStart sets the start and end of a booking, which lasts 45 minutes. The argument `start` is the start in UTC.
func setStart(b *booking.Booking, start time.Time) {
	end := start.Add(45 * time.Minute)
	b.Date, b.StartTime, b.EndTime = start.Format(time.DateOnly), start.Format(time.TimeOnly), end.Format(time.TimeOnly)
	b.StartsAt, b.EndsAt = start, end
}

// reschedule changes the time of a booking that has not ended. It refuses a new start at [RefusedTime].
func (s *Booking) reschedule(r *http.Request) (*reply, error) {
	var to struct {
		Slug string
		booking.Reschedule
	}
	if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
		return nil, err
	}
	s.recordSilent(r)
	bookings := s.bookings[r.PathValue("business")]
	i := slices.IndexFunc(bookings, func(b booking.Booking) bool { return b.ID.String() == r.PathValue("id") })
	start, err := time.Parse("2006-01-02 15:04", to.Date+" "+to.Time)
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidParameter, "date: write YYYY-MM-DD.")
	case i < 0:
		return nil, fault.New(fault.NotFound, "Booking not found")
	case bookings[i].Status != booking.StatusPending && bookings[i].Status != booking.StatusConfirmed:
		return nil, fault.Newf(fault.Conflict, "The booking is %s; one that is pending or confirmed can be moved.",
			bookings[i].Status)
	case to.Slug == "" || to.Time == RefusedTime:
		return nil, fault.New(fault.SlotUnavailable, "That time is booked or cannot be booked; choose another from "+
			"/slots.")
	}
	if to.LocationID != nil {
		location, err := uuid.Parse(*to.LocationID)
		if err != nil {
			return nil, fault.New(fault.InvalidParameter, "location_id: is not a UUID.")
		}
		bookings[i].Location = &booking.BookedLocation{ID: location, Kind: "place", Name: "Station"}
	}
	if to.Address != nil {
		bookings[i].CustomerAddress = to.Address
	}
	setStart(&bookings[i], start)
	bookings[i].Sequence++
	return newReply(bookings[i])
}

// relocate changes the location of a booking. Every location except the nil UUID exists, with the name "Station".
func (s *Booking) relocate(r *http.Request) (*reply, error) {
	var to struct {
		Slug string
		booking.Relocate
	}
	if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
		return nil, err
	}
	s.recordSilent(r)
	bookings := s.bookings[r.PathValue("business")]
	i := slices.IndexFunc(bookings, func(b booking.Booking) bool { return b.ID.String() == r.PathValue("id") })
	location, err := uuid.Parse(to.LocationID)
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidParameter, "location_id: is not a UUID.")
	case i < 0:
		return nil, fault.New(fault.NotFound, "Booking not found")
	case to.Slug == "" || location == uuid.Nil:
		return nil, fault.Newf(fault.LocationNotFound, "Location not found: %s", location)
	}
	bookings[i].Location = &booking.BookedLocation{ID: location, Kind: "place", Name: "Station"}
	bookings[i].Sequence++
	return newReply(bookings[i])
}
