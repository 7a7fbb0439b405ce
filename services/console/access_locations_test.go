package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

var (
	harbourID = uuid.MustParse("00000000-0000-4000-8000-0000000000a1")
	homeID    = uuid.MustParse("00000000-0000-4000-8000-0000000000a2")
)

// limitableRoles are the roles that can be limited to locations.
var limitableRoles = []access.Role{access.Manager, access.FrontDesk, access.Staff, access.Viewer}

// servesLimited reports whether a route in a row of permissionTable serves members who are limited to locations.
func servesLimited(row, path string) bool {
	switch row {
	case "sign in", "see businesses", "see bookings", "see the offer", "complete, no-show":
		return true
	case "book, move, cancel, sell", "refund, export":
		return strings.Contains(path, "/bookings") || strings.HasSuffix(path, "/explain") ||
			strings.HasSuffix(path, "/why-not") || strings.HasSuffix(path, "/affected")
	}
	return false
}

// newLimited returns a membership that is limited to locations.
func newLimited(businessID uuid.UUID, role access.Role, locations ...uuid.UUID) access.Member {
	m := access.Member{BusinessID: businessID, Role: role, Locations: locations}
	if role == access.Staff {
		m.StaffID = uuid.New()
	}
	return m
}

// TestLimitedMembersFollowPermissionTable shows that a member who is limited to a location is refused at every route
// about anything other than bookings, and otherwise has the permissions of the role.
func TestLimitedMembersFollowPermissionTable(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.WrongTokensPerMinute = 0 })
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	for _, role := range limitableRoles {
		token := w.AddToken(t, newLimited(id, role, homeID))
		session := w.AddSession(t, string(role)+"@example.com", newLimited(id, role, homeID))
		for _, route := range w.Routes {
			name := route.Method + " " + route.Path
			path := strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString()).Replace(route.Path)
			row, isAdmin := rowOfRoute[name]
			pageRow, isPage := rowOfPage[name]
			var got string
			switch {
			case isAdmin:
				body := "{}"
				if route.Method == http.MethodGet {
					body = ""
				}
				got = findOutcome(t, w.CallAs(t, token, route.Method, path, body))
			case isPage && route.Method == http.MethodPost:
				row, got = pageRow, findPageOutcome(pressButton(t, w, path, session), route.Path, "in")
			case isPage:
				row, got = pageRow, findPageOutcome(getPage(t, w, path, session), route.Path, "in")
			default:
				continue
			}
			want := "403 forbidden"
			if strings.Contains(permissionTable[row], roleLetters[role]) && servesLimited(row, route.Path) {
				want = "in"
			}
			if got != want {
				t.Errorf("%s by a limited %s: %s, want %s", name, role, got, want)
			}
		}
	}
}

// TestLimitedMembersSeeOnlyTheirLocations calls each endpoint and page of one booking, for each role and each location
// of the booking. A booking without a location is at the default location.
func TestLimitedMembersSeeOnlyTheirLocations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.WrongTokensPerMinute = 0 })
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	harbour := &booking.BookedLocation{ID: harbourID, Kind: "place", Name: "Harbour"}
	day := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	home := &booking.BookedLocation{ID: homeID, Kind: "place", Name: "Home"}
	for name, c := range map[string]struct {
		booked  *booking.BookedLocation
		limits  []uuid.UUID
		visible bool
	}{
		"other location":          {harbour, []uuid.UUID{homeID}, false},
		"own location":            {home, []uuid.UUID{homeID}, true},
		"one of two":              {home, []uuid.UUID{harbourID, homeID}, true},
		"no location, other":      {nil, []uuid.UUID{homeID}, false},
		"no location, default":    {nil, []uuid.UUID{harbourID}, true},
		"limited to removed only": {home, []uuid.UUID{uuid.New()}, false},
	} {
		for _, role := range limitableRoles {
			m := newLimited(id, role, c.limits...)
			day = day.AddDate(0, 0, 1)
			b := someBooking("confirmed", day.Format(time.DateOnly))
			b.StartsAt, b.EndsAt = day, day.Add(time.Hour)
			b.Location, b.StaffID, b.CustomerName = c.booked, &m.StaffID, "Customer "+b.ID.String()
			w.Booking.Add(id, b)
			token := w.AddToken(t, m)
			session := w.AddSession(t, uuid.NewString()+"@example.com", m)
			checkLimitedBooking(t, w, name+" by "+string(role), m, b, token, session, c.visible)
		}
	}
}

