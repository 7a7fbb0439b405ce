package consoletest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Rental is a fake of the service rental. The fake keeps the reservations of one business, whose slug is harbor, in
// memory. The business has 10 units of each rental.
type Rental struct {
	Events
	mu           sync.Mutex
	reservations []rental.Reservation
	asked        map[string]string // business id in the last request on each route, by route
	// LeavesOutside, if true, makes the fake report all reservations as conflicts with every new offer.
	LeavesOutside bool
}

// Handler serves those requests of rental's internal API that console sends.
func (s *Rental) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"POST /internal/businesses/harbor/reservations":                  s.reserve,
		"GET /internal/businesses/harbor/reservations":                   s.list,
		"GET /internal/businesses/harbor/reservations/ahead":             s.ahead,
		"POST /internal/businesses/harbor/reservations/outside":          s.outside,
		"GET /internal/businesses/harbor/reports/revenue":                s.revenue,
		"POST /internal/businesses/harbor/reservations/{id}/{move}":      s.move,
		"GET /internal/businesses/harbor/reservations/{id}":              s.one,
		"GET /internal/businesses/harbor/reservations/{id}/cancellation": s.cancellation,
		"POST /internal/businesses/harbor/reservations/{id}/cancel":      s.cancel,
		"POST /internal/businesses/harbor/reservations/{id}/refund":      s.refund,
		"GET /internal/businesses/{business}/events":                     s.events,
		"POST /internal/businesses/harbor/customers/search":              s.customers,
		"POST /internal/businesses/harbor/customers/held":                s.held,
		"POST /internal/businesses/harbor/customers/expiring":            s.expiring,
		"POST /internal/businesses/harbor/customers/erase":               s.erase,
		"/": func(*http.Request) (*reply, error) {
			return nil, fault.New(fault.BusinessNotFound, "Business not found")
		},
	} {
		mux.Handle(pattern, locked(&s.mu, func(r *http.Request) (*reply, error) {
			if s.asked == nil {
				s.asked = map[string]string{}
			}
			s.asked[r.Method+" "+strings.TrimPrefix(r.Pattern,
				r.Method+" /internal/businesses/harbor/")] = r.URL.Query().Get(rental.QueryBusinessID)
			return answer(r)
		}))
	}
	return mux
}

// Asked returns the business id in the last request on each route. A key of the map is the method of the request and
// the part of the path after the slug. A value is "" if the last request had no business id.
func (s *Rental) Asked() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
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
		Extras: []rental.Extra{}, Units: []rental.Unit{},
		ID: uuid.New(), RentalID: uuid.MustParse(wanted.RentalID), RentalName: "Kayak", Status: rental.StatusReserved,
		Quantity: wanted.Quantity, StartDate: from, EndDate: to, CustomerName: wanted.CustomerName,
		CustomerEmail: wanted.CustomerEmail, CustomerPhone: wanted.CustomerPhone, FormData: formOf(wanted.FormData),
		Locale: wanted.Locale, CreatedAt: Epoch, UpdatedAt: Epoch,
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
			(query.Get("status") == "" || one.Status == query.Get("status")) && hasPayment(one.Payment,
			query.Get("payment")) {
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

// outside returns all reservations as conflicts with the new offer if the field LeavesOutside is true. If the field is
// false, outside returns no conflicts.
func (s *Rental) outside(*http.Request) (*reply, error) {
	answer := rental.OutsideResponse{Outside: []rental.Outside{}}
	for _, one := range s.reservations {
		if s.LeavesOutside {
			reason := availability.Reason{Rule: availability.RuleRemoved, Name: one.RentalName}
			reason.Explain()
			answer.Outside = append(answer.Outside, rental.Outside{Reservation: one, Reason: reason})
		}
	}
	return ok(answer)
}

var reservationMoves = map[string][2]string{
	rental.MovePickup: {rental.StatusReserved, rental.StatusPickedUp},
	rental.MoveReturn: {rental.StatusPickedUp, rental.StatusReturned},
}

// move changes the status of a reservation. If the customer's name begins with "Late", the reservation is overdue
// immediately after the transition pickup.
func (s *Rental) move(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	step := reservationMoves[r.PathValue("move")]
	if one.Status != step[0] {
		return nil, fault.Newf(fault.Conflict, "The reservation is %s.", one.Status)
	}
	one.Status = step[1]
	one.Overdue = step[1] == rental.StatusPickedUp && strings.HasPrefix(one.CustomerName, "Late")
	return ok(*one)
}
