package console_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// permissionTable is the table of permissions in accounts.md. Each value lists the permitted roles by letter: o
// operator, w owner, m manager, d front desk, s staff, v viewer.
var permissionTable = map[string]string{
	"sign in":                       "owmdsv",
	"see businesses":                "owmdsv",
	"see bookings":                  "owmdsv",
	"see tickets and reservations":  "owmdv",
	"see customers":                 "owmd",
	"see the offer":                 "owmdsv",
	"write about customers":         "owmd",
	"import customers":              "owm",
	"book, move, cancel, sell":      "owmd",
	"complete, no-show":             "owmds",
	"refund, export":                "owm",
	"edit the offer":                "owms",
	"change all of the offer":       "owm",
	"keys, webhooks, calendars":     "ow",
	"team":                          "ow",
	"erase customers, the business": "ow",
	"operators":                     "o",
}

// rowOfRoute maps each route of the admin API to its row in permissionTable. A route without an entry fails the test.
var rowOfRoute = map[string]string{
	"GET /admin/openapi.json":                               "sign in",
	"GET /admin/operators":                                  "operators",
	"DELETE /admin/operators/:id":                           "operators",
	"POST /admin/operators/:id/sign-out":                    "operators",
	"POST /admin/tokens":                                    "team",
	"GET /admin/tokens":                                     "team",
	"DELETE /admin/tokens/:id":                              "team",
	"POST /admin/businesses/:slug/members":                  "team",
	"GET /admin/businesses/:slug/members":                   "team",
	"GET /admin/businesses/:slug/members/:id/made":          "team",
	"DELETE /admin/businesses/:slug/members/:id/made":       "team",
	"GET /admin/businesses/:slug/invitations":               "team",
	"DELETE /admin/businesses/:slug/invitations/:id":        "team",
	"PATCH /admin/businesses/:slug/members/:id":             "team",
	"DELETE /admin/businesses/:slug/members/:id":            "team",
	"POST /admin/invitations":                               "team",
	"GET /admin/businesses":                                 "see businesses",
	"PUT /admin/businesses/:slug":                           "edit the offer",
	"GET /admin/businesses/:slug":                           "see the offer",
	"DELETE /admin/businesses/:slug":                        "erase customers, the business",
	"GET /admin/businesses/:slug/versions":                  "see the offer",
	"POST /admin/businesses/:slug/rollback":                 "edit the offer",
	"POST /admin/businesses/:slug/diff":                     "edit the offer",
	"POST /admin/businesses/:slug/media":                    "change all of the offer",
	"GET /admin/businesses/:slug/media":                     "see the offer",
	"DELETE /admin/businesses/:slug/media/:id":              "change all of the offer",
	"POST /admin/businesses/:slug/keys":                     "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/keys":                      "keys, webhooks, calendars",
	"DELETE /admin/businesses/:slug/keys/:id":               "keys, webhooks, calendars",
	"POST /admin/businesses/:slug/bookings":                 "book, move, cancel, sell",
	"GET /admin/businesses/:slug/bookings":                  "see bookings",
	"GET /admin/businesses/:slug/bookings/affected":         "see bookings",
	"GET /admin/businesses/:slug/explain":                   "book, move, cancel, sell",
	"GET /admin/businesses/:slug/reports/bookings":          "see tickets and reservations",
	"GET /admin/businesses/:slug/reports/revenue":           "see tickets and reservations",
	"GET /admin/businesses/:slug/reports/utilisation":       "see tickets and reservations",
	"POST /admin/businesses/:slug/bookings/:id/reschedule":  "book, move, cancel, sell",
	"POST /admin/businesses/:slug/bookings/:id/relocate":    "book, move, cancel, sell",
	"GET /admin/businesses/:slug/bookings/:id":              "see bookings",
	"GET /admin/businesses/:slug/bookings/:id/cancellation": "book, move, cancel, sell",
	"POST /admin/businesses/:slug/bookings/:id/cancel":      "book, move, cancel, sell",
	"POST /admin/businesses/:slug/bookings/:id/refund":      "refund, export",
	"POST /admin/businesses/:slug/bookings/:id/confirm":     "book, move, cancel, sell",
	"POST /admin/businesses/:slug/bookings/:id/complete":    "complete, no-show",
	"POST /admin/businesses/:slug/bookings/:id/no-show":     "complete, no-show",
	"POST /admin/businesses/:slug/bookings/:id/reopen":      "complete, no-show",
	"POST /admin/businesses/:slug/reservations":             "book, move, cancel, sell",
	"GET /admin/businesses/:slug/reservations":              "see tickets and reservations",
	"POST /admin/businesses/:slug/reservations/:id/pickup":  "book, move, cancel, sell",
	"POST /admin/businesses/:slug/reservations/:id/return":  "book, move, cancel, sell",
	"POST /admin/businesses/:slug/reservations/:id/cancel":  "book, move, cancel, sell",
	"POST /admin/businesses/:slug/tickets":                  "book, move, cancel, sell",
	"GET /admin/businesses/:slug/tickets":                   "see tickets and reservations",
	"GET /admin/businesses/:slug/tickets/:id/cancellation":  "book, move, cancel, sell",
	"POST /admin/businesses/:slug/tickets/:id/cancel":       "book, move, cancel, sell",
	"POST /admin/businesses/:slug/tickets/:id/refund":       "refund, export",
	"GET /admin/businesses/:slug/events":                    "see customers",
	"GET /admin/businesses/:slug/customers":                 "see customers",
	"GET /admin/businesses/:slug/customers/export":          "refund, export",
	"POST /admin/businesses/:slug/customers/erase":          "erase customers, the business",
	"POST /admin/businesses/:slug/calendars":                "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/calendars":                 "keys, webhooks, calendars",
	"DELETE /admin/businesses/:slug/calendars/:id":          "keys, webhooks, calendars",
	"POST /admin/businesses/:slug/webhooks":                 "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/webhooks":                  "keys, webhooks, calendars",
	"PATCH /admin/businesses/:slug/webhooks/:id":            "keys, webhooks, calendars",
	"DELETE /admin/businesses/:slug/webhooks/:id":           "keys, webhooks, calendars",
	"POST /admin/businesses/:slug/webhooks/:id/rotate":      "keys, webhooks, calendars",
	"POST /admin/businesses/:slug/webhooks/:id/test":        "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/webhooks/:id/deliveries":   "keys, webhooks, calendars",
	"POST /admin/businesses/:slug/deliveries/:id/retry":     "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/messages":                  "see customers",
	"POST /admin/businesses/:slug/messages/test":            "keys, webhooks, calendars",
	"GET /admin/businesses/:slug/messages/:id":              "see customers",
	"POST /admin/businesses/:slug/messages/:id/retry":       "book, move, cancel, sell",
}