// TestLimitFollowsPlaceOfOldBookings shows that bookings without a location are at the first place of the business, and
// not at the first location. Forms offer only the locations of the member.
func TestLimitFollowsPlaceOfOldBookings(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+`locations:
  - {key: home, kind: customer_address, name: "=Home", id: 00000000-0000-4000-8000-0000000000a2}
  - {key: harbour, kind: place, name: Harbour, id: 00000000-0000-4000-8000-0000000000a1}
`)
	b := someBooking("confirmed", "2026-12-01")
	b.Location = nil
	w.Booking.Add(id, b)
	for limit, want := range map[uuid.UUID]int{homeID: 404, harbourID: 200} {
		session := w.AddSession(t, limit.String()+"@example.com", newLimited(id, access.FrontDesk, limit))
		if got := getPage(t, w, "/business/harbor/bookings/"+b.ID.String(), session); got.Status != want {
			t.Errorf("limited to %s: %d, want %d", limit, got.Status, want)
		}
		form := getPage(t, w, "/business/harbor/bookings/new", session).Body
		for _, l := range []uuid.UUID{homeID, harbourID} {
			if isOffered := strings.Contains(form, `value="`+l.String()+`"`); isOffered && l != limit {
				t.Errorf("limited to %s: the form offers %s", limit, l)
			}
		}
	}
}

func checkLimitedBooking(t *testing.T, w *consoletest.Fixture, name string, m access.Member, b booking.Booking, token,
	session string, visible bool) {
	t.Helper()
	of := harb + "/bookings/" + b.ID.String()
	page := "/business/harbor/bookings/" + b.ID.String()
	for route, row := range map[string]string{
		"GET ": "see bookings", "GET /cancellation": "book, move, cancel, sell",
		"POST /reschedule": "book, move, cancel, sell", "POST /relocate": "book, move, cancel, sell",
		"POST /complete": "complete, no-show", "POST /reopen": "complete, no-show", "POST /no-show": "complete, no-show",
		"POST /confirm": "book, move, cancel, sell", "POST /refund": "refund, export",
	} {
		if !strings.Contains(permissionTable[row], roleLetters[m.Role]) {
			continue
		}
		method, path, _ := strings.Cut(route, " ")
		body := ""
		switch path {
		case "/reschedule":
			body = `{"date":"` + b.Date + `","time":"10:00"}`
		case "/relocate":
			body = `{"location_id":"` + m.Locations[0].String() + `"}`
		}
		if got := w.CallAs(t, token, method, of+path, body); (got.Status == 404) == visible {
			t.Errorf("%s: %s: %d %s", name, route, got.Status, got.Body)
		}
	}
	if got := getPage(t, w, page, session); got.Status != map[bool]int{true: 200, false: 404}[visible] {
		t.Errorf("%s: the page: %d", name, got.Status)
	}
	for path, got := range map[string]consoletest.Answer{
		"admin API": w.CallAs(t, token, "GET", harb+"/bookings?from="+b.Date, ""),
		"at a location": w.CallAs(t, token, "GET", harb+"/bookings?location_id="+harbourID.String()+"&location_id="+
			homeID.String(), ""),
		"list":     getPage(t, w, "/business/harbor/bookings?from="+b.Date+"&to="+b.Date, session),
		"calendar": getPage(t, w, "/business/harbor/calendar?date="+b.Date+"&view=week", session),
	} {
		isShown := strings.Contains(got.Body, b.ID.String())
		if got.Status == 200 && isShown && !visible || path == "list" && (got.Status != 200 || isShown != visible) {
			t.Errorf("%s: %s: %d, the booking is shown: %v", name, path, got.Status, isShown)
		}
	}
}

