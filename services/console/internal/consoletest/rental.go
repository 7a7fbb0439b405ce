package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Rental keeps reservations of the business harbor in memory. There are 10 units.
type Rental struct {
	Events
	mu           sync.Mutex
	reservations []rental.Reservation
}

// Handler serves the part of rental's internal API that console calls.
func (s *Rental) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"POST /internal/businesses/harbor/reservations":             s.reserve,
		"GET /internal/businesses/harbor/reservations":              s.list,
		"GET /internal/businesses/harbor/reservations/ahead":        s.ahead,
		"GET /internal/businesses/harbor/reports/revenue":           s.revenue,
		"POST /internal/businesses/harbor/reservations/{id}/{move}": s.move,
		"GET /internal/businesses/{business}/events":                s.events,
		"POST /internal/businesses/harbor/customers/search":         s.customers,
		"POST /internal/businesses/harbor/customers/held":           s.held,
		"POST /internal/businesses/harbor/customers/erase":          s.erase,
		"/": func(*http.Request) (*reply, error) {
			return nil, fault.New(fault.BusinessNotFound, "Business not found")
		},
	} {
		mux.Handle(pattern, locked(&s.mu, answer))
	}
	return mux
}

func (s *Rental) reserve(r *http.Request) (*reply, error) {
	var wanted rental.NewReservation
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return nil, err
	}
	from, err := timespan.ParseDate(wanted.StartDate)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "start_date: %s.", err)
	}
	to, err := timespan.ParseDate(wanted.EndDate)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "end_date: %s.", err)
	}
	if wanted.Quantity > 10 {
		return nil, fault.New(fault.Conflict, "Too few units are free then.")
	}
	made := rental.Reservation{
		Extras: []rental.Extra{},
		ID:     uuid.New(), RentalID: uuid.MustParse(wanted.RentalID), RentalName: "Kayak", Status: rental.StatusReserved,
		Quantity: wanted.Quantity, StartDate: from, EndDate: to, CustomerName: wanted.CustomerName,
		CustomerEmail: wanted.CustomerEmail, Locale: wanted.Locale, CreatedAt: Epoch, UpdatedAt: Epoch,
	}
	if wanted.StartTime != nil && wanted.EndTime != nil {
		start, _ := timespan.ParseTimeOfDay(*wanted.StartTime)
		end, _ := timespan.ParseTimeOfDay(*wanted.EndTime)
		made.StartTime, made.EndTime = &start, &end
	}
	s.reservations = append(s.reservations, made)
	return &reply{status: http.StatusCreated, value: made}, nil
}

func (s *Rental) list(r *http.Request) (*reply, error) {
	query := r.URL.Query()
	var found []rental.Reservation
	for _, one := range s.reservations {
		if (query.Get("from") == "" || one.EndDate.String() >= query.Get("from")) &&
			(query.Get("to") == "" || one.StartDate.String() <= query.Get("to")) &&
			(query.Get("status") == "" || one.Status == query.Get("status")) {
			found = append(found, one)
		}
	}
	entries, next := page(r, found)
	return ok(rental.ReservationList{Reservations: entries, NextCursor: next})
}

func (s *Rental) ahead(*http.Request) (*reply, error) {
	live := 0
	for _, one := range s.reservations {
		if one.Status == rental.StatusReserved || one.Status == rental.StatusPickedUp {
			live++
		}
	}
	return ok(rental.AheadCount{Count: live})
}

var reservationMoves = map[string][2]string{
	rental.MovePickup: {rental.StatusReserved, rental.StatusPickedUp},
	rental.MoveReturn: {rental.StatusPickedUp, rental.StatusReturned},
	rental.MoveCancel: {rental.StatusReserved, rental.StatusCancelled},
}

// move makes overdue at once what a customer whose name begins with Late picks up.
func (s *Rental) move(r *http.Request) (*reply, error) {
	i := slices.IndexFunc(s.reservations, func(one rental.Reservation) bool { return one.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Reservation not found")
	}
	step := reservationMoves[r.PathValue("move")]
	if s.reservations[i].Status != step[0] {
		return nil, fault.Newf(fault.Conflict, "The reservation is %s.", s.reservations[i].Status)
	}
	s.reservations[i].Status = step[1]
	s.reservations[i].Overdue = step[1] == rental.StatusPickedUp && strings.HasPrefix(s.reservations[i].CustomerName, "Late")
	return ok(s.reservations[i])
}
