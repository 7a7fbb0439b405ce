package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// addSales stores a booking of Ada, and a reservation with another address of hers.
func addSales(t *testing.T, w *consoletest.Fixture) uuid.UUID {
	t.Helper()
	business := publish(t, w)
	w.Booking.Add(business, booking.Booking{ID: uuid.New(), Status: "completed", CustomerName: "Ada",
		CustomerEmail: "ada@example.com", CreatedAt: consoletest.Epoch, StartsAt: consoletest.Epoch, Total: "40.00",
		Currency: "EUR"})
	reserved := strings.Replace(someReservation("Countess", "2026-12-01", "2026-12-03"), `}`,
		`, "customer_email": "zz@example.com"}`, 1)
	if created := w.Call(t, "POST", harb+"/reservations", reserved); created.Status != 201 {
		t.Fatalf("reserved: %d %s", created.Status, created.Body)
	}
	return business
}

// TestMergeJoinsSalesOfAllServices shows that a merged customer is listed once, with the sales of both addresses, and
// that an erasure covers both.
func TestMergeJoinsSalesOfAllServices(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	addSales(t, w)
	at := harb + "/customers"
	if got := listCustomers(t, w.Call(t, "GET", at, "")); got != "ada 1 0, zz 0 1" {
		t.Fatalf("before: %q", got)
	}
	expectOK := func(path, body string) consoletest.Answer {
		t.Helper()
		got := w.Call(t, "POST", at+path, body)
		if got.Status != 200 {
			t.Fatalf("%s: %d %s", path, got.Status, got.Body)
		}
		return got
	}
	expectOK("/change", `{"customer": "ada@example.com", "notes": "secret wishes", "tags": ["regular"]}`)
	expectOK("/merge", `{"into": "ada@example.com", "from": "zz@example.com"}`)
	for _, query := range []string{"", "?query=countess", "?tag=regular"} {
		if got := listCustomers(t, w.Call(t, "GET", at+query, "")); got != "ada 1 1" {
			t.Errorf("%q: %q", query, got)
		}
	}
	if got := w.Call(t, "GET", at+"?limit=1", ""); strings.Contains(got.Body, "next_cursor") && listCustomers(t,
		w.Call(t, "GET", at+"?limit=1&cursor="+field(t, got, "next_cursor").(string), "")) != "" {
		t.Errorf("the second page lists the merged customer again: %s", got.Body)
	}
	one := w.Call(t, "GET", at+"/one?email=zz@example.com", "")
	if one.Status != 200 || field(t, one, "notes") != "secret wishes" || field(t, one, "visits") != 1.0 {
		t.Errorf("one: %d %s", one.Status, one.Body)
	}
	merge := field(t, one, "merges").([]any)[0].(map[string]any)["id"].(string)
	expectOK("/separate", `{"customer": "ada@example.com", "merge_id": "`+merge+`"}`)
	if got := listCustomers(t, w.Call(t, "GET", at, "")); got != "ada 1 0, zz 0 1" {
		t.Errorf("separated: %q", got)
	}
	expectOK("/merge", `{"into": "ada@example.com", "from": "zz@example.com"}`)
	erased := expectOK("/erase", `{"email": "zz@example.com", "force": true}`)
	if field(t, erased, "bookings") != 1.0 || field(t, erased, "records") != 1.0 {
		t.Errorf("erased: %s", erased.Body)
	}
	if got := w.Call(t, "GET", at, ""); strings.Contains(got.Body, "ada@") {
		t.Errorf("after erasing: %s", got.Body)
	}
	if log := w.Log.String(); strings.Contains(log, "ada@") || strings.Contains(log, "secret wishes") ||
		strings.Contains(log, "regular") {
		t.Errorf("the log: %s", log)
	}
}