// TestMemberLocations shows that the admin API sets, keeps and ends the locations of a member, and refuses invalid
// ones.
func TestMemberLocations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	body := `{"email":"ana@example.com","role":"desk","mail":false,"locations":["` + homeID.String() + `"]}`
	person := field(t, w.Call(t, "POST", harb+"/members", body), "person_id").(string)
	read := func() []uuid.UUID {
		var list struct {
			Members []struct {
				Locations []uuid.UUID `json:"locations"`
			} `json:"members"`
		}
		if err := json.Unmarshal([]byte(w.Call(t, "GET", harb+"/members", "").Body), &list); err != nil ||
			len(list.Members) != 1 {
			t.Fatalf("%v: %+v", err, list)
		}
		return list.Members[0].Locations
	}
	member := harb + "/members/" + person
	for _, step := range []struct {
		body   string
		status int
		want   string
	}{
		{"", 0, homeID.String()},
		{`{"role":"viewer"}`, 200, homeID.String()},
		{`{"role":"viewer","locations":["` + homeID.String() + `","` + harbourID.String() + `","` + homeID.String() + `"]}`,
			200, harbourID.String() + " " + homeID.String()},
		{`{"role":"owner","locations":["` + homeID.String() + `"]}`, 400, harbourID.String() + " " + homeID.String()},
		{`{"role":"desk","locations":["` + uuid.NewString() + `"]}`, 400, harbourID.String() + " " + homeID.String()},
		{`{"role":"desk","locations":[]}`, 200, ""},
		{`{"role":"desk","locations":["` + harbourID.String() + `"]}`, 200, harbourID.String()},
		{`{"role":"owner"}`, 200, ""},
	} {
		if step.body != "" {
			if got := w.Call(t, "PATCH", member, step.body); got.Status != step.status {
				t.Fatalf("%s: %d %s", step.body, got.Status, got.Body)
			}
		}
		var texts []string
		for _, l := range read() {
			texts = append(texts, l.String())
		}
		if got := strings.Join(texts, " "); got != step.want {
			t.Errorf("after %s: %q, want %q", step.body, got, step.want)
		}
	}
}

// TestTeamPageSetsLocations shows that the form of a member sets locations, keeps removed ones, and has no field for
// locations in a business with one location.
func TestTeamPageSetsLocations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	owner := w.AddSession(t, "olga@example.com", access.Member{BusinessID: id, Role: access.Owner})
	desk := w.AddSession(t, "dora@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	path := "/business/harbor/team/" + findMemberID(t, w, "dora@example.com")
	if got := getPage(t, w, path, owner); !strings.Contains(got.Body, `name="location" value="`+homeID.String()+`"`) {
		t.Fatalf("the form has no locations: %s", got.Body)
	}
	save := func(form url.Values) {
		t.Helper()
		if got := postForm(t, w, path, owner, form); got.Status != 303 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	save(url.Values{"role": {"desk"}, "limits": {"yes"}, "location": {homeID.String()}})
	b := someBooking("confirmed", "2026-12-01")
	b.Location = &booking.BookedLocation{ID: harbourID, Kind: "place", Name: "Harbour"}
	w.Booking.Add(id, b)
	booked := "/business/harbor/bookings/" + b.ID.String()
	if got := getPage(t, w, booked, desk); got.Status != 404 && got.Status != 303 {
		t.Errorf("a booking at another location: %d", got.Status)
	}
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor"), "Content-Type", yaml)
	if got := getPage(t, w, path, owner); !strings.Contains(got.Body, `value="`+homeID.String()+`" checked`) {
		t.Error("the form forgets a removed location")
	}
	save(url.Values{"role": {"viewer"}})
	if got := w.Call(t, "GET", harb+"/members", ""); !strings.Contains(got.Body, homeID.String()) {
		t.Errorf("a form without locations ends the limit: %s", got.Body)
	}
	if got := getPage(t, w, "/business/harbor/team/invite", owner); strings.Contains(got.Body, `name="location"`) {
		t.Error("the invitation to a business without locations has a field for them")
	}
}

// TestChangeOfLocationsRevokesTokens shows that a change of a member's locations ends the tokens that the member made,
// and that a save of the same locations keeps them.
func TestChangeOfLocationsRevokesTokens(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+harbourAndHome)
	w.AddSession(t, "dora@example.com", newLimited(id, access.FrontDesk, homeID))
	person := findMemberID(t, w, "dora@example.com")
	token := w.AddTokenCreatedBy(t, newLimited(id, access.FrontDesk, homeID), uuid.MustParse(person))
	for _, step := range []struct {
		body   string
		status int
	}{
		{`{"role":"desk"}`, 200},
		{`{"role":"desk","locations":["` + homeID.String() + `"]}`, 200},
		{`{"role":"desk","locations":["` + harbourID.String() + `"]}`, 401},
	} {
		if got := w.Call(t, "PATCH", harb+"/members/"+person, step.body); got.Status != 200 {
			t.Fatalf("%s: %d %s", step.body, got.Status, got.Body)
		}
		if got := w.CallAs(t, token, "GET", harb+"/bookings", ""); got.Status != step.status {
			t.Errorf("the member's token after %s: %d, want %d", step.body, got.Status, step.status)
		}
	}
}
