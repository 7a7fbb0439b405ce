package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const kayak = "22222222-2222-4222-8222-222222222222"

// someReservation returns the body of a reservation of two kayaks.
func someReservation(customer, from, to string) string {
	return `{"rental_id": "` + kayak + `", "start_date": "` + from + `", "end_date": "` + to +
		`", "quantity": 2, "customer_name": "` + customer + `"}`
}

func TestReservationsCreateListAndTransition(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	created := w.Call(t, "POST", harb+"/reservations", someReservation("Cara", "2026-12-01", "2026-12-03"))
	if created.Status != 201 || created.Header.Get("Cache-Control") != "no-store" || field(t, created,
		"status") != "reserved" {
		t.Fatalf("made: %d %v %s", created.Status, created.Header, created.Body)
	}
	w.Call(t, "POST", harb+"/reservations", someReservation("Late Larry", "2026-12-05", "2026-12-06"))
	for query, want := range map[string]int{
		"": 2, "?from=2026-12-04": 1, "?to=2026-11-30": 0, "?from=2026-12-03&to=2026-12-05": 2, "?limit=1": 1,
	} {
		got := w.Call(t, "GET", harb+"/reservations"+query, "")
		if list := field(t, got, "reservations").([]any); len(list) != want {
			t.Errorf("%q: %d reservations, want %d", query, len(list), want)
		}
	}
	at := harb + "/reservations/" + field(t, created, "id").(string) + "/"
	for _, move := range []struct {
		name   string
		status int
	}{{"return", 409}, {"pickup", 200}, {"cancel", 409}, {"return", 200}} {
		got := w.Call(t, "POST", at+move.name, "")
		if got.Status != move.status {
			t.Errorf("%s: %d %s", move.name, got.Status, got.Body)
		}
		if move.status == 409 {
			expect(t, got, 409, "conflict", "reservation")
		}
	}
	expect(t, w.Call(t, "POST", at+"lose", ""), 404, "not_found", "nothing")
	expect(t, w.Call(t, "POST", harb+"/reservations/"+uuid.NewString()+"/return", ""), 404, "not_found", "Reservation")
	expect(t, w.Call(t, "POST", harb+"/reservations/1/return", ""), 404, "not_found", "Reservation")
}

func TestReserveReportsFieldErrors(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	post := func(body string) consoletest.Answer { return w.Call(t, "POST", harb+"/reservations", body) }
	valid := someReservation("Cara", "2026-12-01", "2026-12-03")
	expect(t, post(strings.Replace(valid, `"quantity": 2`, `"quantity": "two"`, 1)), 400, "invalid_parameter",
		"quantity")
	expect(t, post(strings.Replace(valid, "2026-12-01", "2026-02-29", 1)), 400, "invalid_parameter", "start_date")
	expect(t, post(strings.Replace(valid, "quantity", "colour", 1)), 400, "invalid_parameter", "colour")
	expect(t, post("{"), 400, "invalid_parameter", "JSON")
	expect(t, post(strings.Replace(valid, `"quantity": 2`, `"quantity": 11`, 1)), 409, "conflict", "units")
	for query, name := range map[string]string{
		"from=2027-02-29": "from", "to=tomorrow": "to", "from=2026-12-02&to=2026-12-01": "to", "limit=0": "limit",
	} {
		expect(t, w.Call(t, "GET", harb+"/reservations?"+query, ""), 400, "invalid_parameter", name)
	}
	for _, slug := range []string{"elsewhere", "Harbor"} {
		at := "/admin/businesses/" + slug + "/reservations"
		expect(t, w.Call(t, "GET", at, ""), 404, "business_not_found", "Business")
		expect(t, w.Call(t, "POST", at, valid), 404, "business_not_found", "Business")
		expect(t, w.Call(t, "POST", at+"/"+uuid.NewString()+"/cancel", ""), 404, "business_not_found", "Business")
	}
}

func TestOtherRoutesWorkWithoutRental(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	w.StopRental()
	expect(t, w.Call(t, "GET", harb+"/reservations", ""), 503, "service_unavailable", "rental")
	if got := w.Call(t, "GET", harb+"/bookings", ""); got.Status != 200 {
		t.Errorf("bookings: %d %s", got.Status, got.Body)
	}
}

func TestReservationLogHasNoCustomerData(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	created := w.Call(t, "POST", harb+"/reservations", someReservation("Cara", "2026-12-01", "2026-12-03"))
	w.Call(t, "POST", harb+"/reservations/"+field(t, created, "id").(string)+"/cancel", "")
	for _, change := range []string{`"change":"create reservation"`, `"change":"cancel reservation"`} {
		if !strings.Contains(w.Log.String(), change) {
			t.Errorf("the log does not hold %s: %s", change, w.Log)
		}
	}
	if strings.Contains(w.Log.String(), "Cara") {
		t.Errorf("the log contains data of the customer: %s", w.Log)
	}
}

// TestReservationsExport shows that the CSV file has the filtered reservations, and that only roles that may export get
// it.
func TestReservationsExport(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner, desk := publishRental(t, w)
	for _, date := range []string{"2026-12-01", "2026-12-09"} {
		if got := w.Call(t, "POST", harb+"/reservations", someReservation("=Cara", date, date)); got.Status != 201 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	const file = "/business/harbor/rentals/reservations.csv"
	for query, dates := range map[string]int{"": 2, "?from=2026-12-02": 1, "?from=2027-01-01": 0} {
		got := getPage(t, w, file+query, owner)
		if got.Status != 200 || strings.Count(got.Body, ",'=Cara,") != dates ||
			!strings.HasPrefix(got.Body, "\ufeffid,status,rental,quantity,") {
			t.Errorf("%q: %d %s, want %d reservations", query, got.Status, got.Body, dates)
		}
	}
	if got := getPage(t, w, file+"?payment=x", owner); got.Status != 400 {
		t.Errorf("an unknown payment: %d", got.Status)
	}
	if got := getPage(t, w, file, desk); got.Status != 403 {
		t.Errorf("the front desk: %d", got.Status)
	}
	for session, want := range map[string]bool{owner: true, desk: false} {
		if got := getPage(t, w, "/business/harbor/rentals", session); strings.Contains(got.Body, "reservations.csv") != want {
			t.Errorf("the page links to the file: %v", !want)
		}
	}
}
