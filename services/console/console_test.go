package console_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

const (
	yaml = "application/yaml"
	harb = "/admin/businesses/harbor"
)

// publish publishes the business harbor and returns its id.
func publish(t *testing.T, w *consoletest.Fixture) uuid.UUID {
	t.Helper()
	return publishText(t, w, consoletest.BuildManifest("harbor", "Harbor"))
}

// publishText publishes the first version of harbor and returns the id of the business.
func publishText(t *testing.T, w *consoletest.Fixture, text string) uuid.UUID {
	t.Helper()
	got := w.Call(t, "PUT", harb, text, "Content-Type", yaml)
	if got.Status != http.StatusCreated {
		t.Fatalf("publish: %d %s", got.Status, got.Body)
	}
	return uuid.MustParse(field(t, got, "id").(string))
}

func field(t *testing.T, a consoletest.Answer, name string) any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(a.Body), &members); err != nil {
		t.Fatalf("%d %q is not a JSON object: %v", a.Status, a.Body, err)
	}
	return members[name]
}

// expect fails unless the answer has the status, the messageCode and an error sentence that contains `sentence`.
func expect(t *testing.T, a consoletest.Answer, status int, code, sentence string) {
	t.Helper()
	text, _ := field(t, a, "error").(string)
	if a.Status != status || field(t, a, "messageCode") != code || text == "" || !strings.Contains(text, sentence) {
		t.Errorf("got %d %s; want %d, %s and a sentence with %q", a.Status, a.Body, status, code, sentence)
	}
}

func TestAdminAPINeedsToken(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer wrong", consoletest.Token,
		"Basic " + consoletest.Token, "Bearer " + consoletest.Token + "x"} {
		for _, path := range []string{"/admin/businesses", harb, "/admin/nowhere"} {
			got := w.Call(t, "GET", path, "", "Authorization", header)
			expect(t, got, 401, "unauthorized", "admin token")
			if !strings.HasPrefix(got.Header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%q: WWW-Authenticate is %q", header, got.Header.Get("WWW-Authenticate"))
			}
		}
	}
	if got := w.Call(t, "GET", "/admin/businesses", "", "Authorization",
		"bearer "+consoletest.Token); got.Status != 200 {
		t.Errorf("the scheme in lower case: %d %s", got.Status, got.Body)
	}
	if strings.Contains(w.Log.String(), consoletest.Token) {
		t.Error("the log contains the token")
	}
}

func TestPublishAnswers201Then200(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	for i, want := range []struct {
		status  int
		etag    string
		version float64
	}{{201, `"1"`, 1}, {200, `"2"`, 2}} {
		got := w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml)
		if got.Status != want.status || got.Header.Get("ETag") != want.etag ||
			field(t, got, "version") != want.version {
			t.Errorf("publish %d: %d %s %s", i+1, got.Status, got.Header.Get("ETag"), got.Body)
		}
		var members map[string]any
		_ = json.Unmarshal([]byte(got.Body), &members)
		if len(members) != 3 || members["slug"] != "harbor" || members["id"] == nil {
			t.Errorf("publish %d: %s, want id, slug and version", i+1, got.Body)
		}
	}
}

func TestPublishRejectsStaleVersion(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	publishIf := func(version string) consoletest.Answer {
		return w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml, "If-Match",
			version)
	}
	if got := publishIf(`"1"`); got.Status != 200 {
		t.Errorf("the newest version: %d %s", got.Status, got.Body)
	}
	expect(t, publishIf(`"1"`), 412, "precondition_failed", "the newest version is 2, not 1")
}

func TestPublishReportsAllProblems(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	text := strings.Replace(consoletest.BuildManifest("harbor", "Harbor"), "Europe/Lisbon", "Europe/Lisboa", 1) +
		"colour: blue\n"
	got := w.Call(t, "PUT", harb, text, "Content-Type", yaml)
	expect(t, got, 400, "invalid_parameter", "manifest")
	problems, _ := field(t, got, "problems").([]any)
	if len(problems) != 2 {
		t.Fatalf("problems: %v, want the zone and the unknown field", problems)
	}
	first := problems[0].(map[string]any)
	if first["path"] != "timezone" || first["line"] != 6.0 || first["message"] == "" {
		t.Errorf("first problem: %v, want timezone on line 6", first)
	}
}

