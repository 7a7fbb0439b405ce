package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

const quayBusiness = `
rentals: [{key: kayak, name: Kayak, price_type: daily, quantity: 1, units_count: 1}]
events: [{key: gala, name: Gala, date: 2027-03-06, start_time: "20:00", end_time: "23:00", total_capacity: 5, tiers: [{key: stalls, name: Stalls, capacity: 5}]}]
`

// bookEverything books, reserves, invites a person and sells all tickets of a business.
func bookEverything(t *testing.T, w *platform, key string) {
	t.Helper()
	cut := w.idsByName(t, "quay", "services")["Cut"]
	w.book(t, "quay", key, newOrder(cut, "2027-03-02", "10:00").withField("customer_name",
		"Old Customer")).checkStatus(t,
		http.StatusCreated, "")
	kayak := w.idsByName(t, "quay", "rentals")["Kayak"]
	w.callAdmin(t, http.MethodPost, "businesses/quay/reservations", fmt.Appendf(nil,
		`{"rental_id":%q,"start_date":"2027-03-05","end_date":"2027-03-06","quantity":1,"customer_name":"Old Customer"}`, kayak)).checkStatus(t, http.StatusCreated, "")
	w.callAdmin(t, http.MethodPost, "invitations",
		[]byte(`{"business":"quay","email":"rosa@quay.example","role":"desk","mail":false}`)).checkStatus(t,
		http.StatusCreated, "")
	gala := w.listEvents(t, "quay/events").Events[0]
	w.mustSellTickets(t, "quay", gala.ID, gala.Inventory[0].ID, 5)
}

// findBusinessID returns the id of a business in the list of businesses.
func (w *platform) findBusinessID(t *testing.T, slug string) string {
	t.Helper()
	var list struct{ Businesses []struct{ ID, Slug string } }
	w.callAdmin(t, http.MethodGet, "businesses", nil).decode(t, http.StatusOK, &list)
	for _, b := range list.Businesses {
		if b.Slug == slug {
			return b.ID
		}
	}
	t.Fatalf("%s is not listed", slug)
	return ""
}

