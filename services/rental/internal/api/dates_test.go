package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestDatesCountUnitsFreeAllDay(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, bike, 4, "2027-06-11", "2027-06-12")
	s.reserve(t, bike, 5, "2027-06-12", "2027-06-13")
	s.reserve(t, kayak, 2, "2027-06-12", "2027-06-13", "20:00", "03:00")
	s.reserve(t, kayak, 1, "2027-06-13", "2027-06-13", "02:00", "04:00")
	s.days(t, "rental_id", strings.Join([]string{kayak, bike, unknown, strings.ToUpper(bike), tent, retired, unicorn},
		","),
		"start", "2027-06-11", "end", "2027-06-13").expect(t, 200, fmt.Sprintf(`{"days": {
			"2027-06-11": {%[1]q: 6, %[2]q: 3, %[3]q: 3, %[4]q: 0},
			"2027-06-12": {%[1]q: 1, %[2]q: 1, %[3]q: 2, %[4]q: 0},
			"2027-06-13": {%[1]q: 5, %[2]q: 0, %[3]q: 2, %[4]q: 0}
		}, "computed": true, "timezone": "Europe/Lisbon"}`, bike, kayak, tent, unicorn))
}

func TestDatesCoverTodayToAdvanceLimit(t *testing.T) {
	t.Parallel()
	s := start(t)
	ask := func(start, end string) reply { return s.days(t, "rental_id", single, "start", start, "end", end) }
	ask("2027-06-08", "2027-06-11").expect(t, 200,
		`{"days": {"2027-06-10": {"`+single+`": 1}, "2027-06-11": {"`+single+
			`": 1}}, "computed": true, "timezone": "Europe/Lisbon"}`)
	ask("2028-06-09", "2028-06-12").expect(t, 200,
		`{"days": {"2028-06-09": {"`+single+`": 1}}, "computed": true, "timezone": "Europe/Lisbon"}`)
	for _, window := range [][2]string{{"2027-05-01", "2027-06-09"}, {"2028-06-10", "2028-06-12"},
		{"0001-01-01", "0001-01-02"}} {
		ask(window[0], window[1]).expect(t, 200, `{"days": {}, "computed": true, "timezone": "Europe/Lisbon"}`)
	}
}

func TestDatesOfUnknownRentalsAreNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, ids := range []string{unknown, retired, unknown + "," + retired} {
		s.days(t, "rental_id", ids, "start", "2027-06-11", "end", "2027-06-11").
			expect(t, 404, `{"error": "Rental not found", "messageCode": "rental_not_found"}`)
	}
}

func TestDatesAcceptTwentyRentals(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := []string{single}
	for range 19 {
		ids = append(ids, uuid.NewString(), single)
	}
	want := `{"days": {"2027-06-11": {"` + single + `": 1}}, "computed": true, "timezone": "Europe/Lisbon"}`
	s.days(t, "rental_id", strings.Join(ids, ","), "start", "2027-06-11", "end", "2027-06-11").expect(t, 200, want)
	s.days(t, "rental_id", strings.Join(append(ids, uuid.NewString()), ","), "start", "2027-06-11", "end",
		"2027-06-11").
		expect(t, 400, `{"error": "Too many rental_id values (max 20).", "messageCode": "invalid_parameter"}`)
}

func TestDatesRejectInvalidWindows(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, ask := range []struct{ id, start, end, field string }{
		{single, "2027-06-11", "2027-08-12", "Window too large (max 62 days)."},
		{single, "0001-01-01", "9999-12-31", "Window too large (max 62 days)."},
		{single, "2027-06-11", "2027-06-10", "end"},
		{single, "2027-02-30", "2027-06-10", "start"},
		{single, "", "2027-06-10", "start"},
		{single, "2027-06-10", "", "end"},
		{"", "2027-06-10", "2027-06-10", "rental_id"},
		{single + ",", "2027-06-10", "2027-06-10", "rental_id"},
		{"kayak", "2027-06-10", "2027-06-10", "rental_id"},
		{strings.Repeat("\xff", 36), "2027-06-10", "2027-06-10", "rental_id"},
	} {
		answer := s.days(t, "rental_id", ask.id, "start", ask.start, "end", ask.end)
		if answer.status != 400 || !strings.Contains(answer.body, ask.field) || !strings.Contains(answer.body,
			`"invalid_parameter"`) {
			t.Errorf("%+v: %d %s", ask, answer.status, answer.body)
		}
	}
	if answer := s.days(t, "rental_id", single, "start", "2027-06-11", "end", "2027-08-11"); answer.status != 200 {
		t.Errorf("62 days: %d %s", answer.status, answer.body)
	}
}

func TestPeersReadDates(t *testing.T) {
	t.Parallel()
	s := start(t)
	question := url.Values{"rental_id": {single}, "start": {"2027-06-11"}, "end": {"2027-06-11"}}
	got, err := s.client.AvailableDates(t.Context(), "harbor", question)
	if want := `{"days":{"2027-06-11":{"` + single + `":1}},"computed":true,"timezone":"Europe/Lisbon"}`; err != nil ||
		string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if _, err := s.client.AvailableDates(t.Context(), "harbor/x?y", question); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("an impossible slug: %v", err)
	}
	if _, err := s.client.AvailableDates(t.Context(), "harbor", nil); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("no parameters: %v", err)
	}
}