func TestPublishRejectsOtherDocuments(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	manifest := consoletest.BuildManifest("harbor", "Harbor")
	expect(t, w.Call(t, "PUT", harb, manifest, "Content-Type", "application/xml"), 415, "unsupported_media_type",
		"application/yaml")
	expect(t, w.Call(t, "PUT", harb, manifest, "Content-Type", ";;"), 415, "unsupported_media_type", "Content-Type")
	expect(t, w.Call(t, "PUT", harb, manifest, "Content-Encoding", "gzip"), 415, "unsupported_media_type", "compressed")
	expect(t, w.Call(t, "PUT", "/admin/businesses/Harbor_1", manifest), 400, "invalid_parameter", "slug")
	expect(t, w.Call(t, "PUT", harb, strings.Repeat("# filler\n", 1<<20)), 413, "payload_too_large", "8388608")
	for _, mediaType := range []string{"", "application/x-yaml", "text/yaml; charset=utf-8",
		"application/x-www-form-urlencoded"} {
		if got := w.Call(t, "PUT", harb, manifest, "Content-Type", mediaType); got.Status >= 300 {
			t.Errorf("%q: %d %s", mediaType, got.Status, got.Body)
		}
	}
}

func TestManifestIsReturnedUnchanged(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Port"), "Content-Type", yaml)

	got := w.Call(t, "GET", harb+"?version=1", "", "Accept", yaml)
	if diff := cmp.Diff(consoletest.BuildManifest("harbor", "Harbor"), got.Body); diff != "" ||
		got.Header.Get("ETag") != `"1"` ||
		got.Header.Get("Content-Type") != yaml {
		t.Errorf("%v %s", got.Header, diff)
	}
	got = w.Call(t, "GET", harb, "")
	if field(t, got, "name") != "Port" || got.Header.Get("ETag") != `"2"` ||
		got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("newest: %v %s", got.Header, got.Body)
	}
	if got := w.Call(t, "GET", harb, "", "If-None-Match", `"2"`); got.Status != 304 || got.Body != "" {
		t.Errorf("known already: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "GET", harb+"?version=9", ""), 404, "not_found", "ersion")
	expect(t, w.Call(t, "GET", harb+"?version=x", ""), 400, "invalid_parameter", "version")
}

func TestUnknownBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := uuid.NewString()
	for _, slug := range []string{"nobody", "No%20Body", "%00", "..%2f..%2fkeys"} {
		base := "/admin/businesses/" + slug
		for _, call := range [][3]string{
			{"GET", ""}, {"DELETE", ""}, {"GET", "/versions"}, {"POST", "/rollback", `{"version":1}`},
			{"GET", "/keys"}, {"POST", "/keys", `{"name":"n","scope":"all"}`}, {"DELETE", "/keys/" + id},
			{"GET", "/bookings"}, {"POST", "/bookings/" + id + "/confirm"},
			{"GET", "/bookings/" + id + "/cancellation"}, {"POST", "/bookings/" + id + "/cancel"},
			{"POST", "/bookings/" + id + "/refund"},
		} {
			expect(t, w.Call(t, call[0], base+call[1], call[2]), 404, "business_not_found", "Business not found")
		}
	}
}

