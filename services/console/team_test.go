package console_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// findMemberID returns the id of the member of harbor with this e-mail address.
func findMemberID(t *testing.T, w *consoletest.Fixture, email string) string {
	t.Helper()
	for _, m := range field(t, w.Call(t, "GET", harb+"/members", ""), "members").([]any) {
		if found := m.(map[string]any); found["email"] == email {
			return found["id"].(string)
		}
	}
	t.Fatalf("%s is not a member", email)
	return ""
}

func TestDemotedOrRemovedMemberLosesAccess(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.StartReplica(t)
	owner := access.Member{BusinessID: id, Role: access.Owner}
	w.AddSession(t, "stays@example.com", owner)
	for label, end := range map[string]func(member string) consoletest.Answer{
		"demoted": func(member string) consoletest.Answer {
			return w.Call(t, "PATCH", harb+"/members/"+member, `{"role":"desk"}`)
		},
		"removed": func(member string) consoletest.Answer { return w.Call(t, "DELETE", harb+"/members/"+member, "") },
	} {
		email := label + "@example.com"
		session := w.AddSession(t, email, owner)
		member := findMemberID(t, w, email)
		created := w.AddTokenCreatedBy(t, owner, uuid.MustParse(member))
		of := field(t, w.CallAs(t, created, "POST", "/admin/tokens",
			`{"name":"of a token","business":"harbor","role":"owner"}`), "token").(string)
		if got := w.CallAs(t, of, "GET", harb, ""); got.Status != 200 {
			t.Fatalf("%s: before: %d", label, got.Status)
		}
		if got := end(member); got.Status >= 300 {
			t.Fatalf("%s: %d %s", label, got.Status, got.Body)
		}
		for _, replica := range []*consoletest.Fixture{w, other} {
			if got := getPage(t, replica, "/account", session); got.Status != 303 {
				t.Errorf("%s: the session: %d", label, got.Status)
			}
			for name, token := range map[string]string{"the token": created, "the token's token": of} {
				if got := replica.CallAs(t, token, "GET", harb, ""); got.Status != 401 {
					t.Errorf("%s: %s: %d", label, name, got.Status)
				}
			}
		}
	}
	if got := w.Call(t, "GET", harb+"/members", ""); strings.Contains(got.Body, "removed@") ||
		!strings.Contains(got.Body, `"desk"`) {
		t.Error(got.Body)
	}
}

func TestBusinessKeepsOwner(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner := access.Member{BusinessID: id, Role: access.Owner}
	w.AddSession(t, "ana@example.com", owner)
	ana := harb + "/members/" + findMemberID(t, w, "ana@example.com")
	expect(t, w.Call(t, "PATCH", ana, `{"role":"manager"}`), 409, "conflict", "last owner")
	expect(t, w.Call(t, "DELETE", ana, ""), 409, "conflict", "last owner")
	if got := w.Call(t, "PATCH", ana, `{"role":"owner"}`); got.Status != 200 {
		t.Errorf("stays an owner: %d %s", got.Status, got.Body)
	}
	for range 5 { // two owners are removed at the same time; one stays
		w.AddSession(t, "bo@example.com", owner)
		w.AddSession(t, "ana@example.com", owner)
		paths := []string{harb + "/members/" + findMemberID(t, w, "bo@example.com"),
			harb + "/members/" + findMemberID(t, w, "ana@example.com")}
		statuses := make([]int, len(paths))
		var all sync.WaitGroup
		for i, path := range paths {
			all.Go(func() { statuses[i] = w.Call(t, "DELETE", path, "").Status })
		}
		all.Wait()
		slices.Sort(statuses)
		if !slices.Equal(statuses, []int{204, 409}) {
			t.Errorf("%v", statuses)
		}
	}
}

