package console_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
)

// invite sends an invitation and returns the path of the sign-in link, or "" if the answer has no link.
func invite(t *testing.T, w *consoletest.Fixture, token, body string) string {
	t.Helper()
	got := w.CallAs(t, token, "POST", "/admin/invitations", body)
	if got.Status != 201 {
		t.Fatalf("invite %s: %d %s", body, got.Status, got.Body)
	}
	link, _ := field(t, got, "link").(string)
	return link
}

// pressButton posts an empty form as a browser does from the same site. The names and values in `header` replace its
// headers.
func pressButton(t *testing.T, w *consoletest.Fixture, path, session string, header ...string) consoletest.Answer {
	t.Helper()
	return postForm(t, w, path, session, nil, header...)
}

// postForm posts a form as a browser does from the same site. The names and values in `header` replace its headers.
func postForm(t *testing.T, w *consoletest.Fixture, path, session string, form url.Values,
	header ...string) consoletest.Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", w.URL)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if session != "" {
		request.Header.Set("Cookie", "slotmesh-session="+session)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	return send(t, request)
}

// getPage requests a page with a session.
func getPage(t *testing.T, w *consoletest.Fixture, path, session string) consoletest.Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if session != "" {
		request.Header.Set("Cookie", "slotmesh-session="+session)
	}
	return send(t, request)
}

// send sends a request and does not follow redirects.
func send(t *testing.T, request *http.Request) consoletest.Answer {
	t.Helper()
	client := http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return consoletest.Answer{}
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return consoletest.Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(body)}
}

// findSession returns the secret of the session that an answer sets.
func findSession(t *testing.T, a consoletest.Answer) string {
	t.Helper()
	for _, cookie := range (&http.Response{Header: a.Header}).Cookies() {
		if strings.HasSuffix(cookie.Name, "slotmesh-session") && cookie.MaxAge > 0 {
			return cookie.Value
		}
	}
	t.Fatalf("%d sets no session: %v", a.Status, a.Header)
	return ""
}

const newOwner = `{"business":"harbor","email":"Ana@Example.com","name":"Ana","role":"owner"}`

func TestLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	link := invite(t, w, consoletest.Token, newOwner)
	for range 2 { // reading the page does not use the link up
		if got := getPage(t, w, link, ""); got.Status != 200 || !strings.Contains(got.Body, "ana@example.com") {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	const at = 8
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		answers []consoletest.Answer
	)
	for range at {
		all.Go(func() {
			got := pressButton(t, w, link, "")
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, got)
		})
	}
	all.Wait()
	var signed []string
	for _, a := range answers {
		if a.Status == 303 {
			signed = append(signed, findSession(t, a))
		} else if a.Status != 404 || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%d %v", a.Status, a.Header)
		}
	}
	if len(signed) != 1 {
		t.Fatalf("%d of %d at once were signed in by one link", len(signed), at)
	}
	if got := getPage(t, w, "/account", signed[0]); got.Status != 200 || !strings.Contains(got.Body, "Ana") {
		t.Errorf("signed in: %d %s", got.Status, got.Body)
	}
	for _, path := range []string{link, "/sign-in/link/" + strings.Repeat("0", 64), "/sign-in/link/x"} {
		if got := getPage(t, w, path, ""); got.Status != 404 {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	if log := w.Log.String(); strings.Contains(log, signed[0]) || strings.Contains(log,
		strings.TrimPrefix(link, "/sign-in/link/")) || strings.Contains(log, "ana@") {
		t.Error("the log contains a secret or an address")
	}
}

func TestSessionCookieIsBoundToHost(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for host, want := range map[string]string{
		"":                  "slotmesh-session=", // localhost has no HTTPS
		"owner.example.com": "__Host-slotmesh-session=",
	} {
		header := []string{}
		if host != "" {
			header = append(header, "Host", host, "Origin", "https://"+host)
		}
		got := pressButton(t, w, invite(t, w, consoletest.Token, newOwner), "", header...)
		cookie := got.Header.Get("Set-Cookie")
		for _, attribute := range []string{want, "HttpOnly", "SameSite=Lax", "path=/"} {
			if !strings.Contains(cookie, attribute) {
				t.Errorf("%s: %q lacks %s", host, cookie, attribute)
			}
		}
		if secure := strings.Contains(cookie, "secure"); secure != (host != "") ||
			strings.Contains(strings.ToLower(cookie), "domain") {
			t.Errorf("%s: %q", host, cookie)
		}
	}
}

func TestSignInReplacesOldSession(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	fixed := strings.Repeat("a", 64)
	first := findSession(t, pressButton(t, w, invite(t, w, consoletest.Token, newOwner), fixed))
	if got := getPage(t, w, "/account", fixed); first == fixed || got.Status != 303 {
		t.Errorf("a session that was brought along: %d", got.Status)
	}
	second := findSession(t, pressButton(t, w, invite(t, w, consoletest.Token, newOwner), first))
	if got := getPage(t, w, "/account", first); second == first || got.Status != 303 {
		t.Errorf("the session before is still good: %d", got.Status)
	}
	if got := getPage(t, w, "/account", second); got.Status != 200 {
		t.Errorf("the new one: %d", got.Status)
	}
}

func TestCrossSiteRequestsAreRejected(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	link := invite(t, w, consoletest.Token, newOwner)
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"},
	} {
		for _, path := range []string{link, "/account/sign-out", "/account/sessions/" + uuid.NewString() + "/end"} {
			if got := pressButton(t, w, path, session, header...); got.Status != 403 {
				t.Errorf("%s with %v: %d", path, header, got.Status)
			}
		}
	}
	got := getPage(t, w, "/account", session)
	if policy := got.Header.Get("Content-Security-Policy"); got.Status != 200 || !strings.Contains(policy,
		"frame-ancestors 'none'") || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	for _, path := range []string{"/sign-in", "/account"} { // no redirect to another site
		for _, target := range []string{"//evil.example", "https://evil.example"} {
			got := getPage(t, w, path+"?to="+url.QueryEscape(target)+"&next="+url.QueryEscape(target), "")
			if to := got.Header.Get("Location"); to != "" && to != "/sign-in" {
				t.Errorf("%s leads to %s", path, to)
			}
		}
	}
}