func TestUnknownPathsAndMethodsAreFaults(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	for _, path := range []string{"/admin", "/admin/", "/admin/nowhere", harb + "/ticket",
		harb + "/tickets/" + uuid.NewString(),
		harb + "/bookings/" + uuid.NewString() + "/refunds"} {
		expect(t, w.Call(t, "GET", path, ""), 404, "not_found", "nothing")
	}
	session := consoletest.FormatCookie(w.AddSession(t, "ana@example.com",
		access.Member{BusinessID: business, Role: access.Owner}))
	for _, path := range []string{"/nowhere", "/internal/businesses", "/metrics", "/businesses",
		"/business/harbor/nothing", "/assets/owner.css"} {
		if got := w.Call(t, "GET", path, "", session...); got.Status != 404 || !strings.Contains(got.Body,
			"Page not found") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	for _, call := range [][2]string{{"POST", "/admin/businesses"}, {"PATCH", harb}, {"DELETE", harb + "/versions"},
		{"PUT", harb + "/keys"}} {
		expect(t, w.Call(t, call[0], call[1], ""), 405, "method_not_allowed", "method")
	}
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	for _, slug := range []string{"a", "b", "c"} {
		w.Call(t, "PUT", "/admin/businesses/"+slug, consoletest.BuildManifest(slug, "Name of "+slug))
	}
	var slugs []string
	query := "?limit=2"
	for query != "" {
		got := w.Call(t, "GET", "/admin/businesses"+query, "")
		for _, entry := range field(t, got, "businesses").([]any) {
			business := entry.(map[string]any)
			slugs = append(slugs, business["slug"].(string))
			if business["name"] == "" || business["version"] != 1.0 || business["updated_at"] == "" ||
				business["id"] == "" {
				t.Errorf("%v lacks a field", business)
			}
		}
		query = ""
		if next, more := field(t, got, "next_cursor").(string); more {
			query = "?limit=2&cursor=" + next
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, slugs); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/admin/businesses", "/admin/businesses/a/versions", "/admin/businesses/a/keys",
		"/admin/businesses/a/bookings"} {
		for _, limit := range []string{"0", "-1", "1001", "x", "1e2"} {
			expect(t, w.Call(t, "GET", path+"?limit="+limit, ""), 400, "invalid_parameter", "limit")
		}
	}
}

func TestRollbackRepublishesOldVersion(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Port"))
	got := w.Call(t, "POST", harb+"/rollback", `{"version": 1}`)
	if got.Status != 200 || field(t, got, "version") != 3.0 || got.Header.Get("ETag") != `"3"` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if name := field(t, w.Call(t, "GET", harb, ""), "name"); name != "Harbor" {
		t.Errorf("the newest is called %v", name)
	}
	for body, sentence := range map[string]string{
		``: "JSON", `{}`: "version", `{"version":0}`: "version", `{"version":"1"}`: "version",
		`{"version":1.5}`:     "version",
		`{"version":1,"x":2}`: "x: unknown", `{"version":1}{}`: "goes on", `[1]`: "JSON", `null`: "version",
		"{\"version\":1,\"\xff\":1}": "UTF-8",
	} {
		expect(t, w.Call(t, "POST", harb+"/rollback", body), 400, "invalid_parameter", sentence)
	}
	expect(t, w.Call(t, "POST", harb+"/rollback", `{"version":99}`), 404, "not_found", "ersion")
	expect(t, w.Call(t, "POST", harb+"/rollback", `{"version":1}`, "Content-Type", yaml), 415, "unsupported_media_type",
		"application/json")
	expect(t, w.Call(t, "POST", harb+"/rollback", strings.Repeat(" ", 70_000)), 413, "payload_too_large", "65536")
}

func TestKeySecretIsShownOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	got := w.Call(t, "POST", harb+"/keys", `{"name":"site","scope":"write","expires_at":"2027-03-01T09:00:00+01:00"}`)
	if got.Status != 201 || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", got.Status, got.Header, got.Body)
	}
	var created map[string]any
	_ = json.Unmarshal([]byte(got.Body), &created)
	secret := created["key"].(string)
	id := created["id"].(string)
	want := map[string]any{"id": id, "name": "site", "scope": "write", "key": secret, "prefix": "sm_01234567",
		"created_at": "2026-11-21T09:00:00Z", "expires_at": "2027-03-01T09:00:00+01:00"}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Error(diff)
	}
	list := w.Call(t, "GET", harb+"/keys", "")
	if strings.Contains(list.Body, secret) || strings.Contains(w.Log.String(), secret) {
		t.Errorf("the key is shown again: %s\n%s", list.Body, w.Log)
	}
	if got := w.Call(t, "DELETE", harb+"/keys/"+id, ""); got.Status != 204 || got.Body != "" {
		t.Errorf("revoke: %d %s", got.Status, got.Body)
	}
	key := field(t, w.Call(t, "GET", harb+"/keys", ""), "keys").([]any)[0].(map[string]any)
	if _, exists := key["last_used_at"]; !exists || key["revoked_at"] == nil {
		t.Errorf("listed key: %v", key)
	}
	expect(t, w.Call(t, "DELETE", harb+"/keys/"+uuid.NewString(), ""), 404, "not_found", "Key")
	expect(t, w.Call(t, "DELETE", harb+"/keys/1", ""), 404, "not_found", "Key")
}

