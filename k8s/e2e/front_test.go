package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func parseBookingID(a answer) (string, error) {
	var created struct{ Booking struct{ ID string } }
	if err := json.Unmarshal(a.body, &created); err != nil || created.Booking.ID == "" {
		return "", fmt.Errorf("a booking was answered %v", a)
	}
	return created.Booking.ID, nil
}

// listPublicPaths returns the public paths, with the status that shows that the service answered.
func listPublicPaths(slug, service, rental string) []struct {
	method, path string
	status       int
} {
	date := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	at := "/api/public/" + slug
	return []struct {
		method, path string
		status       int
	}{
		{"GET", at + "/info", 200},
		{"GET", at + "/services", 200},
		{"GET", at + "/staff", 200},
		{"GET", at + "/slots?date=" + date + "&service_id=" + service, 200},
		{"GET", at + "/available-dates?start=" + date + "&end=" + date + "&service_id=" + service, 200},
		{"GET", at + "/events", 200},
		{"GET", at + "/rentals", 200},
		{"GET", at + "/rental-availability?rentalId=" + rental + "&startDate=" + date + "&endDate=" + date, 200},
		{"GET", at + "/rental-available-dates?start=" + date + "&end=" + date + "&rental_id=" + rental, 200},
		{"POST", at + "/book", 401},
		{"POST", "/mcp", 401},
		{"GET", "/api/public/docs", 200},
		{"GET", "/", 200},
		{"GET", "/api/public/openapi.json", 200},
		{"POST", "/api/public/stripe/webhook", 404}, // the answer of booking without a payment provider
	}
}

// privatePaths are paths, in many spellings, that must not be reachable from outside.
var privatePaths = []string{
	"/internal", "/internal/businesses", "/internal/businesses/harbor-studio/offer", "/metrics", "/livez",
	"/readyz",
	"/admin", "/admin/businesses", "/admin/businesses/harbor-studio", "/admin/openapi.json",
	"/api", "/api/public", "/api/public/", "/api/public/harbor-studio", "/api/public/harbor-studio/",
	"/api/public/harbor-studio/nothing",
	"/api/public/harbor-studio/info/more", "/x/api/public/harbor-studio/info", "/api/public/a/b/info",
	"/api/public//info",
	"/API/PUBLIC/harbor-studio/info", "/api/public/harbor-studio/infos", "/api/public/harbor-studio/inf", "/mcp/x",
	"/mcpx", "/xmcp",
	"/api/public/../../internal/businesses", "/api/public/harbor-studio/../../../internal/businesses",
	"/api/public/%2e%2e/%2e%2e/metrics",
	"/api/public/harbor-studio/info/%2e%2e/%2e%2e/%2e%2e/%2e%2e/metrics",
	"/api/public/harbor-studio%2f..%2f..%2f..%2fmetrics",
	"/%6detrics", "/%2fmetrics", "/./metrics", "//metrics", "/metrics/", "/metrics%00", "/%2e/metrics",
	"/metrics;/info",
	"/api/public/harbor-studio/info%2f..%2f..%2f..%2f..%2fmetrics", "/api/public/..%2f..%2finternal/info",
	"/internal/info", "/admin/api/public/harbor-studio/info", "/mcp/../metrics", "/mcp/..%2fmetrics",
	"/mcp%2f..%2finternal",
	"/api/public/harbor-studio/info\\..\\..\\metrics", "/metrics?/api/public/harbor-studio/info",
	"/metrics#/api/public/harbor-studio/info",
}

// respelledPaths are public paths in another spelling. A controller may normalize them or not; none may lead to a
// service.
var respelledPaths = []string{"/api%2fpublic%2fharbor-studio%2finfo", "/api/public/harbor-studio%2finfo",
	"/api/public/harbor-studio/info/"}

