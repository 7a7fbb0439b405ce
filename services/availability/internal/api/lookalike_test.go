package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestCalendarsRefuseMisspelledParameters(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	slots := []string{"date", monday, "service_id", haircut.String()}
	dates := []string{"start", monday, "end", monday, "service_id", haircut.String()}
	for _, c := range []struct {
		path, name, known string
		query             []string
	}{
		{"harbor/slots", "staffId", "staff_id", slots},
		{"harbor/slots", "SERVICE_ID", "service_id", slots},
		{"harbor/available-dates", "isPackage", "is_package", dates},
		{"harbor/rental-available-dates", "rentalId", "rental_id", dates},
	} {
		got := s.get(t, c.path, append([]string{c.name, anna.String()}, c.query...)...)
		if got.status != 400 || !strings.Contains(got.body, "write "+c.known+".") {
			t.Errorf("%s of %s: %d %s", c.name, c.path, got.status, got.body)
		}
	}
	if got := s.get(t, "harbor/slots", append([]string{"utm_source", "x"}, slots...)...); got.status != 200 {
		t.Errorf("another parameter: %d %s", got.status, got.body)
	}
}

// TestAgendaAnswersWithoutOccupiedTime has no answer from booking. The agenda then contains hours and classes, but no
// free time.
func TestAgendaAnswersWithoutOccupiedTime(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.busyErr = errors.New("away") })
	ask := func(body string) reply {
		answer, err := http.Post(s.internal+"/internal/agenda", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return readReply(t, answer)
	}
	got := ask(`{"slug": "harbor", "offer_version": 3, "from": "2027-03-03", "to": "2027-03-03"}`)
	for _, want := range []string{`"computed":false`, `"free":[]`, `"service_id":"` + yoga.String() + `"`,
		`"working":[{"Start":`} {
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
	if got := ask(`{"slug": "harbor", "offer_version": 3, "from": "2027-03-03", "to": "2027-05-03"}`); got.status != 400 {
		t.Errorf("too many dates: %d %s", got.status, got.body)
	}
}
