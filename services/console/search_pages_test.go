package console_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

func init() {
	rowOfPage["GET /business/:slug/search"], rowOfPage["POST /business/:slug/search"] = "see bookings", "see bookings"
}

// TestSearchFollowsPermissions shows that roles that may see customers find customers and their bookings. A
// staff member finds only their own bookings, and a viewer only pages.
func TestSearchFollowsPermissions(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id, self := publish(t, w), uuid.New()
	own, other := someBooking("confirmed", "2026-12-01"), someBooking("confirmed", "2026-12-02")
	own.StaffID = &self
	w.Booking.Add(id, own)
	w.Booking.Add(id, other)
	people := map[access.Role]string{}
	for _, role := range []access.Role{access.Owner, access.FrontDesk, access.Staff, access.Viewer} {
		m := access.Member{BusinessID: id, Role: role}
		if role == access.Staff {
			m.StaffID = self
		}
		people[role] = w.AddSession(t, string(role)+"@example.com", m)
	}
	customer := `/customers/one?email=` + sealValue(t, "cara@example.com")
	for _, c := range []struct {
		role  access.Role
		query string
		shows map[string]bool
	}{
		{access.FrontDesk, "cara", map[string]bool{own.ID.String(): true, other.ID.String(): true, customer: true}},
		{access.Staff, "cara", map[string]bool{own.ID.String(): true, other.ID.String(): false, customer: false}},
		{access.Viewer, "cara", map[string]bool{own.ID.String(): false, customer: false, "No results": true}},
		{access.FrontDesk, "nobody", map[string]bool{own.ID.String(): false, customer: false,
			"No results": true}},
		{access.Owner, "RULES", map[string]bool{`<a class="cover" href="/business/harbor/offer/policies"`: true}},
		{access.FrontDesk, "rules", map[string]bool{`href="/business/harbor/offer/policies"`: false}},
		{access.Viewer, "calend", map[string]bool{`<a class="cover" href="/business/harbor/calendar"`: true}},
	} {
		got := getPage(t, w, "/business/harbor/search?query="+c.query, people[c.role])
		for part, want := range c.shows {
			if got.Status != 200 || strings.Contains(got.Body, part) != want {
				t.Errorf("a %s who searches for %s: %d, %s is shown: %t, want %t\n%s", c.role, c.query, got.Status,
					part, !want, want, got.Body)
			}
		}
	}
	if got := getPage(t, w, "/business/harbor/search?query=+", people[access.FrontDesk]); got.Status != 200 ||
		!strings.Contains(got.Body, `<a class="cover" href="/business/harbor/calendar"`) {
		t.Errorf("an empty search: %d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, "/business/harbor/search?query="+strings.Repeat("a", 1000),
		people[access.FrontDesk]); got.Status != 400 {
		t.Errorf("a query without bound: %d", got.Status)
	}
	w.StopBooking()
	if got := getPage(t, w, "/business/harbor/search?query=cara", people[access.FrontDesk]); got.Status != 200 ||
		!strings.Contains(got.Body, "cannot be checked") {
		t.Errorf("a search while booking is unavailable: %d %s", got.Status, got.Body)
	}
}

// foundLink matches a link to a page in the results of a search.
var foundLink = regexp.MustCompile(`<a class="cover" href="([^"]+)"`)

// TestSearchTargetsOpen shows that each page that a search finds opens for each role that sees it.
func TestSearchTargetsOpen(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+`events:
  - {key: gala, name: Gala, date: 2030-12-31, start_time: "20:00", end_time: "23:00", total_capacity: 50,
     tiers: [{key: seat, name: Seat, capacity: 50}]}
rentals: [{key: kayak, name: Kayak, price: 12, price_type: hourly, quantity: 1, units_count: 1}]
`)
	for _, role := range []access.Role{access.Owner, access.Manager, access.FrontDesk, access.Staff, access.Viewer} {
		m := access.Member{BusinessID: id, Role: role}
		if role == access.Staff {
			m.StaffID = uuid.New()
		}
		person := w.AddSession(t, string(role)+"@example.com", m)
		opened := 0
		for _, query := range []string{"", "gala", "kayak", "haircut", "anna"} {
			page := getPage(t, w, "/business/harbor/search?query="+query, person)
			for _, link := range foundLink.FindAllStringSubmatch(page.Body, -1) {
				opened++
				path := strings.ReplaceAll(link[1], "&amp;", "&")
				if got := getPage(t, w, path, person); got.Status != 200 && !strings.HasSuffix(path, "/offer") {
					t.Errorf("a %s opens %s: %d", role, path, got.Status)
				}
			}
		}
		if min := map[access.Role]int{access.Owner: 40, access.FrontDesk: 10, access.Viewer: 4}[role]; opened < min {
			t.Errorf("a %s finds %d pages, want %d", role, opened, min)
		}
	}
}
