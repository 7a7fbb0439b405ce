package console_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
)

// withDex starts a console with a Dex OpenID Connect provider. All users of the provider have the password `gulls`.
func withDex(t *testing.T, users ...testkit.DexUser) *consoletest.Fixture {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(gulls), bcrypt.MinCost+6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range users {
		users[i].Hash, users[i].UserID, users[i].Username = string(hash), users[i].Email, users[i].Email
	}
	issuer := testkit.StartDex(t, testkit.DexClient{
		ID: "slotmesh", Secret: "a secret of theirs", Name: "Slotmesh",
		RedirectURIs: []string{consoletest.OwnerURL + "/sign-in/oidc/callback"},
	}, users...)
	return consoletest.Start(t, func(c *console.Config) {
		c.OIDC = oidc.Config{Issuer: issuer, ClientID: "slotmesh", ClientSecret: "a secret of theirs",
			OperatorGroup: "operators", Name: "Dex"}
	})
}

// beginSignIn begins a sign-in by the provider and returns the address of the redirect and the cookie of the attempt.
func beginSignIn(t *testing.T, w *consoletest.Fixture) (string, string) {
	t.Helper()
	sent := getPage(t, w, "/sign-in/oidc", "")
	cookie, _, _ := strings.Cut(sent.Header.Get("Set-Cookie"), ";")
	if sent.Status != 303 || !strings.HasPrefix(cookie, "slotmesh-oidc=") ||
		!strings.Contains(sent.Header.Get("Set-Cookie"), "HttpOnly") {
		t.Fatalf("%d %v", sent.Status, sent.Header)
	}
	return sent.Header.Get("Location"), cookie
}

var formAction = regexp.MustCompile(`action="([^"]+)"`)

// signInAtProvider signs in at the provider and returns the path of the callback to which the provider redirects.
func signInAtProvider(t *testing.T, address, email string) string {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	var back string
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), consoletest.OwnerURL) {
				back = strings.TrimPrefix(r.URL.String(), consoletest.OwnerURL)
				return http.ErrUseLastResponse
			}
			return nil
		}}
	read := func(answer *http.Response, err error) (*http.Response, string) {
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		return answer, string(body)
	}
	page, body := read(client.Get(address))
	action := formAction.FindStringSubmatch(body)
	if action == nil {
		t.Fatalf("%d %s", page.StatusCode, body)
	}
	to, err := page.Request.URL.Parse(strings.ReplaceAll(action[1], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	answer, body := read(client.PostForm(to.String(), url.Values{"login": {email}, "password": {gulls}}))
	if back == "" {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	return back
}

// requestCallback requests the callback path with the cookie of the attempt.
func requestCallback(t *testing.T, w *consoletest.Fixture, path, cookie string) consoletest.Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", cookie)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	return send(t, request)
}

func TestProviderSignsPeopleIn(t *testing.T) {
	t.Parallel()
	w := withDex(t, testkit.DexUser{Email: "ana@example.com", EmailVerified: true},
		testkit.DexUser{Email: "bo@example.com"},
		testkit.DexUser{Email: "op@example.com", EmailVerified: true, Groups: []string{"people", "operators"}},
		testkit.DexUser{Email: "stranger@example.com", EmailVerified: true})
	id := publish(t, w)
	early := findSession(t,
		pressButton(t, w, invite(t, w, w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner}),
			`{"business":"harbor","email":"ana@example.com","role":"desk","mail":false}`), ""))
	w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner})
	if got := getPage(t, w, "/sign-in", ""); !strings.Contains(got.Body, "Sign in with Dex") {
		t.Error(got.Body)
	}
	for _, who := range []struct {
		email, says string
		status      int
	}{{"ana@example.com", "", 303}, {"op@example.com", "", 303}, {"bo@example.com",
		"has not checked your e-mail address", 403}, {"stranger@example.com", "has not been invited", 403}} {
		address, cookie := beginSignIn(t, w)
		back := signInAtProvider(t, address, who.email)
		got := requestCallback(t, w, back, cookie)
		if got.Status != who.status || !strings.Contains(got.Body, who.says) {
			t.Fatalf("%s: %d %s", who.email, got.Status, got.Body)
		}
		if who.status == 303 {
			session := findSession(t, got)
			if page := getPage(t, w, "/account", session); page.Status != 200 || !strings.Contains(page.Body,
				who.email) {
				t.Errorf("%s: %d", who.email, page.Status)
			}
			sees := who.email == "op@example.com"
			if team := getPage(t, w, "/business/harbor/team", session); (team.Status == 200) != sees {
				t.Errorf("%s sees the team: %d", who.email, team.Status)
			}
		}
		if second := requestCallback(t, w, back, cookie); second.Status != 403 {
			t.Errorf("%s, the same answer once more: %d", who.email, second.Status)
		}
	}
	if got := getPage(t, w, "/account", early); got.Status != 303 {
		t.Errorf("the session of the inviter with the person's account: %d", got.Status)
	}
	if log := w.Log.String(); strings.Contains(log, "@example.com") || strings.Contains(log, "a secret of theirs") ||
		!strings.Contains(log, `"by":"oidc"`) {
		t.Error("the log contains an address or a secret, or lacks the method of the sign-in")
	}
}