func TestCustomerChangesAreChecked(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	addSales(t, w)
	at := harb + "/customers"
	for path, body := range map[string]string{
		"/change":               `{"customer": "nobody"}`,
		"/change?long":          `{"customer": "ada@example.com", "notes": "` + strings.Repeat("x", 4001) + `"}`,
		"/change?tags":          `{"customer": "ada@example.com", "tags": ["` + strings.Repeat("x", 41) + `"]}`,
		"/change?none":          `{"customer": "ada@example.com", "emails": [], "phones": []}`,
		"/change?email":         `{"customer": "ada@example.com", "emails": ["+351 210 000 000"]}`,
		"/change?unknown":       `{"customer": "ada@example.com", "color": "red"}`,
		"/import?columns=color": "name,email\nAda,ada@example.com",
		"/import":               "name\nAda",
	} {
		contentType := "application/json"
		if strings.HasPrefix(path, "/import") {
			contentType = "text/csv"
		}
		expect(t, w.Call(t, "POST", at+path, body, "Content-Type", contentType), 400, "invalid_parameter", "")
	}
	expect(t, w.Call(t, "GET", at+"/one?email=unknown@example.com", ""), 404, "not_found", "")
}

func TestImportCustomersFromCSV(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	addSales(t, w)
	at := harb + "/customers"
	file := "Vorname;Nachname;E-Mail;Telefon\nBo;Bauer;bo@example.com;\nCy;;;030 123456\nDi;;;\n"
	dry := w.Call(t, "POST", at+"/import?dry_run=true", file, "Content-Type", "text/csv")
	if dry.Status != 200 || field(t, dry, "added") != 2.0 || field(t, dry, "id") != nil ||
		len(field(t, dry, "invalid").([]any)) != 1 {
		t.Fatalf("dry run: %d %s", dry.Status, dry.Body)
	}
	if got := listCustomers(t, w.Call(t, "GET", at, "")); got != "ada 1 0, zz 0 1" {
		t.Errorf("after the dry run: %q", got)
	}
	done := w.Call(t, "POST", at+"/import", file, "Content-Type", "text/csv")
	if done.Status != 200 || field(t, done, "added") != 2.0 {
		t.Fatalf("import: %d %s", done.Status, done.Body)
	}
	again := w.Call(t, "POST", at+"/import", file, "Content-Type", "text/csv")
	if field(t, again, "added") != 0.0 || len(field(t, again, "duplicate").([]any)) != 2 {
		t.Errorf("again: %s", again.Body)
	}
	if got := w.Call(t, "GET", at+"?query=Bauer", ""); listCustomers(t, got) != "bo 0 0" {
		t.Errorf("found: %s", got.Body)
	}
	undone := w.Call(t, "POST", at+"/imports/"+field(t, done, "id").(string)+"/undo", "")
	if undone.Status != 200 || field(t, undone, "records") != 2.0 {
		t.Errorf("undone: %d %s", undone.Status, undone.Body)
	}
	expect(t, w.Call(t, "POST", at+"/imports/"+uuid.NewString()+"/undo", ""), 404, "not_found", "")
}

// TestCustomerPagesShowAndImport shows the pages of a customer and of an import, with the buttons of each role.
func TestCustomerPagesShowAndImport(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := addSales(t, w)
	owner := w.AddSession(t, "owner@example.com", access.Member{BusinessID: business, Role: access.Owner})
	desk := w.AddSession(t, "desk@example.com", access.Member{BusinessID: business, Role: access.FrontDesk})
	if got := w.Call(t, "POST", harb+"/customers/change",
		`{"customer": "ada@example.com", "notes": "Prefers mornings.", "tags": ["regular"]}`); got.Status != 200 {
		t.Fatal(got.Body)
	}
	one := getPage(t, w, "/business/harbor/customers/one?email=ada@example.com", owner)
	for _, text := range []string{"Prefers mornings.", "regular", "Last visit", "Edit customer", "Merge customers"} {
		if !strings.Contains(one.Body, text) {
			t.Errorf("the page does not show %q", text)
		}
	}
	if got := getPage(t, w, "/business/harbor/customers/import", desk); got.Status != 403 {
		t.Errorf("the front desk may import: %d", got.Status)
	}
	if got := getPage(t, w, "/business/harbor/customers/import", owner); got.Status != 200 ||
		!strings.Contains(got.Body, `type="file"`) {
		t.Errorf("the page of an import: %d %s", got.Status, got.Body)
	}
}
