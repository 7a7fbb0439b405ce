package console_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
)

// attackFixture is a console in which an attacker tries to misuse a user's browser.
type attackFixture struct {
	*consoletest.Fixture
	id     uuid.UUID
	device *consoletest.Device
}

// entrance is a route of sign-in or of the account's pages.
type entrance struct {
	// enter signs a person in by this route, in a browser that already has the session `brought`. The field is nil if
	// the route begins no session.
	enter func(t *testing.T, w *attackFixture, brought string) consoletest.Answer
}

// anaInvitation is the body of an invitation whose answer has a sign-in link.
const anaInvitation = `{"business":"harbor","email":"ana@example.com","role":"owner","mail":false}`

// entrances has all routes of sign-in and of the account. A route without an entry fails the test.
var entrances = map[string]entrance{
	"GET /sign-in": {},
	"POST /sign-in": {func(t *testing.T, w *attackFixture, brought string) consoletest.Answer {
		return postForm(t, w.Fixture, "/sign-in", brought,
			url.Values{"email": {"ana@example.com"}, "password": {gulls}})
	}},
	"GET /sign-in/link/:secret": {},
	"POST /sign-in/link/:secret": {func(t *testing.T, w *attackFixture, brought string) consoletest.Answer {
		return pressButton(t, w.Fixture, invite(t, w.Fixture, consoletest.Token, anaInvitation), brought)
	}},
	"GET /sign-in/forgotten":        {},
	"POST /sign-in/forgotten":       {},
	"GET /sign-in/password/:secret": {},
	"POST /sign-in/password/:secret": {func(t *testing.T, w *attackFixture, brought string) consoletest.Answer {
		email := uuid.NewString() + "@example.com"
		invite(t, w.Fixture, consoletest.Token, `{"business":"harbor","email":"`+email+`","role":"desk"}`)
		_, link := w.AwaitMail(t, email, 1)
		return postForm(t, w.Fixture, link, brought, url.Values{"new": {herring}})
	}},
	"GET /sign-in/oidc":                     {}, // TestProviderSignInReplacesSession signs in
	"GET /sign-in/oidc/callback":            {},
	"POST /sign-in/passkey/begin":           {},
	"GET /account":                          {},
	"GET /sign-in/invitation/:secret":       {},
	"POST /sign-in/invitation/:secret":      {},
	"POST /account/invitations/:id/accept":  {},
	"POST /account/invitations/:id/decline": {},
	"POST /account/sign-out":                {},
	"POST /account/language":                {},
	"POST /account/passkeys":                {},
	"POST /account/passkeys/begin":          {},
	"GET /account/password":                 {},
	"POST /sign-in/passkey": {func(t *testing.T, w *attackFixture, brought string) consoletest.Answer {
		told, cookie := beginPasskeySignIn(t, w.Fixture, "")
		return postToOwner(t, w.Fixture, "/sign-in/passkey", url.Values{"credential": {w.device.Sign(t, told)}},
			challengeCookie, cookie, sessionCookie, brought)
	}},
	"POST /account/sessions/:id/end":    {},
	"POST /account/devices/:id/end":     {},
	"POST /account/passkeys/:id/remove": {},
	"POST /account/password":            {}, // see TestChangedPasswordEndsSessionsOnEveryReplica
	"POST /account/password/remove":     {},
}

// newAttackFixture starts a console with all kinds of sign-in. Its OpenID provider does not answer.
func newAttackFixture(t *testing.T) *attackFixture {
	t.Helper()
	w := &attackFixture{Fixture: consoletest.Start(t, func(c *console.Config) {
		c.OIDC = oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "slotmesh", ClientSecret: "a secret of theirs"}
	}), device: consoletest.NewDevice()}
	w.id = publish(t, w.Fixture)
	addPasskey(t, w.Fixture, addPersonWithPassword(t, w.Fixture, w.id, "ana@example.com", gulls), w.device)
	return w
}