// rowOfPage maps each route of the owner's pages to its row in permissionTable. A route without an entry fails the
// test.
var rowOfPage = map[string]string{
	"GET /":                                              "see businesses",
	"GET /business/:slug":                                "sign in",
	"GET /business/:slug/more":                           "sign in",
	"GET /business/:slug/team":                           "team",
	"GET /business/:slug/team/invite":                    "team",
	"POST /business/:slug/team/invite":                   "team",
	"GET /business/:slug/team/:id/made":                  "team",
	"POST /business/:slug/team/:id/made":                 "team",
	"POST /business/:slug/team/invitations/:id/withdraw": "team",
	"GET /business/:slug/team/:id":                       "team",
	"POST /business/:slug/team/:id":                      "team",
	"GET /business/:slug/team/:id/remove":                "team",
	"POST /business/:slug/team/:id/remove":               "team",
	"POST /business/:slug/bookings":                      "see bookings",
	"GET /business/:slug/today":                          "see bookings",
	"GET /business/:slug/calendar":                       "see bookings",
	"GET /business/:slug/pause":                          "change all of the offer",
	"POST /business/:slug/pause":                         "change all of the offer",
	"POST /business/:slug/pause/end":                     "change all of the offer",
	"GET /business/:slug/bookings":                       "see bookings",
	"GET /business/:slug/bookings.csv":                   "refund, export",
	"GET /business/:slug/bookings/new":                   "book, move, cancel, sell",
	"POST /business/:slug/bookings/new":                  "book, move, cancel, sell",
	"POST /business/:slug/bookings/new/customer":         "book, move, cancel, sell",
	"GET /business/:slug/bookings/:id":                   "see bookings",
	"POST /business/:slug/bookings/:id/confirm":          "book, move, cancel, sell",
	"POST /business/:slug/bookings/:id/complete":         "complete, no-show",
	"POST /business/:slug/bookings/:id/no-show":          "complete, no-show",
	"POST /business/:slug/bookings/:id/reopen":           "complete, no-show",
	"GET /business/:slug/bookings/:id/cancel":            "book, move, cancel, sell",
	"POST /business/:slug/bookings/:id/cancel":           "book, move, cancel, sell",
	"GET /business/:slug/bookings/:id/refund":            "refund, export",
	"POST /business/:slug/bookings/:id/refund":           "refund, export",
	"GET /business/:slug/bookings/:id/move":              "book, move, cancel, sell",
	"POST /business/:slug/bookings/:id/move":             "book, move, cancel, sell",
	"POST /business/:slug/bookings/:id/drop":             "book, move, cancel, sell",
	"GET /business/:slug/affected":                       "see bookings",
	"POST /business/:slug/affected":                      "book, move, cancel, sell",
	"GET /business/:slug/time-off":                       "edit the offer",
	"POST /business/:slug/time-off":                      "edit the offer",
	"GET /business/:slug/events":                         "see tickets and reservations",
	"POST /business/:slug/events/:id":                    "see tickets and reservations",
	"GET /business/:slug/events/:id":                     "see tickets and reservations",
	"GET /business/:slug/events/:id/orders.csv":          "refund, export",
	"GET /business/:slug/events/:id/sell":                "book, move, cancel, sell",
	"POST /business/:slug/events/:id/sell":               "book, move, cancel, sell",
	"GET /business/:slug/tickets/:id":                    "see tickets and reservations",
	"GET /business/:slug/tickets/:id/cancel":             "book, move, cancel, sell",
	"POST /business/:slug/tickets/:id/cancel":            "book, move, cancel, sell",
	"GET /business/:slug/tickets/:id/refund":             "refund, export",
	"POST /business/:slug/tickets/:id/refund":            "refund, export",
	"GET /business/:slug/classes":                        "see bookings",
	"GET /business/:slug/classes/:id":                    "see bookings",
	"GET /business/:slug/rentals":                        "see tickets and reservations",
	"GET /business/:slug/rentals/reservations.csv":       "refund, export",
	"GET /business/:slug/rentals/new":                    "book, move, cancel, sell",
	"POST /business/:slug/rentals/new":                   "book, move, cancel, sell",
	"GET /business/:slug/reservations/:id/cancel":        "book, move, cancel, sell",
	"POST /business/:slug/reservations/:id/cancel":       "book, move, cancel, sell",
	"POST /business/:slug/reservations/:id/pickup":       "book, move, cancel, sell",
	"POST /business/:slug/reservations/:id/return":       "book, move, cancel, sell",
}

