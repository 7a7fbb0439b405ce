package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CalendarToken is the secret part of the URL of every calendar feed in a [Fixture].
const CalendarToken = "mZ2Qm1rZyQ0v3pXkK1tW9g"

func (s *Booking) createCalendar(r *http.Request) (*reply, error) {
	var newCalendar booking.NewCalendar
	if err := json.NewDecoder(r.Body).Decode(&newCalendar); err != nil {
		return nil, err
	}
	if newCalendar.Shows != booking.ShowsTimes && newCalendar.Shows != booking.ShowsNames {
		return nil, fault.New(fault.InvalidParameter, "shows: send times or names.")
	}
	calendar := booking.Calendar{ID: uuid.New(), StaffID: newCalendar.StaffID, Shows: newCalendar.Shows,
		CreatedAt: Epoch,
		CreatedBy: findCreator(r)}
	if s.calendars == nil {
		s.calendars = map[string][]booking.Calendar{}
	}
	business := r.PathValue("business")
	s.calendars[business] = append(s.calendars[business], calendar)
	calendar.Token, calendar.URL = CalendarToken, "https://book.example.org/calendar/"+CalendarToken+".ics"
	return &reply{status: http.StatusCreated, value: calendar}, nil
}

func (s *Booking) listCalendars(r *http.Request) (*reply, error) {
	entries, next := cutPage(r, s.calendars[r.PathValue("business")])
	return newReply(booking.CalendarList{Calendars: entries, NextCursor: next})
}

func (s *Booking) revokeCalendar(r *http.Request) (*reply, error) {
	calendars := s.calendars[r.PathValue("business")]
	i := slices.IndexFunc(calendars, func(c booking.Calendar) bool { return c.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Calendar not found")
	}
	at := Epoch
	calendars[i].RevokedAt = &at
	return &reply{status: http.StatusNoContent}, nil
}
