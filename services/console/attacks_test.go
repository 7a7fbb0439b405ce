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

// attacked is a world in which somebody's browser is lured.
type attacked struct {
	*consoletest.World
	id     uuid.UUID
	device *consoletest.Device
}

// entrance is a way in, or something that is done on the account's pages.
type entrance struct {
	// enter does it right, in a browser that has brought this session along; nil where no session begins by it.
	enter func(t *testing.T, w *attacked, brought string) consoletest.Answer
}

// invitedAna asks for a link that signs in.
const invitedAna = `{"business":"harbor","email":"ana@example.com","role":"owner","mail":false}`

// entrances are all routes of signing in and of accounts. One that is not here fails the test.
var entrances = map[string]entrance{
	"GET /sign-in": {},
	"POST /sign-in": {func(t *testing.T, w *attacked, brought string) consoletest.Answer {
		return fill(t, w.World, "/sign-in", brought, url.Values{"email": {"ana@example.com"}, "password": {gulls}})
	}},
	"GET /sign-in/link/:secret": {},
	"POST /sign-in/link/:secret": {func(t *testing.T, w *attacked, brought string) consoletest.Answer {
		return press(t, w.World, invite(t, w.World, consoletest.Token, invitedAna), brought)
	}},
	"GET /sign-in/forgotten":        {},
	"POST /sign-in/forgotten":       {},
	"GET /sign-in/password/:secret": {},
	"POST /sign-in/password/:secret": {func(t *testing.T, w *attacked, brought string) consoletest.Answer {
		email := uuid.NewString() + "@example.com"
		invite(t, w.World, consoletest.Token, `{"business":"harbor","email":"`+email+`","role":"desk"}`)
		_, link := w.AwaitMail(t, email, 1)
		return fill(t, w.World, link, brought, url.Values{"new": {herring}})
	}},
	"GET /sign-in/oidc":                     {}, // its way in is below, with a real provider
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
	"POST /sign-in/passkey": {func(t *testing.T, w *attacked, brought string) consoletest.Answer {
		told, cookie := ask(t, w.World, "")
		return atOwner(t, w.World, "/sign-in/passkey", url.Values{"credential": {w.device.Sign(t, told)}},
			challengeCookie, cookie, sessionCookie, brought)
	}},
	"POST /account/sessions/:id/end":    {},
	"POST /account/devices/:id/end":     {},
	"POST /account/passkeys/:id/remove": {},
	"POST /account/password":            {}, // whose new session TestAChangedPasswordEndsEverySessionOnEveryReplica has
	"POST /account/password/remove":     {},
}

// lured starts console with every way in. The provider does not answer.
func lured(t *testing.T) *attacked {
	t.Helper()
	w := &attacked{World: consoletest.Start(t, func(c *console.Config) {
		c.OIDC = oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "slotmesh", ClientSecret: "a secret of theirs"}
	}), device: consoletest.NewDevice()}
	w.id = publish(t, w.World)
	addPasskey(t, w.World, withPassword(t, w.World, w.id, "ana@example.com", gulls), w.device)
	return w
}