// findPageOutcome derives from the status whether a page refused the caller. The paths have random ids, so a permitted
// caller may also get status 404; the outcome is then "in".
func findPageOutcome(a consoletest.Answer, path, want string) string {
	switch {
	case a.Status == 401, a.Status == 303 && a.Header.Get("Location") == "/sign-in":
		return "401 unauthorized"
	case a.Status == 403:
		return "403 forbidden"
	case a.Status == 404 && (want != "in" || !strings.Contains(path, ":id")):
		return "404 business_not_found"
	}
	return "in"
}

// addSessionPerRole returns sessions by role. The roles are the letters of permissionTable. The role "another's owner"
// has the session of an owner of another business. The entry `anonymous` is a request without a session.
func addSessionPerRole(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID) map[string]string {
	t.Helper()
	sessions := map[string]string{
		"anonymous": "", "another's owner": w.AddSession(t, "another@example.com",
			access.Member{BusinessID: uuid.New(), Role: access.Owner}),
	}
	for _, role := range access.Roles {
		m := access.Member{BusinessID: businessID, Role: role}
		if role == access.Staff {
			m.StaffID = uuid.New()
		}
		sessions[roleLetters[role]] = w.AddSession(t, string(role)+"@example.com", m)
	}
	return sessions
}

func TestPagesFollowPermissionTable(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	people := addSessionPerRole(t, w, publish(t, w))
	visited := map[string]bool{}
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		isOwn := route.Path == "/" || strings.HasPrefix(route.Path, "/business")
		if !isOwn || route.Method != http.MethodGet && route.Method != http.MethodPost || visited[name] {
			continue
		}
		visited[name] = true
		row, ok := rowOfPage[name]
		if !ok || permissionTable[row] == "" {
			t.Errorf("%s has no row in the table of who may do what", name)
			continue
		}
		path := strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString()).Replace(route.Path)
		for _, person := range slices.Sorted(maps.Keys(people)) {
			want := findExpectedOutcome(route.Path, row, person)
			var got consoletest.Answer
			if route.Method == http.MethodPost {
				got = pressButton(t, w, path, people[person])
			} else {
				got = getPage(t, w, path, people[person])
			}
			if got := findPageOutcome(got, route.Path, want); got != want {
				t.Errorf("%s by %s: %s, want %s", name, person, got, want)
			}
		}
	}
	for name := range rowOfPage {
		if !visited[name] {
			t.Errorf("%s is in the table and is no route", name)
		}
	}
}

