package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// calendar returns the status and the text of a reservation in the format text/calendar.
func (s service) calendar(t *testing.T, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.base+rental.ReadCalendar.URL(&endpoints.ByToken{Token: token}),
		nil)
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

func TestCustomerLinkExpiresAfterThirtyDays(t *testing.T) {
	t.Parallel()
	s := start(t)
	reservation := s.reserve(t, kayak, 2, "2027-06-11", "2027-06-12", "22:00", "02:00")
	token := strings.TrimPrefix(reservation.ManageURL, "https://book.example.org/m/")
	got, err := s.client.CustomerView(t.Context(), token)
	if err != nil || got.Kind != event.Reservation || got.Business.Slug != "harbor" ||
		got.Reservation.ID != reservation.ID || got.Reservation.RentalID.String() != kayak || got.Reservation.Quantity != 2 ||
		got.Reservation.EndTime.String() != "02:00" ||
		got.Reservation.CustomerName != "Zoë" {
		t.Errorf("%+v, %v", got, err)
	}
	status, text := s.calendar(t, token)
	for _, line := range []string{"UID:" + reservation.ID.String(), "SEQUENCE:1", "STATUS:CONFIRMED",
		"DTSTART:20270611T210000Z", "DTEND:20270612T010000Z"} {
		if !strings.Contains(text, line+"\r\n") {
			t.Errorf("%d: the calendar has no %s:\n%s", status, line, text)
		}
	}
	s.change(func(n *fakePeers) {
		placed := *n.offer
		placed.Locations = []catalog.Location{
			{ID: uuid.New(), Kind: catalog.KindPlace, Address: postal.Address{City: "Porto"}},
			{ID: uuid.New(), Kind: catalog.KindPlace, Geo: &catalog.Geo{Lat: 38.71, Lon: -9.13},
				Address: postal.Address{Street: "Rua 1", City: "Lisboa", Country: "PT"}}}
		placed.Rentals = slices.Clone(placed.Rentals)
		for i := range placed.Rentals {
			placed.Rentals[i].LocationID = &placed.Locations[1].ID
		}
		n.offer = &placed
	})
	if _, text := s.calendar(t, token); !strings.Contains(text, "\nLOCATION:Rua 1\\, Lisboa\\, Portugal\r\n") ||
		!strings.Contains(text, "GEO:38.710000;-9.130000") ||
		!strings.Contains(text, "\nSUMMARY:"+got.Reservation.RentalName+"\r\n") ||
		!strings.Contains(text, "\nDESCRIPTION:2 × "+got.Reservation.RentalName+"\r\n") {
		t.Errorf("the calendar does not name the place of the rental:\n%s", text)
	}
	if _, err := s.client.Cancel(t.Context(), "harbor", reservation.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	if _, text := s.calendar(t, token); !strings.Contains(text, "STATUS:CANCELLED") || !strings.Contains(text,
		"SEQUENCE:2") {
		t.Errorf("cancelled:\n%s", text)
	}
	s.clock.Advance(time.Date(2027, 6, 12, 1, 0, 0, 0, time.UTC).Add(link.Lifetime).Sub(s.clock.Now()))
	if _, err := s.client.CustomerView(t.Context(), token); err != nil {
		t.Errorf("on the last day: %v", err)
	}
	s.clock.Advance(time.Microsecond)
	_, old := s.calendar(t, token)
	forgotten := s.reserve(t, kayak, 1, "2027-07-20", "2027-07-21", "22:00", "02:00")
	hash, _ := link.HashToken(strings.TrimPrefix(forgotten.ManageURL, "https://book.example.org/m/"))
	if linked, err := s.Store.FindByLink(t.Context(), hash); err != nil || linked.ID != forgotten.ID {
		t.Fatalf("%+v, %v", linked, err)
	}
	random, _ := link.NewToken()
	for name, token := range map[string]string{"old": token, "wrong": random, "no token": "x"} {
		if _, err := s.client.CustomerView(t.Context(), token); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if status, text := s.calendar(t, token); status != http.StatusNotFound || text != old {
			t.Errorf("%s: %d %s, want %s", name, status, text, old)
		}
	}
	s.change(func(n *fakePeers) { gone := *n.offer; gone.ID = uuid.New(); n.offer = &gone })
	if status, text := s.calendar(t, strings.TrimPrefix(forgotten.ManageURL,
		"https://book.example.org/m/")); status != http.StatusNotFound || text != old {
		t.Errorf("of a removed business: %d %s", status, text)
	}
}

func TestCustomerLinkCancelsUntilDeadline(t *testing.T) {
	t.Parallel()
	s := start(t)
	two := 2
	req := booking.CancelByLink{Refund: new(json.Number("0.00"))}
	token := func(from string) string {
		return strings.TrimPrefix(s.reserve(t, kayak, 1, from, from, "10:00", "12:00").ManageURL,
			"https://book.example.org/m/")
	}
	see := func(when, token string, want booking.Cancellation) {
		t.Helper()
		want.Refund = booking.CancellationRefund{Amount: "0.00", Currency: "EUR"}
		m, err := s.client.CustomerView(t.Context(), token)
		if err != nil || cmp.Diff(want, m.Reservation.Cancellation) != "" {
			t.Errorf("%s: %+v, %v", when, m, err)
		}
	}
	tomorrow := token("2027-06-11")
	see("not offered", tomorrow, booking.Cancellation{Reason: booking.CancelNotOffered})
	if _, err := s.client.CancelByLink(t.Context(), tomorrow, req); !fault.Is(err, fault.Conflict) {
		t.Errorf("not offered: %v", err)
	}
	s.edit(func(o *catalog.Snapshot) { o.SelfService.CancelUntilHours = &two })
	until := time.Date(2027, 6, 11, 7, 0, 0, 0, time.UTC) // 10:00 in Lisbon, minus two hours
	see("ahead", tomorrow, booking.Cancellation{Allowed: true, Until: &until, Deadline: &until})
	for name, refund := range map[string]*json.Number{"none": nil, "negative": new(json.Number("-1"))} {
		if _, err := s.client.CancelByLink(t.Context(), tomorrow, booking.CancelByLink{Refund: refund}); !fault.Is(err,
			fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.client.CancelByLink(t.Context(), tomorrow,
		booking.CancelByLink{Refund: new(json.Number("5.00"))}); !fault.Is(err, fault.Conflict) {
		t.Errorf("another refund: %v", err)
	}
	s.clock.Advance(until.Sub(s.clock.Now()))
	keyed := idempotency.With(t.Context(), idempotency.Request{Key: "k"})
	for range 2 { // the second request repeats the first
		if m, err := s.client.CancelByLink(keyed, tomorrow, req); err != nil ||
			m.Reservation.Status != rental.StatusCancelled || m.Reservation.Cancellation.Allowed {
			t.Errorf("a cancellation at the last permitted instant: %+v, %v", m, err)
		}
	}
	if _, err := s.client.CancelByLink(t.Context(), tomorrow, req); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelled twice: %v", err)
	}
	late := token("2027-06-11")
	s.clock.Advance(time.Microsecond)
	see("too late", late, booking.Cancellation{Reason: booking.CancelTooLate})
	if _, err := s.client.CancelByLink(t.Context(), late, req); !fault.Is(err, fault.Conflict) {
		t.Errorf("a cancellation after the deadline: %v", err)
	}
	random, _ := link.NewToken()
	if _, err := s.client.CancelByLink(t.Context(), random, booking.CancelByLink{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a wrong token with a wrong body: %v", err)
	}
}

// TestIdempotencyKeyBelongsToOneLink shows that a key identifies a request only together with its link. Customers and
// the owner may choose the same key by chance.
func TestIdempotencyKeyBelongsToOneLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.edit(func(o *catalog.Snapshot) { o.SelfService.CancelUntilHours = new(int) })
	keyed := idempotency.With(t.Context(), idempotency.Request{Key: "k"})
	if _, err := s.client.Transition(keyed, "harbor", s.reserve(t, kayak, 1, "2027-06-11", "2027-06-11").ID,
		rental.TransitionPickup); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		token := strings.TrimPrefix(s.reserve(t, kayak, 1, "2027-06-12", "2027-06-12").ManageURL,
			"https://book.example.org/m/")
		if m, err := s.client.CancelByLink(keyed, token, booking.CancelByLink{Refund: new(json.Number("0"))}); err != nil || m.Reservation.Status != rental.StatusCancelled {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// TestReservationKeepsZone shows that a reservation keeps its time zone, even if the business has changed its own.
func TestReservationKeepsZone(t *testing.T) {
	t.Parallel()
	s := start(t)
	reservation := s.reserve(t, kayak, 2, "2027-06-11", "2027-06-12", "22:00", "02:00")
	days := s.reserve(t, bike, 1, "2027-06-11", "2027-06-11")
	s.edit(func(o *catalog.Snapshot) {
		o.Timezone, o.SelfService.CancelUntilHours = "America/Chicago", new(int)
	})
	tokenOf := func(r *rental.Reservation) string {
		return strings.TrimPrefix(r.ManageURL, "https://book.example.org/m/")
	}
	got, err := s.client.CustomerView(t.Context(), tokenOf(reservation))
	if err != nil || got.Reservation.Timezone != "Europe/Lisbon" || got.Reservation.StartTime.String() != "22:00" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, text := s.calendar(t, tokenOf(reservation)); !strings.Contains(text, "DTSTART:20270611T210000Z") {
		t.Errorf("the calendar of hours:\n%s", text)
	}
	if _, text := s.calendar(t, tokenOf(days)); !strings.Contains(text, "DTSTART;VALUE=DATE:20270611") ||
		!strings.Contains(text, "DTEND;VALUE=DATE:20270612") {
		t.Errorf("the calendar of days:\n%s", text)
	}
	got, err = s.client.CustomerView(t.Context(), tokenOf(days))
	midnight := time.Date(2027, 6, 10, 23, 0, 0, 0, time.UTC) // in Lisbon
	if err != nil || got.Reservation.Cancellation.Until == nil || !got.Reservation.Cancellation.Until.Equal(midnight) {
		t.Errorf("the reservation can be cancelled until %v, %v", got.Reservation.Cancellation.Until, err)
	}
}
