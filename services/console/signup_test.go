package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// openSignUp lets everyone create an account.
func openSignUp(c *console.Config) {
	c.SignUp = "open"
	c.Limits.SignInsPerMinute = 10
	c.Server.TrustedProxies = []string{"127.0.0.0/8"}
}

// requestAccount sends the form of a new account from a new client address.
func requestAccount(t *testing.T, w *consoletest.Fixture, email string) {
	t.Helper()
	got := postForm(t, w, "/sign-in/new", "", url.Values{"email": {email}}, "X-Forwarded-For", newAddress())
	if got.Status != 303 || got.Header.Get("Location") != "/sign-in/new?sent=yes" {
		t.Fatalf("%s: %d %s", email, got.Status, got.Body)
	}
}

// TestSignUpLeadsToOwnBusiness shows that a person without an invitation confirms their address, creates a business, and
// is its owner. A link of another person gives no right.
func TestSignUpLeadsToOwnBusiness(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, openSignUp)
	email := uuid.NewString() + "@example.com"
	if got := getPage(t, w, "/sign-in", ""); !strings.Contains(got.Body, `href="/sign-in/new"`) {
		t.Errorf("the sign-in page has no link to sign up: %s", got.Body)
	}
	requestAccount(t, w, email)
	_, link := w.AwaitMail(t, email, 1)
	chosen := postForm(t, w, link, "", url.Values{"new": {gulls}})
	if chosen.Status != 303 {
		t.Fatalf("%d %s", chosen.Status, chosen.Body)
	}
	session := findSession(t, chosen)
	if got := getPage(t, w, "/", session); got.Status != 200 || !strings.Contains(got.Body, `href="/business"`) {
		t.Errorf("a person without a business: %d %s", got.Status, got.Body)
	}
	form := newFirstForm("salon")
	if got := postForm(t, w, "/business", session, form); got.Status != 303 ||
		got.Header.Get("Location") != "/business/salon/first/hours" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, "/business/salon/team", session); got.Status != 200 || !strings.Contains(got.Body, email) {
		t.Errorf("the creator is no owner: %d %s", got.Status, got.Body)
	}
	if text := w.Call(t, "GET", "/admin/businesses/salon", "", "Accept", yaml).Body; !strings.Contains(text, email) {
		t.Errorf("the creator gets no notices: %s", text)
	}
	if got := w.Call(t, "GET", "/admin/businesses/salon/events?type="+string(event.MemberJoined), ""); !strings.Contains(
		got.Body, `"member.joined"`) {
		t.Errorf("the audit log has no owner: %s", got.Body)
	}
	other := w.AddSession(t, "other@example.com", access.Member{BusinessID: uuid.New(), Role: access.Owner})
	if got := getPage(t, w, "/business/salon/team", other); got.Status != 404 {
		t.Errorf("another owner: %d", got.Status)
	}
}

// TestSignUpLimitsOwnBusinesses shows that a person owns at most three businesses. A refused form leaves no role, and a
// form that is sent twice creates one business. A form that catalog refuses keeps its values and gets a new key.
func TestSignUpLimitsOwnBusinesses(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, openSignUp)
	session := w.AddSession(t, "ana@example.com")
	create := func(slug, key string) int {
		form := newFirstForm("clinic")
		form.Set("slug", slug)
		form.Set("key", key)
		return postForm(t, w, "/business", session, form).Status
	}
	w.Call(t, "PUT", "/admin/businesses/taken", consoletest.BuildManifest("taken", "Taken"), "Content-Type", yaml)
	for i, c := range []struct {
		slug, key string
		status    int
	}{
		{"taken", "a", 409}, {"one", "b", 303}, {"two", "c", 303}, {"taken", "d", 409}, {"three", "e", 303},
		{"four", "f", 409},
	} {
		if c.slug == "two" { // the person goes back in the browser and changes the address: the id belongs to "one"
			form := newFirstForm("clinic")
			form.Set("slug", "two")
			form.Set("key", "b")
			if got := postForm(t, w, "/business", session, form); got.Status != 422 ||
				!strings.Contains(got.Body, `value="two"`) || strings.Contains(got.Body, `name="key" value="b"`) {
				t.Errorf("an id of another business: %d %s", got.Status, got.Body)
			}
		}
		if got := create(c.slug, c.key); got != c.status {
			t.Errorf("form %d: %d, want %d", i+1, got, c.status)
		}
	}
	if got := w.Call(t, "GET", "/admin/businesses/four", ""); got.Status != 404 {
		t.Errorf("a fourth business: %d", got.Status)
	}
	if got := getPage(t, w, "/business/taken/today", session); got.Status != 404 {
		t.Errorf("a refused form gives a role: %d", got.Status)
	}
	if n := strings.Count(getPage(t, w, "/", session).Body, `<li class="card">`); n != 3 {
		t.Errorf("the person has %d businesses, want 3", n)
	}
}

