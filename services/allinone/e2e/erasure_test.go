package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/allinone"
)

const erasableManifest = `
notifications: {owner_emails: [hello@harbor.example]}
rentals: [{key: kayak, name: Kayak, price_type: daily, quantity: 2, units_count: 2}]
events: [{key: gala, name: Gala, date: 2027-03-06, start_time: "20:00", end_time: "23:00", total_capacity: 5, tiers: [{key: stalls, name: Stalls, price: 10, capacity: 5}]}]
`

// erasedName and erasedEmail belong to the customer that the test erases. No other data contains these words.
const (
	erasedName  = "Gonelia Vanishova"
	erasedEmail = "Gonelia.V@faded.example"
)

var (
	erasedTexts = []string{"gonelia", "vanishova", "faded.example"}
	// erasedPastTexts are phone numbers and form answers of bookings and orders that have ended, and a note.
	erasedPastTexts = []string{"macadamian", "555019", "hazelnutty", "555088", "walnutty", "555099", "cashewy"}
	// erasedFutureTexts are the phone number and form answer of the future booking.
	erasedFutureTexts = []string{"555077", "pistachio"}
)

// dumpDatabase returns a dump of the whole database by pg_dump.
func dumpDatabase(t *testing.T, databaseURL string) string {
	t.Helper()
	program, err := inputs.LookPath("pg_dump")
	if err != nil {
		testkit.SkipOrFail(t, "pg_dump is not on the PATH: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	text, err := exec.CommandContext(ctx, program, "--dbname", databaseURL).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	return string(text)
}

// sumTables returns the sales, the occupied times and the events as text. An erasure must not change them.
func sumTables(t *testing.T, databaseURL string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var text string
	err = conn.QueryRow(t.Context(), `SELECT concat_ws(E'\n',
		(SELECT string_agg(concat_ws(' ', id, status, total, starts_at, ends_at, services, staff_id, party_size, source), E'\n' ORDER BY id) FROM booking.bookings),
		(SELECT string_agg(o::text, E'\n' ORDER BY o::text) FROM booking.occupied_time o),
		(SELECT string_agg(concat_ws(' ', id, status, event_id, tiers, quantity, starts_at), E'\n' ORDER BY id) FROM booking.tickets),
		(SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM booking.event_sales s),
		(SELECT string_agg(concat_ws(' ', id, status, rental_id, quantity, start_date, end_date), E'\n' ORDER BY id) FROM rental.reservations),
		(SELECT string_agg(concat_ws(' ', subject_id, sequence, type, at, actor_kind), E'\n' ORDER BY subject_id, sequence)
		 FROM (SELECT * FROM booking.events UNION ALL SELECT * FROM rental.events) e WHERE type <> 'customer.erased'))`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// callOwner sends a POST request to the admin API for the business, with an Idempotency-Key.
func (w *platform) callOwner(t *testing.T, path, key string, body any) reply {
	t.Helper()
	text := encodeJSON(t, body)
	header := http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/json"},
		"Idempotency-Key": {key}}
	return w.do(t, http.MethodPost, w.AdminURL+"/admin/businesses/forgetful/"+path, text, header)
}

// createEverything makes bookings, a reschedule, a cancellation, an order of tickets and a reservation for the
// customer, by API key and by the owner. It also makes one booking for another customer. It returns the ids of two
// bookings: one has ended by 15 April, the other is in May.
func (w *platform) createEverything(t *testing.T) (string, string) {
	t.Helper()
	cut, key := w.idsByName(t, "forgetful", "services")["Cut"], w.createKey(t, "forgetful", "all")
	hers := func(date, clock string) order {
		return order{
			"service_ids": []string{cut}, "date": date, "time": clock, "customer_name": erasedName,
			"customer_email": erasedEmail,
			"customer_phone": "+351 210 555019", "form_data": order{"allergies": "hazelnutty"},
		}
	}
	var created struct{ Booking struct{ ID string } }
	var ended struct{ ID string }
	first, err := w.tryBook("forgetful", key, hers("2027-03-02", "10:00"), http.Header{"Idempotency-Key": {"first"}})
	if err != nil {
		t.Fatal(err)
	}
	first.decode(t, http.StatusCreated, &created)
	w.callOwner(t, "bookings/"+created.Booking.ID+"/reschedule", "move",
		order{"date": "2027-03-02", "time": "11:00"}).checkStatus(t,
		http.StatusOK, "")
	w.callOwner(t, "bookings/"+created.Booking.ID+"/cancel", "cancel", order{}).checkStatus(t, http.StatusOK, "")
	w.callOwner(t, "bookings", "dashboard", hers("2027-03-08", "10:00")).decode(t, http.StatusCreated, &ended)
	w.callOwner(t, "bookings", "taken", hers("2027-03-08", "10:00")).checkStatus(t, http.StatusConflict,
		"no_staff_available")
	gala := w.listEvents(t, "forgetful/events").Events[0]
	w.callOwner(t, "tickets", "gala", order{
		"event_id": gala.ID, "tier_id": gala.Inventory[0].ID, "quantity": 2, "customer_name": erasedName,
		"customer_email": erasedEmail,
		"customer_phone": "+351 210 555088", "form_data": order{"meal": "walnutty"},
	}).checkStatus(t, http.StatusCreated, "")
	w.callOwner(t, "reservations", "kayak", order{
		"rental_id": w.idsByName(t, "forgetful", "rentals")["Kayak"], "start_date": "2027-03-05",
		"end_date":      "2027-03-06",
		"quantity":      1,
		"customer_name": erasedName, "customer_email": erasedEmail, "customer_phone": "+351 210 555099",
		"form_data": order{"snack": "cashewy"},
	}).checkStatus(t, http.StatusCreated, "")
	w.book(t, "forgetful", key, hers("2027-03-09", "10:00").withField("customer_email", "no address")).checkStatus(t,
		http.StatusBadRequest, "invalid_parameter")
	w.book(t, "forgetful", key, newOrder(cut, "2027-03-09", "10:00").withField("customer_name",
		"Staying Customer")).checkStatus(t, http.StatusCreated, "")
	ahead := hers("2027-05-04", "10:00").withField("customer_phone", "+351 210 555077").withField("form_data",
		order{"allergies": "pistachio"})
	w.book(t, "forgetful", key, ahead).decode(t, http.StatusCreated, &created)
	return ended.ID, created.Booking.ID
}

// TestEraseRemovesAllCustomerData erases a customer and shows that no customer data remains in the database dump or in
// the logs. Data of the future booking remains until the erasure is forced.
func TestEraseRemovesAllCustomerData(t *testing.T) {
	t.Parallel()
	databaseURL, home := testkit.Database(t, "e2e"), t.TempDir()
	on := func(now string) *platform {
		return startPlatform(t, allowLoopback, func(c *allinone.Config) {
			c.DatabaseURL, c.Home, c.Now, c.PagesURL = databaseURL, home, now, "https://book.example.org"
		}, checkRouting(t))
	}
	w := on(monday)
	w.publish(t, "forgetful", buildSalon("forgetful", 1)+erasableManifest)
	url, deliveries := startReceiver(t)
	for _, u := range []string{url, findUnusedAddress(t)} { // deliveries to the unused address are retried
		w.callAdmin(t, http.MethodPost, "businesses/forgetful/webhooks",
			fmt.Appendf(nil, `{"url": %q, "events": ["*"]}`,
				u)).checkStatus(t, http.StatusCreated, "")
	}
	ended, ahead := w.createEverything(t)
	for range 8 {
		nextDelivery(t, deliveries)
	}
	w.awaitMails(t, 9) // one mail covers the booking that was rescheduled and cancelled at once
	w.stop(t)

	w = on("2027-04-15T06:00:00Z")
	w.callOwner(t, "bookings/"+ended+"/complete", "complete", nil).checkStatus(t, http.StatusOK, "")
	operator := w.newOperatorCommand(t)
	operator.mustRun(t, "", "customers", "change", "forgetful", "--email", erasedEmail, "--notes", "macadamian")
	all := slices.Concat(erasedTexts, erasedPastTexts, erasedFutureTexts)
	if found := testkit.Find(dumpDatabase(t, databaseURL), all...); len(found) != len(all) {
		t.Fatalf("before the erasure, the dump should contain %q, but has only %q", all, found)
	}
	before := sumTables(t, databaseURL)
	operator.mustRun(t, "", "customers", "list", "forgetful", "--query", "vanishova")
	operator.mustRun(t, "", "customers", "export", "forgetful", "--email", erasedEmail)
	type kept struct{ Kind, ID string }
	var named []kept
	for _, one := range operator.mustRun(t, "", "customers", "erase", "forgetful", "--email",
		erasedEmail)["ahead"].([]any) {
		one := one.(map[string]any)
		named = append(named, kept{one["kind"].(string), one["id"].(string)})
	}
	if diff := cmp.Diff([]kept{{"booking", ahead}}, named); diff != "" {
		t.Errorf("future sales (-want +listed):\n%s", diff)
	}
	if found := testkit.Find(dumpDatabase(t, databaseURL), all...); !slices.Equal(found,
		slices.Concat(erasedTexts, erasedFutureTexts)) {
		t.Errorf("with one future booking, the dump has %q", found)
	}
	operator.mustRun(t, "", "customers", "erase", "forgetful", "--email", erasedEmail, "--force")
	w.stop(t)
	if found := testkit.Find(dumpDatabase(t, databaseURL), all...); len(found) != 0 {
		t.Errorf("the dump still has %q", found)
	}
	if diff := cmp.Diff(before, sumTables(t, databaseURL)); diff != "" {
		t.Errorf("erasing changed the sales (-before +after):\n%s", diff)
	}
	log, err := os.ReadFile(filepath.Join(home, allinone.LogFile))
	if err != nil {
		t.Fatal(err)
	}
	if found := testkit.Find(string(log), all...); len(found) != 0 {
		t.Errorf("the logs have %q", found)
	}
}

// findUnusedAddress returns a URL of a port on this machine on which no server listens.
func findUnusedAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return "http://" + listener.Addr().String()
}
