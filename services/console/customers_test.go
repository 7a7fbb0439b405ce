package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// listCustomers returns the names of the customers in a list, each with the numbers of bookings and reservations.
func listCustomers(t *testing.T, list consoletest.Answer) string {
	t.Helper()
	var all []string
	for _, c := range field(t, list, "customers").([]any) {
		c := c.(map[string]any)
		name, _, _ := strings.Cut(c["email"].(string), "@")
		all = append(all, fmt.Sprintf("%s %v %v", name, c["bookings"], c["reservations"]))
	}
	return strings.Join(all, ", ")
}

func TestCustomersListExportAndErase(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	done, futureID := uuid.New(), uuid.New()
	for _, b := range []booking.Booking{
		{ID: done, Status: "completed", CustomerName: "Ada", CustomerEmail: "ada@example.com",
			CreatedAt: consoletest.Epoch, Total: "40.00"},
		{ID: futureID, Status: "pending", CustomerName: "Ada", CustomerEmail: "Ada@example.com",
			CreatedAt: consoletest.Epoch, Total: "40.00"},
		{ID: uuid.New(), Status: "pending", CustomerName: "Bob", CustomerEmail: "bob@example.com",
			CreatedAt: consoletest.Epoch, Total: "40.00"},
	} {
		w.Booking.Add(business, b)
	}
	reserved := strings.Replace(someReservation("Countess", "2026-12-01", "2026-12-03"), `}`,
		`, "customer_email": "ada@example.com"}`, 1)
	if created := w.Call(t, "POST", harb+"/reservations", reserved); created.Status != 201 {
		t.Fatalf("reserved: %d %s", created.Status, created.Body)
	}
	at := harb + "/customers"
	for query, want := range map[string]string{
		"": "ada 2 1, bob 1 0", "?query=countess": "ada 2 1", "?query=BOB": "bob 1 0", "?query=nobody": "",
		"?limit=1": "ada 2 1 …",
	} {
		got := w.Call(t, "GET", at+query, "")
		text := listCustomers(t, got)
		if strings.Contains(got.Body, "next_cursor") {
			text += " …"
		}
		if text != want {
			t.Errorf("%q: %q, want %q", query, text, want)
		}
	}
	next := field(t, w.Call(t, "GET", at+"?limit=1", ""), "next_cursor").(string)
	if got := w.Call(t, "GET", at+"?limit=1&cursor="+next, ""); !strings.Contains(got.Body, "bob@") ||
		strings.Contains(got.Body, "ada@") {
		t.Errorf("the page after the first: %s", got.Body)
	}
	export := w.Call(t, "GET", at+"/export?email=ada%40example.com", "")
	if export.Status != 200 || len(field(t, export, "bookings").([]any)) != 2 ||
		len(field(t, export, "reservations").([]any)) != 1 || strings.Contains(export.Body, "bob") {
		t.Errorf("exported: %d %s", export.Status, export.Body)
	}
	erased := w.Call(t, "POST", at+"/erase", `{"email": "ada@example.com"}`)
	if erased.Status != 200 || field(t, erased, "bookings") != 1.0 || field(t, erased, "reservations") != 1.0 ||
		!strings.Contains(erased.Body, futureID.String()) {
		t.Errorf("erased: %d %s", erased.Status, erased.Body)
	}
	if forced := w.Call(t, "POST", at+"/erase", `{"email": "ada@example.com", "force": true}`); field(t, forced,
		"bookings") != 1.0 {
		t.Errorf("forced: %d %s", forced.Status, forced.Body)
	}
	if export := w.Call(t, "GET", at+"/export?email=ada@example.com", ""); strings.Contains(export.Body, `"status"`) {
		t.Errorf("after erasing: %s", export.Body)
	}
	for path, body := range map[string]string{"/export": "", "/export?email=ada": "", "?cursor=*": "",
		"?query=" + strings.Repeat("x", 255): "", "/erase": `{"email": "ada"}`} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		expect(t, w.Call(t, method, at+path, body), 400, "invalid_parameter", "")
	}
	if log := strings.ToLower(w.Log.String()); strings.Contains(log, "ada@") || strings.Contains(log, "countess") ||
		!strings.Contains(log, `"change":"erase customer"`) {
		t.Errorf("the log: %s", log)
	}
}

// TestEraseIncludesMessagesAndDeliveries shows that a customer's messages are exported and erased. If notifications
// does not answer, the outcome is unknown, and a repeated request completes the erasure.
func TestEraseIncludesMessagesAndDeliveries(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	done, futureID := uuid.New(), uuid.New()
	for id, status := range map[uuid.UUID]string{done: "completed", futureID: "pending"} {
		w.Booking.Add(business, booking.Booking{ID: id, Status: status, CustomerName: "Ada",
			CustomerEmail: "ada@example.com", CreatedAt: consoletest.Epoch, Total: "40.00"})
		w.Notifications.AddMessages(business, consoletest.Message{About: id, To: "Ada@example.com"},
			consoletest.Message{About: id, To: "bob@example.com"})
	}
	at := harb + "/customers/erase"
	w.Notifications.SetUnavailable(true)
	expect(t, w.Call(t, "POST", at, `{"email": "ada@example.com"}`), 503, "outcome_unknown", "repeat")
	export := harb + "/customers/export?email=ada@example.com"
	if got := w.Call(t, "GET", export, ""); got.Status != 503 {
		t.Errorf("exported without messages: %d %s", got.Status, got.Body)
	}
	w.Notifications.SetUnavailable(false)
	if got := w.Call(t, "GET", export, ""); len(field(t, got, "bookings").([]any)) != 1 ||
		len(field(t, got, "messages").([]any)) != 2 || !strings.Contains(got.Body, "See you soon.") ||
		strings.Contains(got.Body, "bob@") {
		t.Errorf("after the first attempt: %s", got.Body)
	}
	got := w.Call(t, "POST", at, `{"email": " ADA@example.com"}`)
	if got.Status != 200 || field(t, got, "bookings") != 0.0 || field(t, got, "messages") != 1.0 ||
		field(t, got, "deliveries") != 1.0 || !strings.Contains(got.Body, futureID.String()) {
		t.Errorf("repeated: %d %s", got.Status, got.Body)
	}
	got = w.Call(t, "POST", at, `{"email": "ada@example.com", "force": true}`)
	if got.Status != 200 || field(t, got, "bookings") != 1.0 || field(t, got, "messages") != 1.0 ||
		field(t, got, "deliveries") != 1.0 {
		t.Errorf("forced: %d %s", got.Status, got.Body)
	}
	if got := w.Call(t, "GET", export, ""); len(field(t, got, "messages").([]any)) != 0 {
		t.Errorf("after erasing: %s", got.Body)
	}
	if log := strings.ToLower(w.Log.String()); strings.Contains(log, "ada@") || !strings.Contains(log, `"messages":1`) {
		t.Errorf("the log: %s", log)
	}
}