// crossSiteHeaders has the headers that a browser sends with a form on another site.
var crossSiteHeaders = [][]string{
	{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
	{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"},
}

// foreignTargets has parameters with which an attacker tries to redirect a browser to another site.
var foreignTargets = url.Values{}

func init() {
	for _, name := range []string{"to", "next", "back", "return", "return_to", "redirect", "url"} {
		foreignTargets[name] = []string{"https://evil.example/", "//evil.example", `/\evil.example`}
	}
}

// checkEmbeddingIsDenied fails if a page allows frames or forms of other sites, or redirects to another site. A
// preview of a message may be in a frame of this site: it has no form, and its sandbox runs no script.
func checkEmbeddingIsDenied(t *testing.T, name string, got consoletest.Answer) {
	t.Helper()
	policy, ancestors, forms := got.Header.Get("Content-Security-Policy"), "'none'", "'self'"
	if strings.HasSuffix(name, "/words/preview") && got.Status == http.StatusOK {
		ancestors, forms = "'self'", "'none'; base-uri 'none'; sandbox"
	}
	if !strings.Contains(policy, "frame-ancestors "+ancestors) || !strings.Contains(policy, "form-action "+forms) {
		t.Errorf("%s, answered %d, can be framed: %q", name, got.Status, policy)
	}
	to, err := url.Parse(got.Header.Get("Location"))
	if err != nil || to.Host != "" || to.IsAbs() || to.Path != "" &&
		(!strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") || strings.Contains(to.Path, `\`)) {
		t.Errorf("%s leads to %s", name, got.Header.Get("Location"))
	}
}

// TestFormsRejectOtherSites shows that forms refuse requests of other sites. No page can be framed or redirects
// to another site.
func TestFormsRejectOtherSites(t *testing.T) {
	t.Parallel()
	w := newAttackFixture(t)
	visited := map[string]bool{}
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		entry := slices.ContainsFunc([]string{"/sign-in", "/account", "/device"}, func(below string) bool {
			return strings.HasPrefix(route.Path, below)
		})
		page := route.Path == "/" || strings.HasPrefix(route.Path, "/business/")
		if !entry && !page || strings.Contains(route.Path, "/assets/") || route.Method != http.MethodGet &&
			route.Method != http.MethodPost || visited[name] {
			continue
		}
		visited[name] = true
		if _, ok := entrances[name]; entry && !ok {
			t.Errorf("%s has no row in the table of attacks", name)
			continue
		}
		path := strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString(), ":secret",
			strings.Repeat("0", 64)).Replace(route.Path)
		session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: w.id, Role: access.Owner})
		if route.Method == http.MethodGet {
			for _, person := range []string{"", session} {
				checkEmbeddingIsDenied(t, name, getPage(t, w.Fixture, path+"?"+foreignTargets.Encode(), person))
			}
			continue
		}
		for _, header := range crossSiteHeaders {
			if got := postForm(t, w.Fixture, path, session, foreignTargets, header...); got.Status != 403 ||
				got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s with %v: %d %v", name, header, got.Status, got.Header)
			}
		}
		checkEmbeddingIsDenied(t, name, postForm(t, w.Fixture, path+"?"+foreignTargets.Encode(), session,
			foreignTargets))
		checkEmbeddingIsDenied(t, name, postForm(t, w.Fixture, path, "", foreignTargets))
	}
	for name := range entrances {
		if !visited[name] {
			t.Errorf("%s is in the table, but is not a route", name)
		}
	}
}

// TestSignInsReplaceSession shows that each sign-in creates a new session and ends the session that the
// browser had before.
func TestSignInsReplaceSession(t *testing.T) {
	t.Parallel()
	w := newAttackFixture(t)
	for _, name := range slices.Sorted(maps.Keys(entrances)) {
		if enter := entrances[name].enter; enter != nil {
			w.signInTwice(t, name, func(brought string) consoletest.Answer { return enter(t, w, brought) })
		}
	}
}

func TestProviderSignInReplacesSession(t *testing.T) {
	t.Parallel()
	w := &attackFixture{Fixture: withDex(t, testkit.DexUser{Email: "ana@example.com", EmailVerified: true})}
	w.id = publish(t, w.Fixture)
	w.signInTwice(t, "oidc", func(brought string) consoletest.Answer {
		address, cookie := beginSignIn(t, w.Fixture)
		return requestCallback(t, w.Fixture, signInAtProvider(t, address, "ana@example.com"),
			cookie+"; slotmesh-session="+brought)
	})
}

// signInTwice signs in twice: in a browser with an invented session, and in one with the session of another person.
func (w *attackFixture) signInTwice(t *testing.T, name string, enter func(brought string) consoletest.Answer) {
	t.Helper()
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: w.id, Role: access.Owner})
	for kind, brought := range map[string]string{
		"made up": strings.Repeat("a", 64), "an attacker's": w.AddSession(t, uuid.NewString()+"@example.com",
			access.Member{BusinessID: w.id, Role: access.FrontDesk}),
	} {
		got := enter(brought)
		if got.Status != 303 {
			t.Fatalf("%s: %d %s", name, got.Status, got.Body)
		}
		if session := findSession(t, got); session == brought || getPage(t, w.Fixture, "/account",
			session).Status != 200 {
			t.Errorf("%s with %s session: the new one is the same, or none", name, kind)
		}
		if after := getPage(t, w.Fixture, "/account", brought); after.Status != 303 {
			t.Errorf("%s: %s session is still valid afterwards", name, kind)
		}
	}
}