func TestEndedSessionIsInvalidOnEveryReplica(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.StartReplica(t)
	owner := access.Member{BusinessID: id, Role: access.Owner}
	here, there := w.AddSession(t, "ana@example.com", owner), w.AddSession(t, "ana@example.com", owner)
	for _, replica := range []*consoletest.Fixture{w, other} {
		if got := getPage(t, replica, "/account", here); got.Status != 200 || strings.Count(got.Body, "/end") != 1 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	page := getPage(t, w, "/account", here).Body
	_, rest, _ := strings.Cut(page, `action="/account/sessions/`)
	id2, _, _ := strings.Cut(rest, "/end")
	if got := pressButton(t, w, "/account/sessions/"+id2+"/end", w.AddSession(t, "bo@example.com")); got.Status != 303 {
		t.Errorf("ending the session of another person: %d", got.Status)
	}
	if got := getPage(t, other, "/account", there); got.Status != 200 {
		t.Errorf("the session after another person tried to end it: %d", got.Status)
	}
	pressButton(t, w, "/account/sessions/"+id2+"/end", here)
	if got := getPage(t, other, "/account", there); got.Status != 303 {
		t.Errorf("ended in the other browser: %d", got.Status)
	}
	got := pressButton(t, w, "/account/sign-out", here)
	if got.Status != 303 || !strings.Contains(got.Header.Get("Set-Cookie"), "slotmesh-session=;") {
		t.Errorf("sign out: %d %v", got.Status, got.Header)
	}
	for _, replica := range []*consoletest.Fixture{w, other} {
		if got := getPage(t, replica, "/account", here); got.Status != 303 {
			t.Errorf("after signing out: %d", got.Status)
		}
	}
	if got := pressButton(t, w, "/account/sign-out", here); got.Status != 401 {
		t.Errorf("a write after signing out: %d", got.Status)
	}
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := w.AddSession(t, "ana@example.com")
	ctx, hash, start := context.Background(), secret.Hash(session), time.Now()
	for _, step := range []struct {
		after time.Duration
		good  bool
	}{{11 * time.Hour, true}, {22 * time.Hour, true}, {35 * time.Hour, false}} {
		if _, err := w.Store.FindSessionByHash(ctx, hash, start.Add(step.after)); (err == nil) != step.good {
			t.Errorf("after %s: %v", step.after, err)
		}
	}
	busy := secret.Hash(w.AddSession(t, "bo@example.com"))
	for after := time.Duration(0); after < 8*24*time.Hour; after += 10 * time.Hour {
		_, err := w.Store.FindSessionByHash(ctx, busy, start.Add(after))
		if isValid := after < 7*24*time.Hour; (err == nil) != isValid {
			t.Errorf("in use, after %s: %v", after, err)
		}
	}
}

func TestInviterCannotSignInAsMemberElsewhere(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	quay := uuid.MustParse(field(t,
		w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay")),
		"id").(string))
	harbors, quays := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner}),
		w.AddToken(t, access.Member{BusinessID: quay, Role: access.Owner})
	forHarbor, forQuay := `{"business":"harbor","email":"ana@example.com","role":"manager"}`,
		`{"business":"quay","email":"ANA@example.com","role":"desk"}`

	// The address is not verified yet, so the owner of harbor may be the person who uses this link.
	early := findSession(t, pressButton(t, w, invite(t, w, harbors, forHarbor), ""))
	// Quay may also invite the address, and does not learn that the person exists.
	asked := w.CallAs(t, quays, "POST", "/admin/invitations", forQuay)
	if asked.Status != 201 || field(t, asked, "person_id") != nil || field(t, asked, "link") != nil ||
		field(t, asked, "invitation_id") == nil {
		t.Errorf("%d %s", asked.Status, asked.Body)
	}
	if got := getPage(t, w, "/account", early); strings.Contains(got.Body, "Quay") {
		t.Error("a person with an unverified address sees the invitations to this address")
	}
	remaining := invite(t, w, harbors, forHarbor)

	// An operator's link proves who the person is, so earlier sessions and links end.
	real := findSession(t, pressButton(t, w, invite(t, w, consoletest.Token, forHarbor), ""))
	if got := getPage(t, w, "/account", early); got.Status != 303 {
		t.Errorf("a session from before: %d", got.Status)
	}
	if got := pressButton(t, w, remaining, ""); got.Status != 404 {
		t.Errorf("a link from before: %d", got.Status)
	}
	for _, who := range []struct{ token, body string }{{quays, forQuay}, {harbors, forHarbor}} {
		if link := invite(t, w, who.token, who.body); link != "" {
			t.Errorf("%s: an owner gets a sign-in link for a person with a verified address", who.body)
		}
	}
	if got := getPage(t, w, "/account", real); got.Status != 200 {
		t.Errorf("the person's own session: %d", got.Status)
	}
	expect(t, w.CallAs(t, harbors, "POST", "/admin/invitations",
		`{"business":"harbor","email":"ana@example.com","role":"owner"}`), 409, "conflict", "another role")
}