func TestCreateKeyReportsFieldErrors(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for body, sentence := range map[string]string{
		`{"name":1,"scope":"all"}`:                             "name",
		`{"name":"n","scope":"admin"}`:                         "scope",
		`{"name":"n","scope":"all","expires_at":"tomorrow"}`:   "expires_at",
		`{"name":"n","scope":"all","expires_at":1}`:            "expires_at",
		`{"name":"n","scope":"all","expires_at":"2027-02-30"}`: "expires_at",
		`{"name":"n","scope":"all","expiry":null}`:             "expiry",
	} {
		expect(t, w.Call(t, "POST", harb+"/keys", body), 400, "invalid_parameter", sentence)
	}
}

func someBooking(status, date string) booking.Booking {
	return booking.Booking{
		ID: uuid.New(), Status: status, Date: date, StartTime: "10:00:00", EndTime: "10:45:00",
		StartsAt:  consoletest.Epoch,
		EndsAt:    consoletest.Epoch.Add(45 * time.Minute),
		Services:  []booking.BookedService{{Name: "Haircut", Price: "40.00"}},
		PartySize: 1, Total: "40.00", Currency: "EUR", Source: "api", CustomerName: "Cara Customer",
		CustomerEmail: "cara@example.com",
	}
}

func TestBookingsListAndTransition(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	mine, other := someBooking("pending", "2026-12-01"), someBooking("cancelled", "2026-12-02")
	w.Booking.Add(business, mine)
	w.Booking.Add(business, other)

	for query, want := range map[string]int{
		"": 2, "?status=pending": 1, "?from=2026-12-02": 1, "?to=2026-11-30": 0, "?from=2026-12-01&to=2026-12-02": 2,
		"?query=CARA": 2, "?query=nobody": 0, "?source=api": 2, "?source=page": 0, "?payment=open": 0,
		"?staff_id=" + uuid.NewString(): 0, "?service_id=" + uuid.NewString(): 0,
	} {
		got := w.Call(t, "GET", harb+"/bookings"+query, "")
		if list := field(t, got, "bookings").([]any); len(list) != want {
			t.Errorf("%q: %d bookings, want %d", query, len(list), want)
		}
	}
	for _, move := range []struct {
		name   string
		status int
	}{{"no-show", 409}, {"confirm", 200}, {"confirm", 409}, {"reopen", 409}, {"complete", 200}, {"reopen", 200},
		{"reopen", 409}, {"complete", 200}} {
		got := w.Call(t, "POST", harb+"/bookings/"+mine.ID.String()+"/"+move.name, "")
		if got.Status != move.status {
			t.Errorf("%s: %d %s", move.name, got.Status, got.Body)
		}
		if move.status == 409 {
			expect(t, got, 409, "conflict", "booking")
		}
	}
	expect(t, w.Call(t, "POST", harb+"/bookings/"+uuid.NewString()+"/confirm", ""), 404, "not_found", "Booking")
	expect(t, w.Call(t, "POST", harb+"/bookings/1/confirm", ""), 404, "not_found", "Booking")
	for query, name := range map[string]string{
		"from=2027-02-29": "from", "to=tomorrow": "to", "status=gone": "status", "payment=gone": "payment",
		"staff_id=1": "staff_id", "query=" + strings.Repeat("x", 255): "query", "from=2026-12-02&to=2026-12-01": "to",
	} {
		expect(t, w.Call(t, "GET", harb+"/bookings?"+query, ""), 400, "invalid_parameter", name)
	}
}

