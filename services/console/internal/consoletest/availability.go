package consoletest

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
)

// Availability is a fake of the availability service. It returns the same explanation for every start, and two hours of
// working time of the member [Former] in reports.
type Availability struct {
	mu       sync.Mutex
	asked    []availability.ExplainRequest
	answered availability.Explanation
	held     []availability.Held    // of the last request about bookings outside
	outside  []availability.Outside // the answer to every such request
	agenda   availability.Agenda    // for every range of dates
}

// Plan sets the agenda (working, teaching and free time of members) that the fake returns from now on.
func (s *Availability) Plan(agenda availability.Agenda) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda = agenda
}

// LeaveOutside sets the bookings that conflict with every new offer from now on.
func (s *Availability) LeaveOutside(outside ...availability.Outside) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outside = outside
}

// Held returns the bookings in the last request for conflicts with a new offer.
func (s *Availability) Held() []availability.Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Answer sets the explanation of every start from now on.
func (s *Availability) Answer(explained availability.Explanation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = explained
}

// Asked returns the requests for an explanation so far.
func (s *Availability) Asked() []availability.ExplainRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Handler serves the part of availability's internal API that console calls.
func (s *Availability) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /internal/explain", locked(&s.mu, func(r *http.Request) (*reply, error) {
		var asked availability.ExplainRequest
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			return nil, err
		}
		s.asked = append(s.asked, asked)
		return ok(s.answered)
	}))
	mux.Handle("POST /internal/outside", locked(&s.mu, func(r *http.Request) (*reply, error) {
		var asked availability.OutsideRequest
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			return nil, err
		}
		s.held = asked.Held
		return ok(availability.OutsideResponse{Outside: s.outside})
	}))
	mux.Handle("POST /internal/agenda", locked(&s.mu, func(*http.Request) (*reply, error) {
		agenda := s.agenda
		agenda.Computed = true
		return ok(agenda)
	}))
	mux.Handle("POST /internal/working-time", locked(&s.mu, func(*http.Request) (*reply, error) {
		return ok(availability.WorkingTime{Rows: []availability.WorkingTimeRow{{Date: March, StaffID: Former,
			Minutes: 120}}})
	}))
	return mux
}
