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

// Rental is a fake of the rental service. The fake keeps the reservations of one business, whose slug is harbor, in
// memory. The business has 10 units of each rental.
type Rental struct {
	Events
	mu           sync.Mutex
	reservations []rental.Reservation
	businessIDs  map[string]string // business id in the last request on each route, by route
	// HasAffected, if true, makes the fake report all reservations as conflicts with every new offer.
	HasAffected bool
}

// Handler serves those requests of rental's internal API that console sends.
func (s *Rental) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"POST /internal/businesses/harbor/reservations":                  s.reserve,
		"GET /internal/businesses/harbor/reservations":                   s.listReservations,
		"GET /internal/businesses/harbor/reservations/ahead":             s.listAhead,
		"POST /internal/businesses/harbor/reservations/outside":          s.listAffected,
		"GET /internal/businesses/harbor/reports/revenue":                s.reportRevenue,
		"POST /internal/businesses/harbor/reservations/{id}/{move}":      s.transition,
		"GET /internal/businesses/harbor/reservations/{id}":              s.showReservation,
		"GET /internal/businesses/harbor/reservations/{id}/cancellation": s.previewCancellation,
		"POST /internal/businesses/harbor/reservations/{id}/cancel":      s.cancel,
		"POST /internal/businesses/harbor/reservations/{id}/refund":      s.refund,
		"GET /internal/businesses/{business}/events":                     s.listEvents,
		"POST /internal/businesses/harbor/customers/search":              s.listCustomers,
		"POST /internal/businesses/harbor/customers/held":                s.exportCustomer,
		"POST /internal/businesses/harbor/customers/expiring":            s.countExpiring,
		"POST /internal/businesses/harbor/customers/erase":               s.eraseCustomer,
		"/": func(*http.Request) (*reply, error) {
			return nil, fault.New(fault.BusinessNotFound, "Business not found")
		},
	} {
		mux.Handle(pattern, serveLocked(&s.mu, func(r *http.Request) (*reply, error) {
			if s.businessIDs == nil {
				s.businessIDs = map[string]string{}
			}
			s.businessIDs[r.Method+" "+strings.TrimPrefix(r.Pattern,
				r.Method+" /internal/businesses/harbor/")] = r.URL.Query().Get(rental.QueryBusinessID)
			return answer(r)
		}))
	}
	return mux
}

// ListBusinessIDs returns the business id in the last request on each route. A key of the map is the method of the
// request and the part of the path after the slug. A value is "" if the last request had no business id.
func (s *Rental) ListBusinessIDs() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.businessIDs)
}

func (s *Rental) reserve(r *http.Request) (*reply, error) {
	var newReservation rental.NewReservation
	if err := json.NewDecoder(r.Body).Decode(&newReservation); err != nil {
		return nil, err
	}
	from, err := timespan.ParseDate(newReservation.StartDate)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "start_date: %s.", err)
	}
	to, err := timespan.ParseDate(newReservation.EndDate)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "end_date: %s.", err)
	}
	if newReservation.Quantity > 10 {
		return nil, fault.New(fault.Conflict, "Too few units are free then.")
	}
	reservation := rental.Reservation{
		Extras: []rental.Extra{}, Units: []rental.Unit{},
		ID: uuid.New(), RentalID: uuid.MustParse(newReservation.RentalID), RentalName: "Kayak",
		Status:   rental.StatusReserved,
		Quantity: newReservation.Quantity, StartDate: from, EndDate: to, CustomerName: newReservation.CustomerName,
		CustomerEmail: newReservation.CustomerEmail, CustomerPhone: newReservation.CustomerPhone,
		FormData: decodeForm(newReservation.FormData),
		Locale:   newReservation.Locale, CreatedAt: Epoch, UpdatedAt: Epoch,
	}
	if newReservation.StartTime != nil && newReservation.EndTime != nil {
		start, _ := timespan.ParseTimeOfDay(*newReservation.StartTime)
		end, _ := timespan.ParseTimeOfDay(*newReservation.EndTime)
		reservation.StartTime, reservation.EndTime = &start, &end
	}
	s.reservations = append(s.reservations, reservation)
	return &reply{status: http.StatusCreated, value: reservation}, nil
}

func (s *Rental) listReservations(r *http.Request) (*reply, error) {
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
	entries, next := cutPage(r, found)
	return newReply(rental.ReservationList{Reservations: entries, NextCursor: next})
}

func (s *Rental) listAhead(*http.Request) (*reply, error) {
	live := 0
	for _, one := range s.reservations {
		if one.Status == rental.StatusReserved || one.Status == rental.StatusPickedUp {
			live++
		}
	}
	return newReply(rental.AheadCount{Count: live})
}

// listAffected returns all reservations as conflicts with the new offer if the field HasAffected is true. If the field
// is false, listAffected returns no conflicts.
func (s *Rental) listAffected(*http.Request) (*reply, error) {
	answer := rental.ConflictsResponse{Conflicts: []rental.Conflict{}}
	for _, one := range s.reservations {
		if s.HasAffected {
			reason := availability.Reason{Rule: availability.RuleRemoved, Name: one.RentalName}
			reason.Explain()
			answer.Conflicts = append(answer.Conflicts, rental.Conflict{Reservation: one, Reason: reason})
		}
	}
	return newReply(answer)
}

var reservationTransitions = map[string][2]string{
	rental.TransitionPickup: {rental.StatusReserved, rental.StatusPickedUp},
	rental.TransitionReturn: {rental.StatusPickedUp, rental.StatusReturned},
}

// transition changes the status of a reservation. If the customer's name begins with "Late", the reservation is overdue
// immediately after the pickup transition.
func (s *Rental) transition(r *http.Request) (*reply, error) {
	one, err := s.find(r)
	if err != nil {
		return nil, err
	}
	step := reservationTransitions[r.PathValue("move")]
	if one.Status != step[0] {
		return nil, fault.Newf(fault.Conflict, "The reservation is %s.", one.Status)
	}
	one.Status = step[1]
	one.Overdue = step[1] == rental.StatusPickedUp && strings.HasPrefix(one.CustomerName, "Late")
	return newReply(*one)
}