// roleLetters maps each role to its letter in permissionTable.
var roleLetters = map[access.Role]string{
	access.Operator: "o", access.Owner: "w", access.Manager: "m", access.FrontDesk: "d", access.Staff: "s",
	access.Viewer: "v",
}

// findOutcome returns the status and code of an answer that refuses the caller, and "in" for other answers.
func findOutcome(t *testing.T, a consoletest.Answer) string {
	t.Helper()
	var refused struct{ MessageCode string }
	_ = json.Unmarshal([]byte(a.Body), &refused)
	switch refused.MessageCode {
	case "unauthorized", "forbidden", "business_not_found":
		return fmt.Sprintf("%d %s", a.Status, refused.MessageCode)
	}
	return "in"
}

// addTokenPerRole returns tokens by role. The roles are the letters of permissionTable. The role "another's owner" has
// the token of an owner of another business. The entry `anonymous` is an unknown token.
func addTokenPerRole(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID) map[string]string {
	t.Helper()
	tokens := map[string]string{
		"o": w.AddToken(t, access.Member{Role: access.Operator}), "anonymous": "slo_" + strings.Repeat("0", 64),
		"another's owner": w.AddToken(t, access.Member{BusinessID: uuid.New(), Role: access.Owner}),
	}
	for _, role := range access.Roles[1:] {
		m := access.Member{BusinessID: businessID, Role: role}
		if role == access.Staff {
			m.StaffID = uuid.New()
		}
		tokens[roleLetters[role]] = w.AddToken(t, m)
	}
	return tokens
}

// findExpectedOutcome returns the outcome that permissionTable requires for a caller at a route.
func findExpectedOutcome(path, row, person string) string {
	switch {
	case person == "anonymous":
		return "401 unauthorized"
	case person == "another's owner" && strings.Contains(path, ":slug"):
		return "404 business_not_found"
	case person == "another's owner" && strings.Contains(permissionTable[row], "w"),
		strings.Contains(permissionTable[row], person):
		return "in"
	}
	return "403 forbidden"
}

