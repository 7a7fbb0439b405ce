package console_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
)

const withGala = `
events:
  - key: gala
    name: Gala
    date: 2099-12-31
    start_time: "20:00"
    end_time: "23:00"
    total_capacity: 50
    tiers: [{key: vip, name: VIP, price: 10, capacity: 20}, {key: standard, name: Standard, price: 5, capacity: 30}]
rentals: [{key: kayak, name: Kayak, price: 5, price_type: daily, quantity: 3, units_count: 3}]
`

// planManifest returns the plan of a manifest.
func planManifest(t *testing.T, w *consoletest.Fixture, token, text string) plan.Plan {
	t.Helper()
	got := w.CallAs(t, token, "POST", harb+"/diff", text, "Content-Type", yaml)
	var p plan.Plan
	if err := json.Unmarshal([]byte(got.Body), &p); err != nil || got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return p
}

// newBookingTomorrow returns a booking that begins tomorrow.
func newBookingTomorrow(status string) booking.Booking {
	b := someBooking(status, "2026-12-01")
	b.StartsAt = time.Now().Add(24 * time.Hour).Truncate(time.Minute)
	b.EndsAt = b.StartsAt.Add(45 * time.Minute)
	b.Services = []booking.BookedService{{ID: uuid.New(), Name: "Haircut", DurationMinutes: 45, Price: "40.00"}}
	b.FormData = []byte("{}")
	return b
}

func TestPlanListsChangesAndConflicts(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	text := consoletest.BuildManifest("harbor", "Harbor") + withGala
	published := w.Call(t, "PUT", harb, text, "Content-Type", yaml)
	id := uuid.MustParse(field(t, published, "id").(string))
	future, over := newBookingTomorrow("pending"), newBookingTomorrow("confirmed")
	over.StartsAt, over.EndsAt = over.StartsAt.AddDate(0, 0, -7), over.EndsAt.AddDate(0, 0, -7)
	for _, b := range []booking.Booking{newBookingTomorrow("cancelled"), over, future} {
		w.Booking.Add(id, b)
	}
	owner, _ := addTokenAs(t, w, id, access.Owner)
	if p := planManifest(t, w, owner, text); len(p.Changes) > 0 || p.Conflicts.Count > 0 || p.Version != 1 {
		t.Errorf("the plan of the published manifest: %+v", p)
	}
	if held := w.Availability.ListCheckedBookings(); len(held) != 1 || held[0].StartsAt != future.StartsAt.Unix() ||
		held[0].Services[0].DurationMinutes != 45 {
		t.Errorf("the checked bookings are %+v", held)
	}
	w.Availability.SetAffected(availability.Conflict{Reason: availability.Reason{Rule: availability.RuleClosed,
		Message: "The business is closed then."}})
	w.Rental.HasAffected = true
	reserved := w.Call(t, "POST", harb+"/reservations", `{"rental_id": "`+uuid.NewString()+
		`", "start_date": "2099-01-01", "end_date": "2099-01-02", "quantity": 1, "customer_name": "Zoë"}`)
	if reserved.Status != 201 {
		t.Fatal(reserved.Body)
	}
	p := planManifest(t, w, owner, strings.Replace(text, "price: 40.00", "price: 45.00", 1))
	if len(p.Changes) != 1 || p.Changes[0].Path != "services[cut].price" || p.Changes[0].Summary != "40 becomes 45" {
		t.Errorf("changes: %+v", p.Changes)
	}
	o := p.Conflicts
	if o.Count != 2 || o.Existing != 0 || len(o.Bookings) != 1 || o.Bookings[0].Booking.ID != future.ID ||
		len(o.Reservations) != 1 || o.Bookings[0].Reason.Rule != "closed" {
		t.Errorf("outside: %+v", o)
	}
	if versions := w.CallAs(t, owner, "GET", harb+"/versions", ""); strings.Count(versions.Body, `"version"`) != 1 {
		t.Errorf("the plan published the manifest: %s", versions.Body)
	}
	staff, _ := addTokenAs(t, w, id, access.Staff)
	if p := planManifest(t, w, staff, text); len(p.Conflicts.Bookings)+len(p.Conflicts.Reservations) > 0 {
		t.Errorf("a member of the staff sees others' bookings: %+v", p.Conflicts)
	}
	refused := w.CallAs(t, owner, "POST", harb+"/diff", "kind: Business", "Content-Type", yaml)
	if refused.Status != 400 || !strings.Contains(refused.Body, `"problems"`) {
		t.Errorf("the plan of an invalid manifest: %d %s", refused.Status, refused.Body)
	}
	w.StopBooking()
	if got := w.CallAs(t, owner, "POST", harb+"/diff", text, "Content-Type", yaml); got.Status != 503 {
		t.Errorf("a plan while booking is unavailable: %d %s", got.Status, got.Body)
	}
}

