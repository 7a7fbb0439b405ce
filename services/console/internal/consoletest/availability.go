package consoletest

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
)

// Availability is a fake of the service availability. The fake returns the same explanation for every start. In
// reports, the fake returns two hours of working time of the member [Former].
type Availability struct {
	mu       sync.Mutex
	asked    []availability.ExplainRequest
	answered availability.Explanation
	held     []availability.Held    // bookings in the last request for conflicts with a new offer
	outside  []availability.Outside // answer to every request for conflicts
	agenda   availability.Agenda    // answer to every request for an agenda
}

// Plan sets the agenda that the fake returns in later requests: the members' working hours, class sessions and free
// time.
func (s *Availability) Plan(agenda availability.Agenda) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda = agenda
}

// LeaveOutside sets the bookings that the fake reports in later requests as conflicts with every new offer.
func (s *Availability) LeaveOutside(outside ...availability.Outside) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outside = outside
}

// Held returns the bookings that console sent in its last request for conflicts with a new offer.
func (s *Availability) Held() []availability.Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Answer sets the explanation that the fake returns for every start in later requests.
func (s *Availability) Answer(explained availability.Explanation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = explained
}

// Asked returns all requests for an explanation that the fake has received.
func (s *Availability) Asked() []availability.ExplainRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Handler serves those requests of availability's internal API that console sends.
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
