package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// manifestWithID returns a manifest of the business harbor with this id.
func manifestWithID(id uuid.UUID, name string) string {
	return strings.Replace(consoletest.BuildManifest("harbor", name), "slug:", "id: "+id.String()+"\nslug:", 1)
}

// TestWriteSkipsBusinessThatTookOverSlug gives the slug to another business after an owner's
// request is authorized. The request must not change the other business.
func TestWriteSkipsBusinessThatTookOverSlug(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	first, second := publish(t, w), uuid.New()
	owner := access.Member{BusinessID: first, Role: access.Owner}
	token, session := w.AddToken(t, owner), w.AddSession(t, "ana@example.com", owner)
	staff := w.AddToken(t, access.Member{BusinessID: first, Role: access.Staff, StaffID: uuid.New()})
	taken := func() { w.Catalog.Put("harbor", manifestWithID(second, "Second")) }
	as := func(token, method, path, body string) func() consoletest.Answer {
		return func() consoletest.Answer { return w.CallAs(t, token, method, harb+path, body) }
	}
	for name, call := range map[string]func() consoletest.Answer{
		"key": as(token, "POST", "/keys", `{"name":"site","scope":"all"}`),
		"webhook": as(token, "POST", "/webhooks",
			`{"url": "https://example.com/hooks", "events": ["booking.created"]}`),
		"calendar":    as(token, "POST", "/calendars", `{"shows":"names"}`),
		"booking":     as(token, "POST", "/bookings", newBooking+"}"),
		"reservation": as(token, "POST", "/reservations", someReservation("Cara", "2026-12-01", "2026-12-03")),
		"tickets":     as(token, "POST", "/tickets", someTickets("Cara")),
		"publish":     as(token, "PUT", "", manifestWithID(second, "Mine")),
		"time off":    as(staff, "PUT", "", manifestWithID(second, "Mine")),
		"rollback":    as(token, "POST", "/rollback", `{"version":1}`),
		"erase":       as(token, "POST", "/customers/erase", `{"email":"ada@example.com"}`),
		"member":      as(token, "POST", "/members", `{"email":"bo@example.com","role":"owner"}`),
		"remove":      as(token, "DELETE", "?force=true", ""),
		"page": func() consoletest.Answer {
			return postForm(t, w, "/business/harbor/settings/keys", session,
				url.Values{"name": {"site"}, "scope": {"all"},
					"days": {"365"}, "key": {"k"}})
		},
	} {
		w.Catalog.SetAfterSnapshot(taken)
		if got := call(); got.Status != 404 || name != "page" && field(t, got, "messageCode") != "business_not_found" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		if now := w.Call(t, "GET", harb, ""); field(t, now, "name") != "Second" {
			t.Errorf("%s: the offer is %s", name, now.Body)
		}
		// The first business gets the slug again.
		if got := w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor")); got.Status >= 300 {
			t.Fatalf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	if n := w.Booking.CountLiveKeys(second); n != 0 {
		t.Errorf("%d keys of the second business", n)
	}
	if got := w.CallAs(t, token, "POST", harb+"/keys", `{"name":"site","scope":"all"}`); got.Status != 201 {
		t.Errorf("in their own business: %d %s", got.Status, got.Body)
	}
}

func TestRetriedRemovalKeepsNewBusinessOfSlug(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	first, second := publish(t, w), uuid.New()
	w.Booking.Add(first, someBooking("confirmed", "2026-12-01"))
	expect(t, w.Call(t, "DELETE", harb, "", "Idempotency-Key", "refused"), 409, "conflict", "bookings (1)")
	expect(t, w.Call(t, "DELETE", "/admin/businesses/quay", "", "Idempotency-Key", "made"), 404, "business_not_found",
		"")
	remove := func() {
		t.Helper()
		for _, path := range []string{harb + "?force=true", harb} {
			if got := w.Call(t, "DELETE", path, "", "Idempotency-Key", "made"); got.Status != 204 {
				t.Fatalf("%s: %d %s", path, got.Status, got.Body)
			}
		}
	}
	remove()
	if got := w.Call(t, "PUT", harb, manifestWithID(second, "Second")); got.Status != 201 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	w.Booking.Add(second, someBooking("confirmed", "2026-12-01"))
	w.Call(t, "POST", harb+"/keys", `{"name":"site","scope":"all"}`)
	remove()
	expect(t, w.Call(t, "DELETE", harb+"?force=true", "", "Idempotency-Key", "refused"), 404, "business_not_found", "")
	if now := w.Call(t, "GET", harb, ""); now.Status != 200 || w.Booking.CountLiveKeys(second) != 1 {
		t.Errorf("the second business: %d %s with %d live keys", now.Status, now.Body, w.Booking.CountLiveKeys(second))
	}
	if got := w.Call(t, "DELETE", harb+"?force=true", "", "Idempotency-Key", "another"); got.Status != 204 ||
		w.Booking.CountLiveKeys(second) != 0 {
		t.Errorf("a removal with another idempotency key: %d %s", got.Status, got.Body)
	}
}
