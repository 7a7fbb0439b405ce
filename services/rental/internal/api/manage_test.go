package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
)

// calendar reads a reservation as text/calendar.
func (s service) calendar(t *testing.T, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+rental.ManagePath(token)+"/calendar", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestByTheLinkACustomerSeesTheirReservationUntilThirtyDaysAfterIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.reserve(t, kayak, 2, "2027-06-11", "2027-06-12", "22:00", "02:00")
	token := strings.TrimPrefix(made.ManageURL, "https://book.example.org/m/")
	got, err := s.client.Managed(t.Context(), token)
	if err != nil || got.Kind != event.Reservation || got.Business.Slug != "harbor" ||
		got.Reservation.ID != made.ID || got.Reservation.Quantity != 2 || got.Reservation.EndTime.String() != "02:00" || got.Reservation.CustomerName != "Zoë" {
		t.Errorf("%+v, %v", got, err)
	}
	status, text := s.calendar(t, token)
	for _, line := range []string{"UID:" + made.ID.String(), "SEQUENCE:1", "STATUS:CONFIRMED", "DTSTART:20270611T210000Z", "DTEND:20270612T010000Z"} {
		if !strings.Contains(text, line+"\r\n") {
			t.Errorf("%d: the calendar has no %s:\n%s", status, line, text)
		}
	}
	if _, err := s.client.Move(t.Context(), "harbor", made.ID, rental.MoveCancel); err != nil {
		t.Fatal(err)
	}
	if _, text := s.calendar(t, token); !strings.Contains(text, "STATUS:CANCELLED") || !strings.Contains(text, "SEQUENCE:2") {
		t.Errorf("cancelled:\n%s", text)
	}
	s.clock.Advance(time.Date(2027, 6, 12, 1, 0, 0, 0, time.UTC).Add(link.Lasts).Sub(s.clock.Now()))
	if _, err := s.client.Managed(t.Context(), token); err != nil {
		t.Errorf("on the last day: %v", err)
	}
	s.clock.Advance(time.Microsecond)
	_, old := s.calendar(t, token)
	forgotten := s.reserve(t, kayak, 1, "2027-07-20", "2027-07-21", "22:00", "02:00")
	hash, _ := link.HashOf(strings.TrimPrefix(forgotten.ManageURL, "https://book.example.org/m/"))
	if found, err := s.Store.ByLink(t.Context(), hash); err != nil || found.ID != forgotten.ID {
		t.Fatalf("%+v, %v", found, err)
	}
	random, _ := link.Random()
	for name, token := range map[string]string{"old": token, "wrong": random, "no token": "x"} {
		if _, err := s.client.Managed(t.Context(), token); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if status, text := s.calendar(t, token); status != http.StatusNotFound || text != old {
			t.Errorf("%s: %d %s, want %s", name, status, text, old)
		}
	}
	s.change(func(n *peers) { gone := *n.offer; gone.ID = uuid.New(); n.offer = &gone })
	if status, text := s.calendar(t, strings.TrimPrefix(forgotten.ManageURL, "https://book.example.org/m/")); status != http.StatusNotFound || text != old {
		t.Errorf("of a removed business: %d %s", status, text)
	}
}
