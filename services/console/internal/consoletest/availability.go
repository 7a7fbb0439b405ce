package consoletest

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
)

// Availability explains every start as it is told to, and has [Former] work two hours.
type Availability struct {
	mu       sync.Mutex
	asked    []availability.ExplainRequest
	answered availability.Explanation
	held     []availability.Held    // of the last question about what is outside
	outside  []availability.Outside // what every such question is answered
	agenda   availability.Agenda    // of every stretch of dates
}

// Plan says what every question about the time of members is answered from now on.
func (s *Availability) Plan(agenda availability.Agenda) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda = agenda
}

// LeaveOutside says what every offer leaves outside from now on.
func (s *Availability) LeaveOutside(outside ...availability.Outside) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outside = outside
}

// Held is what was asked about when it was last asked what an offer leaves outside.
func (s *Availability) Held() []availability.Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Answer says what every start is explained by from now on.
func (s *Availability) Answer(explained availability.Explanation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = explained
}

// Asked is what was asked for so far.
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
		return ok(availability.WorkingTime{Rows: []availability.WorkingTimeRow{{Date: March, StaffID: Former, Minutes: 120}}})
	}))
	return mux
}