func TestTeamsAreSeparate(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	quay := uuid.MustParse(field(t,
		w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
		"id").(string))
	quays := w.AddToken(t, access.Member{BusinessID: quay, Role: access.Owner})
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	ana := findMemberID(t, w, "ana@example.com")
	for _, call := range [][2]string{{"PATCH", `{"role":"viewer"}`}, {"DELETE", ""}} {
		expect(t, w.CallAs(t, quays, call[0], "/admin/businesses/quay/members/"+ana, call[1]), 404, "not_found",
			"Member")
		expect(t, w.CallAs(t, quays, call[0], harb+"/members/"+ana, call[1]), 404, "business_not_found", "")
	}
	harbors := field(t, w.Call(t, "POST", "/admin/tokens", `{"name":"n","business":"harbor","role":"viewer"}`),
		"id").(string)
	expect(t, w.CallAs(t, quays, "DELETE", "/admin/tokens/"+harbors, ""), 404, "not_found", "Token")
	expect(t, w.CallAs(t, quays, "POST", "/admin/tokens", `{"name":"n","business":"harbor","role":"viewer"}`), 404,
		"business_not_found", "")
	expect(t, w.CallAs(t, quays, "POST", "/admin/tokens", `{"name":"n","role":"operator"}`), 403, "forbidden",
		"operators")
	expect(t, w.CallAs(t, quays, "GET", "/admin/tokens?business=harbor", ""), 404, "business_not_found", "")
	if list := field(t, w.CallAs(t, quays, "GET", "/admin/tokens", ""), "tokens").([]any); len(list) != 1 {
		t.Errorf("quay's owner sees %v", list)
	}
}

func TestTokenIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	body := `{"name":"backup","business":"harbor","role":"viewer","expires_at":"2100-03-01T09:00:00Z"}`
	created := w.Call(t, "POST", "/admin/tokens", body, "Idempotency-Key", "once")
	token, id := field(t, created, "token").(string), field(t, created, "id").(string)
	if created.Status != 201 || len(token) != len("slo_")+64 || !strings.HasPrefix(token, "slo_") {
		t.Fatalf("%d %s", created.Status, created.Body)
	}
	expect(t, w.Call(t, "POST", "/admin/tokens", body, "Idempotency-Key", "once"), 409, "conflict", id)
	if got := w.CallAs(t, token, "GET", harb+"/bookings", ""); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	list := w.Call(t, "GET", "/admin/tokens?business=harbor", "")
	if strings.Contains(list.Body, token) || strings.Contains(w.Log.String(), token) || !strings.Contains(list.Body,
		`"last_used_at":"2`) {
		t.Error(list.Body)
	}
	for range 2 {
		if got := w.Call(t, "DELETE", "/admin/tokens/"+id, ""); got.Status != 204 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if got := w.CallAs(t, token, "GET", harb+"/bookings", ""); got.Status != 401 {
		t.Errorf("revoked: %d", got.Status)
	}
	for body, want := range map[string]string{
		`{"business":"harbor","role":"viewer"}`:                                                "name",
		`{"name":"n","business":"harbor","role":"operator"}`:                                   "role",
		`{"name":"n","role":"viewer"}`:                                                         "business",
		`{"name":"n","business":"harbor","role":"viewer","expires_at":"2020-03-01T09:00:00Z"}`: "expires_at",
		`{"name":"n","business":"harbor","role":"viewer","expires_at":"tomorrow"}`:             "expires_at",
		`{"name":"n","business":"harbor","role":"staff"}`:                                      "staff_id",
	} {
		expect(t, w.Call(t, "POST", "/admin/tokens", body), 400, "invalid_parameter", want)
	}
}