func TestRoutesFollowPermissionTable(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.WrongTokensPerMinute = 0 })
	tokens := addTokenPerRole(t, w, publish(t, w))
	visited := map[string]bool{}
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		if route.Method == http.MethodHead || !strings.HasPrefix(route.Path, "/admin") || visited[name] {
			continue
		}
		visited[name] = true
		row, ok := rowOfRoute[name]
		if !ok || permissionTable[row] == "" {
			t.Errorf("%s has no row in the table of who may do what", name)
			continue
		}
		path := strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString()).Replace(route.Path)
		for _, person := range slices.Sorted(maps.Keys(tokens)) {
			if row == "erase customers, the business" && route.Method == http.MethodDelete && person != "anonymous" &&
				findExpectedOutcome(route.Path, row, person) == "in" {
				continue // the requests that follow still need the business
			}
			body := "{}"
			if route.Method == http.MethodGet {
				body = ""
			}
			want := findExpectedOutcome(route.Path, row, person)
			if person == "s" && row == "edit the offer" {
				want = "in" // another test checks what staff may change
			}
			if got := findOutcome(t, w.CallAs(t, tokens[person], route.Method, path, body)); got != want {
				t.Errorf("%s by %s: %s, want %s", name, person, got, want)
			}
		}
	}
	for name := range rowOfRoute {
		if !visited[name] {
			t.Errorf("%s is in the table and is no route", name)
		}
	}
	if got := w.CallAs(t, tokens["w"], "DELETE", harb, ""); got.Status != 204 {
		t.Errorf("an owner removes the business: %d %s", got.Status, got.Body)
	}
	if got := findOutcome(t, w.CallAs(t, tokens["w"], "GET", harb, "")); got != "404 business_not_found" {
		t.Errorf("a business that was removed: %s", got)
	}
}

// addTokenAs returns a token of a role in the business, and for staff the id of the member.
func addTokenAs(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID, role access.Role) (string, uuid.UUID) {
	t.Helper()
	m := access.Member{BusinessID: businessID, Role: role}
	if role == access.Staff {
		m.StaffID = uuid.New()
	}
	return w.AddToken(t, m), m.StaffID
}

func TestStaffMemberSeesOnlyOwnCalendar(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	token, self := addTokenAs(t, w, id, access.Staff)
	own, other := someBooking("confirmed", "2026-12-01"), someBooking("confirmed", "2026-12-01")
	colleague := uuid.New()
	own.StaffID, other.StaffID = &self, &colleague
	unassigned := someBooking("confirmed", "2026-12-01")
	for _, b := range []booking.Booking{own, other, unassigned} {
		w.Booking.Add(id, b)
	}
	for _, query := range []string{"", "?staff_id=" + colleague.String()} {
		list := w.CallAs(t, token, "GET", harb+"/bookings"+query, "")
		if n := strings.Count(list.Body, `"starts_at"`); n != 1 || !strings.Contains(list.Body, own.ID.String()) {
			t.Errorf("%q shows %d bookings: %s", query, n, list.Body)
		}
	}
	for _, b := range []booking.Booking{other, unassigned} {
		expect(t, w.CallAs(t, token, "POST", harb+"/bookings/"+b.ID.String()+"/complete", ""), 404, "not_found",
			"Booking not found")
	}
	if got := w.CallAs(t, token, "POST", harb+"/bookings/"+own.ID.String()+"/complete", ""); got.Status != 200 {
		t.Errorf("their own: %d %s", got.Status, got.Body)
	}
}