// checkPublicPaths checks that a front answers only the public paths, and that a customer can read and book through
// it.
func checkPublicPaths(t *testing.T, f frontClient, key string) {
	var offer struct{ Services []struct{ ID, Name string } }
	waitFor(t, f.name+" answers", func() error { return f.readJSON(t.Context(), "harbor-studio/services", &offer) })
	var rentals struct{ Rentals []struct{ ID string } }
	if err := f.readJSON(t.Context(), "harbor-studio/rentals", &rentals); err != nil || len(rentals.Rentals) == 0 ||
		len(offer.Services) == 0 {
		t.Fatalf("the demo business offers %v and %v: %v", offer, rentals, err)
	}
	for _, o := range listPublicPaths("harbor-studio", offer.Services[0].ID, rentals.Rentals[0].ID) {
		// Controllers need some time for each route.
		waitFor(t, f.name+" answers "+o.path, func() error {
			a, err := f.send(t.Context(), o.method, o.path, nil, http.Header{"Content-Type": {"application/json"}})
			if err == nil && (a.status != o.status || !isOwnAnswer(a)) {
				err = fmt.Errorf("got %v, want %d of the service's own", a, o.status)
			}
			return err
		})
	}
	for _, path := range privatePaths {
		a, err := f.send(t.Context(), http.MethodGet, path, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if a.status != http.StatusNotFound && a.status != http.StatusBadRequest || isOwnAnswer(a) && !f.isOwnFront {
			t.Errorf("%s: got %v, want the front itself to refuse it", path, a)
		}
	}
	for _, path := range respelledPaths {
		if a, err := f.send(t.Context(), http.MethodGet, path, nil, nil); err != nil ||
			a.status != http.StatusNotFound && a.status != http.StatusBadRequest {
			t.Errorf("%s: got %v (%v), want nothing there", path, a, err)
		}
	}
	unknownClient := f
	unknownClient.host = "other.example"
	if a, err := unknownClient.send(t.Context(), http.MethodGet, "/api/public/harbor-studio/info", nil,
		nil); err != nil ||
		a.status != http.StatusNotFound {
		t.Errorf("another host name is answered %v (%v)", a, err)
	}
	bookDemo(t, f, offer.Services[0].ID, key)
}

// checkLimitsByClient checks that services count each client address that the front forwards separately. The eleventh
// request of one address within a minute is refused, the first one of another is not.
func checkLimitsByClient(t *testing.T, f frontClient) {
	t.Helper()
	order := func(from string) int {
		a, err := f.send(t.Context(), http.MethodPost, "/api/public/harbor-studio/book", nil,
			http.Header{"Content-Type": {"application/json"}, "X-Forwarded-For": {from}})
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	one, other, orders := newClientAddress(), newClientAddress(), 1
	for status := order(one); status != http.StatusTooManyRequests; status = order(one) {
		if orders++; status != http.StatusUnauthorized || orders > 100 {
			t.Fatalf("order %d without a key of one address is answered %d, want 401 ten times a minute, and then 429",
				orders, status)
		}
	}
	if orders < 11 {
		t.Errorf("order %d of one address within a minute is refused, want ten to be taken", orders)
	}
	if status := order(other); status != http.StatusUnauthorized {
		t.Errorf("the first order of another address is answered %d, want 401", status)
	}
}

// isOwnAnswer reports whether Slotmesh, not a controller, sent the answer. Errors of Slotmesh are JSON with a sentence.
func isOwnAnswer(a answer) bool {
	var fault struct{ Error string }
	return a.status < http.StatusBadRequest || json.Unmarshal(a.body, &fault) == nil && fault.Error != ""
}

// bookDemo books the first free time of the demo business, and checks that it cannot be booked again.
func bookDemo(t *testing.T, f frontClient, service, key string) {
	t.Helper()
	for day := 1; day <= 14; day++ {
		date := time.Now().AddDate(0, 0, day).Format(time.DateOnly)
		var found struct {
			Slots []struct{ Date, Time, StaffID string }
		}
		if err := f.readJSON(t.Context(), "harbor-studio/slots?date="+date+"&service_id="+service, &found); err != nil {
			t.Fatal(err)
		}
		if len(found.Slots) == 0 {
			continue
		}
		s := found.Slots[len(found.Slots)-1]
		for _, want := range []int{http.StatusCreated, http.StatusConflict} {
			a, err := f.book(t.Context(), "harbor-studio", key, booking{service, s.StaffID, s.Date, s.Time})
			if err != nil || a.status != want {
				t.Fatalf("booking %s %s: got %v (%v), want %d", s.Date, s.Time, a, err, want)
			}
		}
		return
	}
	t.Fatal("the demo business has nothing free in the next two weeks")
}