func TestInviteReportsFieldErrors(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.Limits.WrongTokensPerMinute = 0 })
	id := publish(t, w)
	for body, want := range map[string]string{
		`{"business":"harbor","email":"ana","role":"owner"}`:              "email",
		`{"business":"harbor","email":"a@example.com","role":"king"}`:     "role",
		`{"business":"harbor","email":"a@example.com","role":"operator"}`: "role",
		`{"business":"harbor","email":"a@example.com","role":"staff"}`:    "staff_id",
		`{"business":"harbor","email":"a@example.com","role":"staff","staff_id":"` + uuid.NewString() +
			`"}`: "staff_id",
		`{"business":"harbor","email":"a@example.com","role":"desk","staff_id":"` + uuid.NewString() +
			`"}`: "staff_id",
		`{"business":"harbor","email":"a@example.com","role":"desk","name":"` + strings.Repeat("x", 201) + `"}`: "name",
		`{"email":"a@example.com","role":"owner"}`:                                                              "business",
		`{"email":"a@example.com","role":"operator","staff_id":"` + uuid.NewString() +
			`"}`: "staff_id",
		`{"business":"harbor","email":"a@example.com","role":"desk","admin":true}`: "admin",
	} {
		expect(t, w.Call(t, "POST", "/admin/invitations", body), 400, "invalid_parameter", want)
	}
	owner, _ := addTokenAs(t, w, id, access.Owner)
	expect(t, w.CallAs(t, owner, "POST", "/admin/invitations", `{"email":"a@example.com","role":"operator"}`), 403,
		"forbidden", "operators")
	expect(t, w.CallAs(t, owner, "POST", "/admin/invitations",
		`{"business":"quay","email":"a@example.com","role":"owner"}`), 404, "business_not_found", "")
	link := invite(t, w, consoletest.Token, `{"email":"op@example.com","role":"operator"}`)
	if got := pressButton(t, w, link, ""); got.Status != 303 {
		t.Errorf("an operator signs in: %d", got.Status)
	}
}