func TestViewerSeesNoContact(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	b, phone := someBooking("confirmed", "2026-12-01"), "+351912345678"
	b.CustomerPhone, b.FormData = &phone, []byte(`{"instagram":"@cara"}`)
	w.Booking.Add(id, b)
	viewer, _ := addTokenAs(t, w, id, access.Viewer)
	desk, _ := addTokenAs(t, w, id, access.FrontDesk)
	expect(t, w.CallAs(t, viewer, "GET", harb+"/bookings?query=cara@example.com", ""), 403, "forbidden", "customer")
	for token, sees := range map[string]bool{viewer: false, desk: true} {
		got := w.CallAs(t, token, "GET", harb+"/bookings", "")
		for _, contact := range []string{b.CustomerEmail, phone, "@cara"} {
			if strings.Contains(got.Body, contact) != sees {
				t.Errorf("%s: %s", contact, got.Body)
			}
		}
		if !strings.Contains(got.Body, b.CustomerName) {
			t.Errorf("no name: %s", got.Body)
		}
	}
	const customer = `"customer_name":"Cara","customer_email":"cara@example.com","customer_phone":"+351912345678","form_data":{"instagram":"@cara"}}`
	for list, order := range map[string]string{
		"/tickets": `{"event_id":"` + uuid.NewString() + `","tier_id":"` + uuid.NewString() + `","quantity":1,` +
			customer,
		"/reservations": `{"rental_id":"` + uuid.NewString() +
			`","start_date":"2026-12-01","end_date":"2026-12-01","quantity":1,` + customer,
	} {
		created := w.CallAs(t, desk, "POST", harb+list, order)
		if created.Status != 201 || !strings.Contains(created.Body, "@cara") {
			t.Fatalf("%s: %d %s", list, created.Status, created.Body)
		}
		for token, sees := range map[string]bool{viewer: false, desk: true} {
			got := w.CallAs(t, token, "GET", harb+list, "")
			for _, contact := range []string{"cara@example.com", phone, "@cara"} {
				if strings.Contains(got.Body, contact) != sees || !strings.Contains(got.Body, "Cara") {
					t.Errorf("%s, %s: %s", list, contact, got.Body)
				}
			}
		}
		page := "/business/harbor/rentals"
		if list == "/tickets" {
			page = "/business/harbor/tickets/" + field(t, created, "id").(string)
		}
		for role, sees := range map[access.Role]bool{access.Viewer: false, access.FrontDesk: true} {
			session := w.AddSession(t, string(role)+list[1:]+"@example.com", access.Member{BusinessID: id, Role: role})
			got := getPage(t, w, page, session)
			for _, contact := range []string{"cara@example.com", phone, "@cara"} {
				if strings.Contains(got.Body, contact) != sees || !strings.Contains(got.Body, "Cara") {
					t.Errorf("%s shows a %s %s: %v: %d %s", page, role, contact, !sees, got.Status, got.Body)
				}
			}
		}
	}
}

func TestRefundsBeyondPolicyNeedPermission(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	desk, _ := addTokenAs(t, w, id, access.FrontDesk)
	manager, _ := addTokenAs(t, w, id, access.Manager)
	for token, may := range map[string]bool{desk: false, manager: true} {
		for body, hasOthers := range map[string]bool{"": false, `{"refund":"policy"}`: false, `{"refund":"full"}`: true,
			`{"refund":"none"}`: true, `{"refund":1.5}`: true} {
			b := someBooking("confirmed", "2026-12-01")
			w.Booking.Add(id, b)
			got := w.CallAs(t, token, "POST", harb+"/bookings/"+b.ID.String()+"/cancel", body)
			if want := !hasOthers || may; (got.Status == 200) != want {
				t.Errorf("%s: %d %s", body, got.Status, got.Body)
			}
		}
	}
}

func TestListShowsOnlyOwnBusinesses(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay"))
	owner, _ := addTokenAs(t, w, id, access.Owner)
	got := w.CallAs(t, owner, "GET", "/admin/businesses", "")
	if list := field(t, got, "businesses").([]any); len(list) != 1 || !strings.Contains(got.Body, `"harbor"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if list := field(t, w.Call(t, "GET", "/admin/businesses", ""), "businesses").([]any); len(list) != 2 {
		t.Errorf("the operator sees %v", list)
	}
	expect(t, w.CallAs(t, owner, "PUT", "/admin/businesses/new", consoletest.BuildManifest("new", "New")), 404,
		"business_not_found", "not found")
}

func TestTokenEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for label, token := range map[string]string{
		"expired":      w.AddTokenUntil(t, time.Now().Add(-time.Second)),
		"unknown":      "slo_" + strings.Repeat("a", 64),
		"no token":     "slo_" + strings.Repeat("a", 63),
		"upper case":   strings.ToUpper(w.AddToken(t, access.Member{Role: access.Operator})),
		"in its quote": `"` + w.AddToken(t, access.Member{Role: access.Operator}) + `"`,
	} {
		if got := w.CallAs(t, token, "GET", harb, ""); got.Status != 401 {
			t.Errorf("%s: %d %s", label, got.Status, got.Body)
		}
	}
	if got := w.CallAs(t, w.AddTokenUntil(t, time.Now().Add(time.Hour)), "GET", harb, ""); got.Status != 200 {
		t.Errorf("a good one: %d %s", got.Status, got.Body)
	}
}