func TestBookingCancelsAndRefunds(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	for body, want := range map[string]any{
		"": 20.0, `{}`: 20.0, `{"refund":"policy"}`: 20.0, `{"refund":"full"}`: 40.0, `{"refund":12.5}`: 12.5,
		`{"refund":"none"}`: nil,
	} {
		b := someBooking("confirmed", "2026-12-01")
		w.Booking.Add(business, b)
		at := harb + "/bookings/" + b.ID.String()
		preview := w.Call(t, "GET", at+"/cancellation", "")
		if diff := cmp.Diff(map[string]any{"amount": 20.0, "percent": 50.0, "currency": "EUR"},
			field(t, preview, "refund")); diff != "" {
			t.Errorf("the preview (-want +got):\n%s", diff)
		}
		expect(t, w.Call(t, "POST", at+"/refund", ""), 409, "conflict", "cancel it")
		got := w.Call(t, "POST", at+"/cancel", body)
		if got.Status != 200 || field(t, got, "status") != "cancelled" {
			t.Fatalf("%s: %d %s", body, got.Status, got.Body)
		}
		refund, _ := field(t, got, "payment").(map[string]any)["refund"].(map[string]any)
		if refund["amount"] != want {
			t.Errorf("%s: %v is refunded, want %v", body, refund, want)
		}
		expect(t, w.Call(t, "POST", at+"/cancel", body), 409, "conflict", "cancelled")
		if got := w.Call(t, "POST", at+"/refund", `{"refund":5}`); got.Status != 200 || !strings.Contains(got.Body,
			`"amount":5`) {
			t.Errorf("refund: %d %s", got.Status, got.Body)
		}
		if want := `"booking_id":"` + b.ID.String() + `","refund":"5"`; !strings.Contains(w.Log.String(), want) {
			t.Errorf("the log has no %s", want)
		}
	}
	id := uuid.NewString()
	for _, call := range []string{"cancel", "refund"} {
		for body, sentence := range map[string]string{
			`{"refund":"half"}`: "refund", `{"refund":"12.5"}`: "refund", `{"refund":true}`: "refund",
			`{"amount":1}`: "amount", `[]`: "JSON", `{"reason":7}`: "reason",
		} {
			expect(t, w.Call(t, "POST", harb+"/bookings/"+id+"/"+call, body), 400, "invalid_parameter", sentence)
		}
		expect(t, w.Call(t, "POST", harb+"/bookings/"+id+"/"+call, ""), 404, "not_found", "Booking")
	}
	expect(t, w.Call(t, "POST", harb+"/bookings/"+id+"/refund", `{"reason":"Anna is ill."}`), 400, "invalid_parameter", "reason")
	expect(t, w.Call(t, "GET", harb+"/bookings/1/cancellation", ""), 404, "not_found", "Booking")
}

func TestRemoveNeedsForceForFutureBookings(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	w.Call(t, "POST", harb+"/keys", `{"name":"site","scope":"all"}`)
	w.Booking.Add(business, someBooking("confirmed", "2026-12-01"))

	expect(t, w.Call(t, "DELETE", harb, ""), 409, "conflict",
		"bookings (1), tickets (0) and reservations (0) lie ahead")
	expect(t, w.Call(t, "DELETE", harb+"?force=maybe", ""), 400, "invalid_parameter", "force")
	if w.Call(t, "GET", harb, "").Status != 200 || w.Booking.CountLiveKeys(business) != 1 {
		t.Error("the refusal changed something")
	}
	if got := w.Call(t, "DELETE", harb+"?force=true", ""); got.Status != 204 {
		t.Errorf("a removal with force: %d %s", got.Status, got.Body)
	}
	if w.Call(t, "GET", harb, "").Status != 404 || w.Booking.CountLiveKeys(business) != 0 {
		t.Error("the business or its key is still there")
	}
}

func TestRemoveNeedsForceForFutureSales(t *testing.T) {
	t.Parallel()
	for label, order := range map[string][2]string{
		"tickets (2)":      {"/tickets", someTickets("Cara")},
		"reservations (1)": {"/reservations", someReservation("Cara", "2026-12-01", "2026-12-03")},
	} {
		w := consoletest.Start(t)
		publish(t, w)
		if got := w.Call(t, "POST", harb+order[0], order[1]); got.Status != 201 {
			t.Fatalf("%s: %d %s", label, got.Status, got.Body)
		}
		expect(t, w.Call(t, "DELETE", harb, ""), 409, "conflict", label)
		if got := w.Call(t, "DELETE", harb+"?force=true", ""); got.Status != 204 {
			t.Errorf("%s, by force: %d %s", label, got.Status, got.Body)
		}
	}
}