// TestSignUpNeedsWayToSignIn shows that console refuses open sign-up without passwords and without an identity
// provider.
func TestSignUpNeedsWayToSignIn(t *testing.T) {
	t.Parallel()
	cfg := consoletest.Start(t, openSignUp).Config()
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	cfg.PasswordSignIn = false
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "SIGN_UP") {
		t.Errorf("without a way to sign in: %v", err)
	}
}

// TestSignUpHidesKnownAccounts shows that the page answers the same for known and unknown addresses, and that an address
// and a client address get a limited number of mails.
func TestSignUpHidesKnownAccounts(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, openSignUp)
	known := uuid.NewString() + "@example.com"
	w.AddSession(t, known)
	requestAccount(t, w, known)
	if mail, link := w.AwaitMail(t, known, 1); !strings.HasPrefix(link, "/sign-in/password/") ||
		strings.Contains(mail.Subject, "Create") {
		t.Errorf("a known person gets %q with %q", mail.Subject, link)
	}
	unknown, one := uuid.NewString()+"@example.com", newAddress()
	checkRateLimit(t, "mails to one address", func(int) consoletest.Answer {
		return postForm(t, w, "/sign-in/new", "", url.Values{"email": {unknown}}, "X-Forwarded-For", newAddress())
	}, rateWindow{3, 30 * time.Minute})
	checkRateLimit(t, "mails from one client", func(int) consoletest.Answer {
		return postForm(t, w, "/sign-in/new", "", url.Values{"email": {uuid.NewString() + "@example.com"}},
			"X-Forwarded-For", one)
	}, rateWindow{10, time.Minute}, rateWindow{20, time.Hour})
	if log := w.Log.String(); strings.Contains(log, "@example.com") {
		t.Error("the log contains an address")
	}
}

// TestSignUpNeedsInvitationByDefault shows that only invited people create accounts and businesses if SIGN_UP is not
// open. A person who belongs to no business sees an empty list instead of a refusal.
func TestSignUpNeedsInvitationByDefault(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := w.AddSession(t, "ana@example.com")
	if got := getPage(t, w, "/sign-in", ""); strings.Contains(got.Body, "/sign-in/new") {
		t.Errorf("the sign-in page links to sign up: %s", got.Body)
	}
	if got := postForm(t, w, "/sign-in/new", "", url.Values{"email": {"bo@example.com"}}); got.Status != 404 {
		t.Errorf("sign up: %d", got.Status)
	}
	if got := postForm(t, w, "/business", session, newFirstForm("salon")); got.Status != 403 {
		t.Errorf("a business: %d", got.Status)
	}
	if got := getPage(t, w, "/", session); got.Status != 200 || strings.Contains(got.Body, `href="/business"`) {
		t.Errorf("the list of businesses: %d %s", got.Status, got.Body)
	}
}

// TestSweepRemovesUnusedSignUps shows that a person who never uses the link is removed after a day.
func TestSweepRemovesUnusedSignUps(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, openSignUp)
	unused, used := uuid.NewString()+"@example.com", uuid.NewString()+"@example.com"
	for _, email := range []string{unused, used} {
		requestAccount(t, w, email)
	}
	w.AwaitMail(t, unused, 1)
	_, link := w.AwaitMail(t, used, 1)
	postForm(t, w, link, "", url.Values{"new": {gulls}})
	count := func(email string) int {
		var n int
		if err := w.Pool.QueryRow(t.Context(), `SELECT count(*) FROM people WHERE email = $1`, email).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{23 * time.Hour, 1}, {25 * time.Hour, 0}} {
		if err := w.Store.Sweep(t.Context(), time.Now().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if n := count(unused); n != c.want {
			t.Errorf("after %s there are %d people, want %d", c.after, n, c.want)
		}
	}
	if count(used) != 1 {
		t.Error("a person who used the link was removed")
	}
}