// strangers are the headers of what another site makes a browser send.
var strangers = [][]string{
	{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
	{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"},
}

// evil is what an address or a form says that is to lead a browser elsewhere.
var evil = url.Values{}

func init() {
	for _, name := range []string{"to", "next", "back", "return", "return_to", "redirect", "url"} {
		evil[name] = []string{"https://evil.example/", "//evil.example", `/\evil.example`}
	}
}

// keptIn fails where an answer may be framed, or leads elsewhere.
func keptIn(t *testing.T, name string, got consoletest.Answer) {
	t.Helper()
	if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
		!strings.Contains(policy, "form-action 'self'") {
		t.Errorf("%s, answered %d, can be framed: %q", name, got.Status, policy)
	}
	to, err := url.Parse(got.Header.Get("Location"))
	if err != nil || to.Host != "" || to.IsAbs() || to.Path != "" &&
		(!strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") || strings.Contains(to.Path, `\`)) {
		t.Errorf("%s leads to %s", name, got.Header.Get("Location"))
	}
}

// Every page and every form, of signing in and of owners, is refused to other sites, is in no frame, and leads nowhere
// else.
func TestEveryFormIsKeptFromOtherSites(t *testing.T) {
	t.Parallel()
	w := lured(t)
	walked := map[string]bool{}
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		entry := slices.ContainsFunc([]string{"/sign-in", "/account", "/device"}, func(below string) bool {
			return strings.HasPrefix(route.Path, below)
		})
		page := route.Path == "/" || strings.HasPrefix(route.Path, "/business/")
		if !entry && !page || strings.Contains(route.Path, "/assets/") || route.Method != http.MethodGet &&
			route.Method != http.MethodPost || walked[name] {
			continue
		}
		walked[name] = true
		if _, ok := entrances[name]; entry && !ok {
			t.Errorf("%s has no row in the table of what is attacked", name)
			continue
		}
		path := strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString(), ":secret",
			strings.Repeat("0", 64)).Replace(route.Path)
		session := w.SessionOf(t, "ana@example.com", access.Member{BusinessID: w.id, Role: access.Owner})
		if route.Method == http.MethodGet {
			for _, who := range []string{"", session} {
				keptIn(t, name, look(t, w.World, path+"?"+evil.Encode(), who))
			}
			continue
		}
		for _, header := range strangers {
			if got := fill(t, w.World, path, session, evil, header...); got.Status != 403 ||
				got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s with %v: %d %v", name, header, got.Status, got.Header)
			}
		}
		keptIn(t, name, fill(t, w.World, path+"?"+evil.Encode(), session, evil))
		keptIn(t, name, fill(t, w.World, path, "", evil))
	}
	for name := range entrances {
		if !walked[name] {
			t.Errorf("%s is in the table and is no route", name)
		}
	}
}

// Who comes in gets a session that nobody knew before, and the one that the browser brought along is dead.
func TestEveryWayInBeginsASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	w := lured(t)
	for _, name := range slices.Sorted(maps.Keys(entrances)) {
		if enter := entrances[name].enter; enter != nil {
			w.fixate(t, name, func(brought string) consoletest.Answer { return enter(t, w, brought) })
		}
	}
}

func TestAProvidersWayInBeginsASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	w := &attacked{World: withDex(t, testkit.DexUser{Email: "ana@example.com", EmailVerified: true})}
	w.id = publish(t, w.World)
	w.fixate(t, "oidc", func(brought string) consoletest.Answer {
		address, cookie := attempt(t, w.World)
		return comeBack(t, w.World, vouched(t, address, "ana@example.com"), cookie+"; slotmesh-session="+brought)
	})
}

// fixate brings along a session that somebody has made up, and then one of somebody else.
func (w *attacked) fixate(t *testing.T, name string, enter func(brought string) consoletest.Answer) {
	t.Helper()
	w.SessionOf(t, "ana@example.com", access.Member{BusinessID: w.id, Role: access.Owner})
	for kind, brought := range map[string]string{
		"made up": strings.Repeat("a", 64), "an attacker's": w.SessionOf(t, uuid.NewString()+"@example.com",
			access.Member{BusinessID: w.id, Role: access.Desk}),
	} {
		got := enter(brought)
		if got.Status != 303 {
			t.Fatalf("%s: %d %s", name, got.Status, got.Body)
		}
		if session := sessionIn(t, got); session == brought || look(t, w.World, "/account", session).Status != 200 {
			t.Errorf("%s with %s session: the new one is the same, or none", name, kind)
		}
		if after := look(t, w.World, "/account", brought); after.Status != 303 {
			t.Errorf("%s: %s session is good afterwards", name, kind)
		}
	}
}