func TestTokensAndMembersHavePages(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	for _, name := range []string{"a", "b", "c"} {
		w.AddSession(t, name+"@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
		w.AddToken(t, access.Member{BusinessID: id, Role: access.FrontDesk})
	}
	for path, member := range map[string]string{"/admin/tokens": "tokens", harb + "/members": "members"} {
		seen, query := 0, "?limit=2"
		for query != "" {
			got := w.Call(t, "GET", path+query, "")
			seen += len(field(t, got, member).([]any))
			query = ""
			if next, more := field(t, got, "next_cursor").(string); more {
				query = "?limit=2&cursor=" + next
			}
		}
		if seen != 3 {
			t.Errorf("%s: %d entries", path, seen)
		}
		expect(t, w.Call(t, "GET", path+"?cursor=x", ""), 400, "invalid_parameter", "cursor")
	}
}

func TestTeamWritesAreIdempotent(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	invitation := `{"email":"ana@example.com","role":"manager"}`
	under := func(key, method, path, body string) consoletest.Answer {
		t.Helper()
		got := w.Call(t, method, path, body, "Idempotency-Key", key)
		if got.Status >= 300 {
			t.Fatalf("%s %s under %s: %d %s", method, path, key, got.Status, got.Body)
		}
		return got
	}
	under("invite", "POST", harb+"/members", invitation)
	ana := harb + "/members/" + findMemberID(t, w, "ana@example.com")
	first := under("change", "PATCH", ana, `{"role":"desk"}`)
	under("later", "PATCH", ana, `{"role":"viewer"}`)
	if second := under("change", "PATCH", ana, `{"role":"desk"}`); second.Body != first.Body ||
		field(t, second, "role") != "desk" {
		t.Errorf("repeated: %s, first %s", second.Body, first.Body)
	}
	if got := w.Call(t, "GET", harb+"/members", ""); !strings.Contains(got.Body, `"viewer"`) {
		t.Errorf("a repeated change undid a later one: %s", got.Body)
	}
	expect(t, w.Call(t, "PATCH", ana, `{"role":"owner"}`, "Idempotency-Key", "change"), 422, "idempotency_mismatch", "")
	under("remove", "DELETE", ana, "")
	under("invite", "POST", harb+"/members", invitation)
	if got := w.Call(t, "GET", harb+"/members", ""); strings.Contains(got.Body, "ana@") {
		t.Errorf("a repeated invitation undid a removal: %s", got.Body)
	}
	under("invite-again", "POST", harb+"/members", invitation)
	under("remove", "DELETE", ana, "")
	if got := w.Call(t, "GET", harb+"/members", ""); !strings.Contains(got.Body, "ana@") {
		t.Errorf("a repeated removal undid an invitation: %s", got.Body)
	}
	expect(t, w.Call(t, "DELETE", harb+"/members/"+uuid.NewString(), "", "Idempotency-Key", "remove"), 422,
		"idempotency_mismatch", "")
}

func TestRefusedTeamWriteBlocksEarlierAttempt(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	ana := harb + "/members/" + findMemberID(t, w, "ana@example.com")
	refused := func() int {
		t.Helper()
		var n int
		if err := w.Pool.QueryRow(t.Context(), `SELECT count(*) FROM refused_writes WHERE business_id = $1`,
			id).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	expect(t, w.Call(t, "PATCH", ana, `{"role":"desk"}`, "Idempotency-Key", "change"), 409, "conflict", "last owner")
	expect(t, w.Call(t, "DELETE", ana, "", "Idempotency-Key", "remove"), 409, "conflict", "last owner")
	expect(t, w.Call(t, "POST", "/admin/tokens", `{"business":"harbor","role":"viewer"}`, "Idempotency-Key", "make"),
		400, "invalid_parameter", "name")
	if n := refused(); n != 3 {
		t.Errorf("%d refusals are noted", n)
	}
	stranger := w.AddToken(t, access.Member{BusinessID: uuid.New(), Role: access.Owner})
	expect(t, w.CallAs(t, stranger, "POST", "/admin/tokens", `{"business":"harbor","role":"viewer"}`, "Idempotency-Key",
		"other"), 404, "business_not_found", "")
	if n := refused(); n != 3 {
		t.Errorf("a stranger has refused a key of the business")
	}
}

func TestFailedLinkDoesNotRefuseInvitation(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	alter := func(change string) {
		t.Helper()
		if _, err := w.Pool.Exec(t.Context(), "ALTER TABLE links "+change); err != nil {
			t.Fatal(err)
		}
	}
	body := `{"email":"ana@example.com","role":"manager","mail":false}`
	alter("ADD CONSTRAINT no_links CHECK (false)")
	expect(t, w.Call(t, "POST", harb+"/members", body, "Idempotency-Key", "k"), 503, "outcome_unknown", "repeat")
	alter("DROP CONSTRAINT no_links")
	if got := w.Call(t, "POST", harb+"/members", body, "Idempotency-Key", "k"); got.Status != 201 ||
		field(t, got, "link") == nil {
		t.Errorf("repeated: %d %s", got.Status, got.Body)
	}
}

// findInvitationPath returns the path of the invitation in mail number `nth` to an address.
func findInvitationPath(t *testing.T, w *consoletest.Fixture, email string, nth int) string {
	t.Helper()
	_, path := w.AwaitMail(t, email, nth)
	if !strings.HasPrefix(path, "/sign-in/invitation/") {
		t.Fatalf("the mail leads to %s", path)
	}
	return path
}

// TestInviteAndRemoveKeepOtherSessions shows that repeated invitations and withdrawals do not end a
// known person's sessions or mailed links. They reveal nothing about the person.
func TestInviteAndRemoveKeepOtherSessions(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	quay := uuid.MustParse(field(t,
		w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
		"id").(string))
	attacker := w.AddToken(t, access.Member{BusinessID: quay, Role: access.Owner})
	sessions := map[string]string{
		"ana@example.com":   w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner}),
		"op@example.com":    w.AddSession(t, "op@example.com", access.Member{Role: access.Operator}),
		"alone@example.com": w.AddSession(t, "alone@example.com"),
	}
	for email, session := range sessions {
		postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {email}})
		_, link := w.AwaitMail(t, email, 1)
		body := `{"business":"quay","email":"` + email + `","role":"desk","mail":false}`
		for range 5 {
			got := w.CallAs(t, attacker, "POST", "/admin/invitations", body)
			invitation, _ := field(t, got, "invitation_id").(string)
			if got.Status != 201 || field(t, got, "person_id") != nil || field(t, got, "link") != nil ||
				invitation == "" {
				t.Fatalf("%s: %d %s", email, got.Status, got.Body)
			}
			if list := w.CallAs(t, attacker, "GET", "/admin/businesses/quay/members", ""); strings.Contains(list.Body,
				email) {
				t.Errorf("%s is a member before they accept: %s", email, list.Body)
			}
			if list := w.CallAs(t, attacker, "GET", "/admin/businesses/quay/invitations",
				""); !strings.Contains(list.Body, email) || !strings.Contains(list.Body, invitation) {
				t.Errorf("%s: %s", email, list.Body)
			}
			if got := w.CallAs(t, attacker, "DELETE", "/admin/businesses/quay/invitations/"+invitation,
				""); got.Status != 204 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		}
		if got := getPage(t, w, "/account", session); got.Status != 200 {
			t.Errorf("%s: the session: %d", email, got.Status)
		}
		if got := getPage(t, w, link, ""); got.Status != 200 {
			t.Errorf("%s: the mailed link: %d", email, got.Status)
		}
	}
}