func TestRemoveDeletesBusinessWithoutBookings(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	w.Booking.Add(business, someBooking("completed", "2026-11-01"))
	if got := w.Call(t, "DELETE", harb, ""); got.Status != 204 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestUnavailablePeerIs503(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	w.StopBooking()
	expect(t, w.Call(t, "GET", harb+"/keys", ""), 503, "service_unavailable", "booking")
	expect(t, w.Call(t, "DELETE", harb, ""), 503, "service_unavailable", "booking")
	if got := w.Call(t, "GET", harb, ""); got.Status != 200 {
		t.Errorf("the business went although its keys could not be revoked: %d", got.Status)
	}
}

func TestChangesAreLoggedWithoutCustomerData(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	b := someBooking("pending", "2026-12-01")
	w.Booking.Add(business, b)
	key := field(t, w.Call(t, "POST", harb+"/keys", `{"name":"site","scope":"all"}`), "id").(string)
	w.Call(t, "POST", harb+"/rollback", `{"version":1}`)
	w.Call(t, "DELETE", harb+"/keys/"+key, "")
	w.Call(t, "POST", harb+"/bookings/"+b.ID.String()+"/cancel", "")
	w.Call(t, "DELETE", harb, "")
	w.Call(t, "DELETE", harb, "") // refused, so it changes nothing
	w.Call(t, "GET", "/admin/businesses", "")

	var changes []string
	sum := sha256.Sum256([]byte(consoletest.Token))
	for line := range strings.Lines(w.Log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["msg"] != "admin change" {
			continue
		}
		if entry["slug"] != "harbor" || entry["by"] != hex.EncodeToString(sum[:4]) {
			t.Errorf("%s does not contain the business and the token of the change", line)
		}
		changes = append(changes, entry["change"].(string))
	}
	want := []string{"publish", "create key", "rollback", "revoke key", "cancel booking", "delete"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	for _, private := range []string{"Cara", "cara@", consoletest.Token, "sm_"} {
		if strings.Contains(w.Log.String(), private) {
			t.Errorf("the log contains %q", private)
		}
	}
}

func TestValidateReportsAllSettings(t *testing.T) {
	t.Parallel()
	rt := server.Runtime{Open: true, Name: "console", Clock: clock.System(), Telemetry: telemetry.Discard()}
	for _, token := range []string{
		"", "short", "with a space in it somewhere", "naïve-tökens-are-not-ascii", "k7Hq2xWm9RtZ4pLs8VbN3cY",
		"change-me-0123456789-change", "admin-token-admin-token-admin-token", strings.Repeat("soak-", 8),
		"k7Hq2xWm9RtZ4pLs8VbN3cYd,short", "k7Hq2xWm9RtZ4pLs8VbN3cYd,",
		"k7Hq2xWm9RtZ4pLs8VbN3cYd,MyPassword-is-very-very-long",
	} {
		_, err := console.New(t.Context(), console.Config{AdminToken: token}, rt)
		if err == nil || !strings.Contains(err.Error(), "SLOTMESH_ADMIN_TOKEN") || !strings.Contains(err.Error(),
			"PUBLISH_TIMEOUT") ||
			token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

func TestCheckTokensAcceptsRandomTokens(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{rand.Text(), rand.Text() + "," + rand.Text()} {
		_, err := console.New(t.Context(), console.Config{AdminToken: valid},
			server.Runtime{Name: "console", Clock: clock.System(), Telemetry: telemetry.Discard()})
		if err != nil && strings.Contains(err.Error(), "SLOTMESH_ADMIN_TOKEN") {
			t.Error(err)
		}
	}
}

func TestIdempotencyKeyIsForwardedOrRejected(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	got := w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml,
		"Idempotency-Key",
		"publish-1")
	if keys := w.Catalog.ListKeys(); got.Status != http.StatusCreated || len(keys) != 1 || keys[0] != "publish-1" {
		t.Errorf("%d %s; catalog was sent the keys %q", got.Status, got.Body, keys)
	}
	expect(t, w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml,
		"Idempotency-Key",
		"a b"),
		400, "invalid_parameter", "Idempotency-Key")
}
