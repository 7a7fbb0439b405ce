package console_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/sealed"
)

// sealValue returns a value as it is sealed in the URLs of harbor's pages.
func sealValue(t *testing.T, text string) string {
	t.Helper()
	box, err := sealed.New(consoletest.Token)
	if err != nil {
		t.Fatal(err)
	}
	return box.ForBusiness("harbor").Seal(text)
}

var addressOnPage = regexp.MustCompile(`(?:href|action|src)="(/[^"]*)"`)

// TestURLsHideCustomerAddress shows that no link, form or redirect has a customer's e-mail address in
// its URL.
func TestURLsHideCustomerAddress(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	booking := someBooking("confirmed", "2026-12-01")
	w.Booking.Add(id, booking)
	const business, email = "/business/harbor", "cara@example.com"
	todo, seen := []string{business + "/customers", business + "/bookings/" + booking.ID.String()}, map[string]bool{}
	for _, path := range []string{"/customers", "/bookings", "/search"} {
		got := postForm(t, w, business+path, owner, url.Values{"query": {email}})
		to := got.Header.Get("Location")
		if got.Status != 303 || !strings.HasPrefix(to, business+path+"?query=~") {
			t.Errorf("a search at %s: %d to %s", path, got.Status, to)
		}
		if page := getPage(t, w, to, owner); page.Status != 200 || !strings.Contains(page.Body, email) &&
			path != "/bookings" {
			t.Errorf("%s: %d %s", to, page.Status, page.Body)
		}
		todo = append(todo, to)
	}
	customers, second := 0, ""
	for len(todo) > 0 && len(seen) < 60 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		page := getPage(t, w, at, owner)
		if page.Status != 200 {
			continue
		}
		for _, found := range addressOnPage.FindAllStringSubmatch(page.Body, -1) {
			to := strings.ReplaceAll(found[1], "&amp;", "&")
			if strings.Contains(to, "@") || strings.Contains(strings.ToLower(to), "%40") {
				t.Errorf("%s leads to %s", at, to)
			}
			if strings.Contains(to, "/customers/one?email=~") {
				customers++
			}
			if strings.HasPrefix(to, business+"/bookings/new?email=~") && strings.Contains(to, "&name=~") {
				second = to
			}
			if strings.HasPrefix(to, business+"/customers") || strings.HasPrefix(to, business+"/bookings") ||
				strings.HasPrefix(to, business+"/search") {
				todo = append(todo, to)
			}
		}
	}
	if customers == 0 {
		t.Error("no page led to a customer")
	}
	if page := getPage(t, w, second, owner); second == "" || page.Status != 200 || !strings.Contains(page.Body,
		`value="`+email+`"`) {
		t.Errorf("no customer's page leads to a form for them: %q, %d", second, page.Status)
	}
	if got := getPage(t, w, business+"/customers/one?email=~"+strings.Repeat("x", 60), owner); got.Status != 404 {
		t.Errorf("an invalid encrypted address: %d", got.Status)
	}
}
