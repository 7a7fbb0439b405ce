package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// harbourAndHome is the part of a manifest with a place, which is the default location, and with bookings at the address
// of a customer.
const harbourAndHome = `locations:
  - {key: harbour, kind: place, name: Harbour, id: 00000000-0000-4000-8000-0000000000a1}
  - {key: home, kind: customer_address, name: "=Home", id: 00000000-0000-4000-8000-0000000000a2}
`

// TestBookingsFilterByLocation shows that the admin API, the list, the calendar and the CSV file show only bookings at
// the chosen location, and that a booking without a location is at the default location.
func TestBookingsFilterByLocation(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	session := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	add := func(name string, at *booking.BookedLocation) booking.Booking {
		b := someBooking("confirmed", "2026-12-01")
		b.CustomerName, b.Location = name, at
		b.StartsAt = time.Date(2026, 12, 1, len(name), 0, 0, 0, time.UTC)
		b.EndsAt = b.StartsAt.Add(30 * time.Minute)
		if at != nil && at.Kind == "customer_address" {
			b.CustomerAddress = &booking.CustomerAddress{Note: "2nd floor",
				Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"}}
		}
		w.Booking.Add(id, b)
		return b
	}
	const harbour, home = "00000000-0000-4000-8000-0000000000a1", "00000000-0000-4000-8000-0000000000a2"
	add("Old Olga", nil)
	add("Harbour Hugo", &booking.BookedLocation{ID: uuid.MustParse(harbour), Kind: "place", Name: "Harbour"})
	add("Home Hana", &booking.BookedLocation{ID: uuid.MustParse(home), Kind: "customer_address", Name: "=Home"})
	for location, want := range map[string][]bool{"": {true, true, true}, harbour: {true, true, false},
		home: {false, false, true}, uuid.NewString(): {false, false, false}} {
		query := "?from=2026-12-01&location_id=" + location
		for path, got := range map[string]consoletest.Answer{
			"admin API": w.Call(t, "GET", harb+"/bookings"+query, ""),
			"list":      getPage(t, w, "/business/harbor/bookings"+query, session),
			"calendar": getPage(t, w, "/business/harbor/calendar?date=2026-12-01&view=week&location_id="+location,
				session),
			"CSV": getPage(t, w, "/business/harbor/bookings.csv"+query, session),
		} {
			for i, name := range []string{"Old Olga", "Harbour Hugo", "Home Hana"} {
				if got.Status != 200 || strings.Contains(got.Body, name) != want[i] {
					t.Errorf("%s at %q: %d, %s is shown: %v, want %v", path, location, got.Status, name, !want[i], want[i])
				}
			}
		}
	}
	expect(t, w.Call(t, "GET", harb+"/bookings?location_id=1", ""), 400, "invalid_parameter", "location_id")
	file := getPage(t, w, "/business/harbor/bookings.csv", session)
	for _, want := range []string{",timezone,location,customer_address,other_answers",
		`,'=Home,"Rua 1, 1100-001 Lisboa, PT, 2nd floor",`, ",Harbour,,"} {
		if !strings.Contains(file.Body, want) {
			t.Errorf("%s is not in the file:\n%s", want, file.Body)
		}
	}
	list := getPage(t, w, "/business/harbor/bookings", session)
	if !strings.Contains(list.Body, `name="location_id"`) {
		t.Error("the list has no filter by location")
	}
	add("Pier Paul", &booking.BookedLocation{ID: consoletest.FormerMember, Kind: "place", Name: "Former pier"})
	for _, path := range []string{"/bookings?from=2026-12-01&location_id=" + consoletest.FormerMember.String(),
		"/calendar?date=2026-12-01&view=week"} {
		if got := getPage(t, w, "/business/harbor"+path, session); !strings.Contains(got.Body, ">Former pier</option>") {
			t.Errorf("%s has no filter by a removed location: %s", path, got.Body)
		}
	}
	day := getPage(t, w, "/business/harbor/calendar?date=2026-12-01&location_id="+harbour, session).Body
	if !strings.Contains(day, "/bookings/new?location="+harbour) ||
		!strings.Contains(day, "/bookings/new?date=2026-12-01&amp;location="+harbour) {
		t.Errorf("a new booking from the calendar has no location: %s", day)
	}
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml)
	for _, path := range []string{"/bookings", "/calendar", "/bookings.csv"} {
		if got := getPage(t, w, "/business/harbor"+path, session); strings.Contains(got.Body, "location") {
			t.Errorf("%s of a business with one place has locations", path)
		}
	}
}

// TestReportsByLocation shows the reports by location of the admin API and of the page. A location has its present
// name, and the time of members has no such report.
func TestReportsByLocation(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	session := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	const query = "?from=2027-03-01&to=2027-03-31&by=location"
	for _, name := range []string{"bookings", "revenue"} {
		got := w.Call(t, "GET", harb+"/reports/"+name+query, "")
		if got.Status != 200 || !strings.Contains(got.Body, `"location_name":"Harbour"`) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		file := getPage(t, w, reportsPage+"/"+name+".csv"+query, session)
		if !strings.Contains(file.Body, ",location_id,location_name\r\n") ||
			!strings.Contains(file.Body, ","+consoletest.StoredLocation.String()+",Harbour\r\n") {
			t.Errorf("%s as CSV: %d %s", name, file.Status, file.Body)
		}
	}
	expect(t, w.Call(t, "GET", harb+"/reports/utilisation"+query, ""), 400, "invalid_parameter", "by location")
	page := getPage(t, w, reportsPage+query+"&lang=en", session)
	rows := strings.Join(tableRows(page.Body), "\n")
	for _, want := range []string{"Location | Bookings | Guests | No-shows | Cancelled", "Harbour | 7 | 8 | 0 | 0",
		"– | ", "Harbour | €280.00"} {
		if page.Status != 200 || !strings.Contains(rows, want) {
			t.Errorf("%d, %q is not in\n%s", page.Status, want, rows)
		}
	}
	if other := w.Call(t, "GET", harb+"/reports/bookings?from=2027-03-01&to=2027-03-31&by=month", ""); strings.Contains(
		other.Body, "location") {
		t.Errorf("by month: %s", other.Body)
	}
}