// TestKnownPersonJoinsByAccepting shows that a known person accepts an invitation by mail or on the page of their
// account. They stay signed in when a business removes them.
func TestKnownPersonJoinsByAccepting(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	quay := uuid.MustParse(field(t,
		w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
		"id").(string))
	quays := w.AddToken(t, access.Member{BusinessID: quay, Role: access.Owner})
	ana, bo := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.FrontDesk}),
		w.AddSession(t, "bo@example.com")
	for nth, answer := range []func() consoletest.Answer{
		func() consoletest.Answer {
			return pressButton(t, w, findInvitationPath(t, w, "ana@example.com", 1), "")
		},
		func() consoletest.Answer {
			page := getPage(t, w, "/account", ana)
			_, rest, _ := strings.Cut(page.Body, `action="/account/invitations/`)
			path, _, _ := strings.Cut(rest, `/accept"`)
			if !strings.Contains(page.Body, "Quay") {
				t.Errorf("the account's page does not show the invitation: %s", page.Body)
			}
			if got := pressButton(t, w, "/account/invitations/"+path+"/accept", bo); got.Status != 404 {
				t.Errorf("another person accepts: %d", got.Status)
			}
			return pressButton(t, w, "/account/invitations/"+path+"/accept", ana)
		},
	} {
		if link := invite(t, w, quays, `{"business":"quay","email":"ana@example.com","role":"manager"}`); link != "" {
			t.Fatal(link)
		}
		if nth == 1 {
			findInvitationPath(t, w, "ana@example.com", 2)
		}
		if got := getPage(t, w, "/business/quay/today", ana); got.Status != 404 {
			t.Errorf("before accepting: %d", got.Status)
		}
		if got := answer(); got.Status != 303 {
			t.Fatalf("accept: %d %s", got.Status, got.Body)
		}
		list := w.CallAs(t, quays, "GET", "/admin/businesses/quay/members", "")
		if !strings.Contains(list.Body, "ana@example.com") || getPage(t, w, "/business/quay/today", ana).Status != 200 {
			t.Errorf("after accepting: %s", list.Body)
		}
		member := field(t, list, "members").([]any)[0].(map[string]any)["id"].(string)
		if got := w.CallAs(t, quays, "DELETE", "/admin/businesses/quay/members/"+member, ""); got.Status != 204 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		if got := getPage(t, w, "/business/harbor/today", ana); got.Status != 200 {
			t.Errorf("the session in the other business: %d", got.Status)
		}
		if got := getPage(t, w, "/business/quay/today", ana); got.Status != 404 {
			t.Errorf("the business that removed them: %d", got.Status)
		}
	}
	old := findInvitationPath(t, w, "ana@example.com", 2)
	if got := pressButton(t, w, old, ""); got.Status != 404 {
		t.Errorf("the link of an invitation that was accepted: %d", got.Status)
	}
}

