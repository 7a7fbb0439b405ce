package consoletest

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Availability is a fake of the availability service. The fake returns the same explanation for every start. In
// reports, the fake returns two hours of working time of the member [FormerMember].
type Availability struct {
	mu              sync.Mutex
	requests        []availability.ExplainRequest
	explanation     availability.Explanation
	checkedBookings []availability.FutureBooking // bookings that the last request asked to compare with a new offer
	affected        []availability.Conflict      // answer to every such request
	agenda          availability.Agenda          // answer to every request for an agenda
	slots           []publicapi.Slot             // answer to every request for starts
}

// SetSlots sets the starts that the fake returns in later requests for the starts of any date.
func (s *Availability) SetSlots(slots ...publicapi.Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slots
}

// SetAgenda sets the agenda that the fake returns in later requests: the members' working hours, class sessions and
// free time.
func (s *Availability) SetAgenda(agenda availability.Agenda) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda = agenda
}

// SetAffected sets the bookings that the fake reports in later requests as conflicts with every new offer.
func (s *Availability) SetAffected(conflicts ...availability.Conflict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.affected = conflicts
}

// ListCheckedBookings returns the bookings that console sent in its last request. The request asks which of the
// bookings conflict with a new offer.
func (s *Availability) ListCheckedBookings() []availability.FutureBooking {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkedBookings
}

// SetExplanation sets the explanation that the fake returns for every start in later requests.
func (s *Availability) SetExplanation(explanation availability.Explanation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.explanation = explanation
}

// ListRequests returns all requests for an explanation that the fake has received.
func (s *Availability) ListRequests() []availability.ExplainRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Handler serves those requests of availability's internal API that console sends.
func (s *Availability) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /internal/explain", serveLocked(&s.mu, func(r *http.Request) (*reply, error) {
		var explainRequest availability.ExplainRequest
		if err := json.NewDecoder(r.Body).Decode(&explainRequest); err != nil {
			return nil, err
		}
		s.requests = append(s.requests, explainRequest)
		return newReply(s.explanation)
	}))
	mux.Handle("POST /internal/outside", serveLocked(&s.mu, func(r *http.Request) (*reply, error) {
		var explainRequest availability.ConflictsRequest
		if err := json.NewDecoder(r.Body).Decode(&explainRequest); err != nil {
			return nil, err
		}
		s.checkedBookings = explainRequest.Bookings
		return newReply(availability.ConflictsResponse{Conflicts: s.affected})
	}))
	mux.Handle("GET /internal/api/public/{slug}/slots", serveLocked(&s.mu, func(*http.Request) (*reply, error) {
		return newReply(publicapi.SlotList{Slots: s.slots, Computed: true})
	}))
	mux.Handle("GET /internal/api/public/{slug}/available-dates", serveLocked(&s.mu, func(*http.Request) (*reply, error) {
		days := map[timespan.Date]int{}
		for _, slot := range s.slots {
			days[slot.Date]++
		}
		return newReply(publicapi.AvailableDates{Days: days, Computed: true})
	}))
	mux.Handle("POST /internal/agenda", serveLocked(&s.mu, func(*http.Request) (*reply, error) {
		agenda := s.agenda
		agenda.Computed = true
		return newReply(agenda)
	}))
	mux.Handle("POST /internal/working-time", serveLocked(&s.mu, func(*http.Request) (*reply, error) {
		return newReply(availability.WorkingTime{Rows: []availability.WorkingTimeRow{{Date: March,
			StaffID: FormerMember,
			Minutes: 120}}})
	}))
	return mux
}