// TestCallbackRejectsAnswerToOtherAttempt shows that the callback refuses a provider's answer to another sign-in
// attempt (RFC 6749 §10.12). An attacker therefore cannot make another browser use the attacker's answer.
func TestCallbackRejectsAnswerToOtherAttempt(t *testing.T) {
	t.Parallel()
	w := withDex(t, testkit.DexUser{Email: "ana@example.com", EmailVerified: true})
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	address, cookie := beginSignIn(t, w)
	asked, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if asked.Query().Get(name) == "" {
			t.Errorf("%s has no %s", address, name)
		}
	}
	_, others := beginSignIn(t, w)
	value := strings.TrimPrefix(cookie, "slotmesh-oidc=")
	parts := strings.Split(value, ".")
	foreign := strings.Split(strings.TrimPrefix(others, "slotmesh-oidc="), ".")
	for label, stored := range map[string]string{
		"no cookie": "", "another browser's": others, "another nonce": "slotmesh-oidc=" + parts[0] + "." + foreign[1] +
			"." + parts[2],
		"another verifier": "slotmesh-oidc=" + parts[0] + "." + parts[1] + "." + foreign[2],
		"not one":          "slotmesh-oidc=x",
	} {
		if got := requestCallback(t, w, signInAtProvider(t, address, "ana@example.com"), stored); got.Status != 403 ||
			strings.Contains(got.Header.Get("Set-Cookie"), "slotmesh-session") {
			t.Errorf("%s: %d %v", label, got.Status, got.Header)
		}
	}
	for _, path := range []string{"/sign-in/oidc/callback", "/sign-in/oidc/callback?error=access_denied&state=" +
		parts[0], "/sign-in/oidc/callback?code=x&state=" + parts[0]} {
		if got := requestCallback(t, w, path, cookie); got.Status != 403 || strings.Contains(got.Body,
			"access_denied") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

func TestUnavailableProviderBlocksNoOtherRequest(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.OIDC = oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "slotmesh", ClientSecret: "s"}
	})
	addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	if got := getPage(t, w, "/sign-in/oidc", ""); got.Status != 503 || !strings.Contains(got.Body,
		"does not answer right now") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := signInByPassword(t, w, "ana@example.com", gulls); got.Status != 303 {
		t.Errorf("by a password: %d", got.Status)
	}
	for _, change := range []func(*console.Config){
		func(c *console.Config) {
			c.OwnerURL = ""
		}, func(c *console.Config) { c.OIDC.ClientID = "" }, func(c *console.Config) { c.OIDC.ClientSecret = "" },
		func(c *console.Config) {
			c.OIDC.Issuer = "http://login.example.com"
		}, func(c *console.Config) { c.OIDC.Issuer = "" },
	} {
		cfg := w.Config()
		change(&cfg)
		if err := cfg.Validate(); err == nil {
			t.Errorf("%+v is taken", cfg.OIDC)
		}
	}
}