func TestPlanListsAffectedTickets(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	text := consoletest.BuildManifest("harbor", "Harbor") + withGala
	id := uuid.MustParse(field(t, w.Call(t, "PUT", harb, text, "Content-Type", yaml), "id").(string))
	owner, _ := addTokenAs(t, w, id, access.Owner)
	event := func(path string) string { return uuid.NewSHA1(id, []byte(path)).String() }
	order := `{"event_id": "` + event("event/gala") + `", "tier_id": "` + event("event/gala/tier/vip") +
		`", "quantity": 9, "customer_name": "Zoë"}`
	if sale := w.Call(t, "POST", harb+"/tickets", order); sale.Status != 201 {
		t.Fatal(sale.Body)
	}
	for name, change := range map[string]struct{ from, to, want string }{
		"nothing of it":     {"price: 5", "price: 6", ""},
		"a tier with fewer": {"capacity: 20", "capacity: 8", "VIP: 9 are booked, and 8 are offered."},
		"a tier that is gone": {"{key: vip, name: VIP, price: 10, capacity: 20}, ", "",
			"VIP is no longer in the offer."},
		"the event has fewer": {"total_capacity: 50", "total_capacity: 7", "Gala: 9 are booked, and 7 are offered."},
		"the event is moved": {`start_time: "20:00"`, `start_time: "19:00"`,
			"Gala begins at another time: 2099-12-31T19:00."},
		"the event is inactive": {"name: Gala", "name: Gala\n    active: false", "Gala is not active."},
		"the event is gone":     {withGala, "\n", "Gala is no longer in the offer."},
	} {
		p := planManifest(t, w, owner, strings.Replace(text, change.from, change.to, 1))
		got := ""
		for _, sale := range p.Conflicts.Tickets {
			got += sale.Reason.Message
			if sale.Sold != 9 || sale.Event != "Gala" {
				t.Errorf("%s: %+v", name, sale)
			}
		}
		if got != change.want || p.Conflicts.CountNew() != len(p.Conflicts.Tickets) {
			t.Errorf("%s: %q, want %q", name, got, change.want)
		}
	}
}

// TestPlanCountsSalesWithOldZoneOrCurrency shows that a plan counts the future bookings that keep the old time zone
// or currency. Without a change of these, the plan has no count.
func TestPlanCountsSalesWithOldZoneOrCurrency(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	text := consoletest.BuildManifest("harbor", "Harbor")
	id := uuid.MustParse(field(t, w.Call(t, "PUT", harb, text, "Content-Type", yaml), "id").(string))
	owner, _ := addTokenAs(t, w, id, access.Owner)
	changed := func(key, value string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, key+":") {
				lines[i] = key + ": " + value
			}
		}
		return strings.Join(lines, "\n")
	}
	elsewhere := changed("timezone", "America/Chicago")
	if p := planManifest(t, w, owner, elsewhere); p.Kept != nil {
		t.Errorf("there are no future sales, but the plan keeps %+v", p.Kept)
	}
	w.Booking.Add(id, newBookingTomorrow("pending"))
	for _, manifest := range []string{elsewhere, changed("currency", "CHF")} {
		if p := planManifest(t, w, owner, manifest); len(p.Changes) != 1 || p.Kept == nil ||
			*p.Kept != (plan.KeptSales{Bookings: 1}) {
			t.Errorf("%+v of %+v", p.Kept, p.Changes)
		}
	}
	if p := planManifest(t, w, owner, changed("name", "Haven")); p.Kept != nil {
		t.Errorf("another name: %+v", p.Kept)
	}
}