// TestUnverifiedPersonCannotAccept shows that a person without a verified address cannot accept an invitation of
// another business.
func TestUnverifiedPersonCannotAccept(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	harbor := publish(t, w)
	quay := uuid.MustParse(field(t,
		w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
		"id").(string))
	harbors, quays := w.AddToken(t, access.Member{BusinessID: harbor, Role: access.Owner}),
		w.AddToken(t, access.Member{BusinessID: quay, Role: access.Owner})
	as := findSession(t, pressButton(t, w,
		invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"desk","mail":false}`), ""))
	if got := postForm(t, w, "/account/password", as, url.Values{"new": {gulls}}); got.Status != 303 {
		t.Fatalf("%d", got.Status)
	}
	asked := w.CallAs(t, quays, "POST", "/admin/invitations",
		`{"business":"quay","email":"ana@example.com","role":"owner"}`)
	invitation := field(t, asked, "invitation_id").(string)
	_, link := w.AwaitMail(t, "ana@example.com", 1) // an unverified address gets no mail about the password
	as = findSession(t, signInByPassword(t, w, "ana@example.com", gulls))
	if got := pressButton(t, w, "/account/invitations/"+invitation+"/accept", as); got.Status != 404 {
		t.Errorf("a person whose address is not verified accepts the invitation: %d", got.Status)
	}
	// Harbor removes and invites the address again. The password that harbor set ends, but the link in quay's mail
	// still works.
	if got := w.CallAs(t, harbors, "DELETE", harb+"/members/"+findMemberID(t, w, "ana@example.com"),
		""); got.Status != 204 {
		t.Fatalf("%d", got.Status)
	}
	invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"desk","mail":false}`)
	if got := signInByPassword(t, w, "ana@example.com", gulls); got.Status != 422 {
		t.Errorf("the password that harbor set: %d", got.Status)
	}
	chosen := postForm(t, w, link, "", url.Values{"new": {herring}})
	if chosen.Status != 303 || chosen.Header.Get("Location") != "/account" {
		t.Fatalf("quay's mail: %d %v", chosen.Status, chosen.Header)
	}
	real := findSession(t, chosen)
	if got := pressButton(t, w, "/account/invitations/"+invitation+"/accept", real); got.Status != 303 {
		t.Errorf("the person accepts: %d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, "/business/quay/today", real); got.Status != 200 {
		t.Errorf("%d", got.Status)
	}
}