// TestRemovedSlugStartsNewBusiness publishes a new business under the slug of a removed one. The new business gets no
// data of the removed one, and a month later no data of the removed one is left.
func TestRemovedSlugStartsNewBusiness(t *testing.T) {
	t.Parallel()
	databaseURL := testkit.Database(t, "e2e")
	on := func(now string) *platform {
		return startPlatform(t, allowLoopback, func(c *allinone.Config) { c.DatabaseURL, c.Now = databaseURL, now })
	}
	w := on(monday)
	w.publish(t, "quay", buildSalon("quay", 1)+quayBusiness)
	oldID, oldKey := w.findBusinessID(t, "quay"), w.createKey(t, "quay", "all")
	url, deliveries := startReceiver(t)
	w.callAdmin(t, http.MethodPost, "businesses/quay/webhooks", fmt.Appendf(nil, `{"url": %q, "events": ["*"]}`,
		url)).checkStatus(t, http.StatusCreated, "")
	bookEverything(t, w, oldKey)
	nextDelivery(t, deliveries)
	w.callAdmin(t, http.MethodDelete, "businesses/quay", nil).checkStatus(t, http.StatusConflict, "conflict")
	w.callAdmin(t, http.MethodDelete, "businesses/quay?force=true", nil).checkStatus(t, http.StatusNoContent, "")
	cut := "6f1c1f4e-8f3c-4a5b-9e3f-1b1f6f4f0a01"
	w.book(t, "quay", oldKey, newOrder(cut, "2027-03-02", "10:00")).checkStatus(t, http.StatusUnauthorized,
		"invalid_api_key")

	w.publish(t, "quay", buildSalon("quay", 1)+quayBusiness)
	newID := w.findBusinessID(t, "quay")
	if newID == oldID {
		t.Fatalf("the new business has the id of the removed one, %s", newID)
	}
	w.checkNothingOfOld(t, oldKey)
	newKey := w.createKey(t, "quay", "all")
	bookEverything(t, w, newKey) // starts, units and tickets that the removed business has sold are free here
	versions := w.callAdmin(t, http.MethodGet, "businesses/quay/versions", nil)
	if n := strings.Count(string(versions.body), "published_at"); n != 1 {
		t.Errorf("the new business has %d versions: %s", n, versions.body)
	}
	w.callAdmin(t, http.MethodPost, "businesses/quay/rollback", []byte(`{"version":1}`)).checkStatus(t,
		http.StatusNotFound,
		"not_found")
	w.publish(t, "quay", strings.Replace(buildSalon("quay", 1)+quayBusiness, "timezone:",
		"cooling_off_hours: 5\ntimezone:",
		1))
	if id := w.findBusinessID(t, "quay"); id != newID {
		t.Errorf("its next version has the id %s, after %s", id, newID)
	}
	w.stop(t)

	if counts := countRows(t, databaseURL, oldID); counts["notifications"] == 0 {
		t.Errorf("the test leaves nothing in notifications: %v", counts)
	}
	before := countRows(t, databaseURL, newID)
	w = on("2027-04-15T06:00:00Z")
	awaitErasure(t, databaseURL, oldID)
	after := countRows(t, databaseURL, newID)
	delete(before, "notifications") // notifications continues to store messages
	delete(after, "notifications")
	if !maps.Equal(before, after) {
		t.Errorf("the new business had the rows %v and has %v", before, after)
	}
	w.callAdmin(t, http.MethodDelete, "businesses/quay?force=true", nil).checkStatus(t, http.StatusNoContent, "")
	w.publish(t, "quay", buildSalon("quay", 1))
	if id := w.findBusinessID(t, "quay"); id == oldID || id == newID {
		t.Errorf("the third business has the id of one before it, %s", id)
	}
}

func (w *platform) checkNothingOfOld(t *testing.T, oldKey string) {
	t.Helper()
	cut := w.idsByName(t, "quay", "services")["Cut"]
	w.book(t, "quay", oldKey, newOrder(cut, "2027-03-02", "11:00")).checkStatus(t, http.StatusUnauthorized,
		"invalid_api_key")
	for _, list := range []string{"bookings?from=2027-01-01&to=2027-12-31",
		"reservations?from=2027-01-01&to=2027-12-31", "tickets", "keys"} {
		if a := w.callAdmin(t, http.MethodGet, "businesses/quay/"+list, nil); a.status != http.StatusOK ||
			strings.Contains(string(a.body), `"id"`) {
			t.Errorf("%s of the new business: %d %s", list, a.status, a.body)
		}
	}
}

// countRows counts the rows of a business in the tables of each service.
func countRows(t *testing.T, databaseURL, business string) map[string]int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	found, err := conn.Query(t.Context(), `SELECT table_schema || '.' || table_name FROM information_schema.columns
		WHERE table_schema IN ('booking', 'rental', 'catalog', 'console', 'notifications') AND column_name = 'business_id'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil || len(tables) < 15 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	counts := map[string]int{}
	for _, table := range tables {
		var n int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE business_id = $1",
			business).Scan(&n); err != nil {
			t.Fatal(err)
		}
		service, _, _ := strings.Cut(table, ".")
		counts[service] += n
	}
	return counts
}

// awaitErasure waits until no table has rows of a business. It polls the tables, because the erasing job does not
// report its end.
func awaitErasure(t *testing.T, databaseURL, business string) {
	t.Helper()
	for deadline := time.Now().Add(testkit.MaxWait); ; time.Sleep(100 * time.Millisecond) {
		counts := countRows(t, databaseURL, business)
		if !slices.ContainsFunc(slices.Collect(maps.Values(counts)), func(n int) bool { return n > 0 }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("rows of the removed business are still there: %v", counts)
		}
	}
}
