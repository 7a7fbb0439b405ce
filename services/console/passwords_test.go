package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

const (
	gulls   = "seven gulls over Lisbon"
	herring = "a herring for each gull"
)

// signInByPassword posts the form of sign-in by password.
func signInByPassword(t *testing.T, w *consoletest.Fixture, email, clear string, header ...string) consoletest.Answer {
	t.Helper()
	return postForm(t, w, "/sign-in", "", url.Values{"email": {email}, "password": {clear}}, header...)
}

// addPersonWithPassword returns the session of an owner of harbor who has just chosen a password. It waits for the mail
// about the password, so that it is the first one.
func addPersonWithPassword(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID, email, clear string) string {
	t.Helper()
	session := choosePassword(t, w, businessID, email, clear)
	w.AwaitMail(t, email, 1)
	return session
}

func choosePassword(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID, email, clear string) string {
	t.Helper()
	session := w.AddSession(t, email, access.Member{BusinessID: businessID, Role: access.Owner})
	got := postForm(t, w, "/account/password", session, url.Values{"new": {clear}})
	if got.Status != 303 || got.Header.Get("Location") != "/account?done=password" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return findSession(t, got)
}

func TestPasswordSignsPersonIn(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	addPersonWithPassword(t, w, id, "ana@example.com", gulls)
	got := signInByPassword(t, w, " Ana@Example.com ", gulls)
	if got.Status != 303 || got.Header.Get("Location") != "/" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if page := getPage(t, w, "/account", findSession(t, got)); page.Status != 200 || !strings.Contains(page.Body,
		"Change password") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk}) // Bo has no password
	var lines []string
	for _, who := range [][2]string{{"ana@example.com", herring}, {"nobody@example.com", gulls}, {"bo@example.com", ""},
		{"bo@example.com", gulls}, {"", ""}} {
		got := signInByPassword(t, w, who[0], who[1])
		if got.Status != 422 || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%v: %d %v", who, got.Status, got.Header)
		}
		lines = append(lines, strings.ReplaceAll(got.Body, `"`+who[0]+`"`, `""`))
	}
	if len(slices.Compact(lines)) != 1 {
		t.Errorf("the answers reveal which accounts exist: %q", lines)
	}
	if log := w.Log.String(); strings.Contains(log, "@example.com") || strings.Contains(log, "gull") ||
		!strings.Contains(log, `"by":"password"`) {
		t.Error("the log contains an address or a password, or lacks the method of the sign-in")
	}
}

// TestUnknownAccountCostsOneHash shows that each attempt computes one hash, also if the account does not exist. The
// time of an answer therefore does not show which accounts exist.
func TestUnknownAccountCostsOneHash(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	addPersonWithPassword(t, w, id, "ana@example.com", gulls)
	w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	hasher := password.NewHasher()
	accounts := identity.NewAccounts(identity.AccountsConfig{Store: w.Store, Passwords: hasher, Clock: clock.System(),
		Telemetry: telemetry.Discard()})
	for i, person := range []string{"ana@example.com", "bo@example.com", "nobody@example.com"} {
		if _, err := accounts.SignInByPassword(t.Context(), person, herring, "a browser"); err != identity.ErrInvalidSecret { //nolint:errorlint // it is that very one
			t.Errorf("%s: %v", person, err)
		}
		if n := hasher.CountComputed(); n != int64(i+1) {
			t.Errorf("%s: %d hashes, want %d", person, n, i+1)
		}
	}
}

func TestPasswordAttemptsAreLimited(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	other := w.StartReplica(t)
	// All tests share one Redis, so the addresses are unique.
	ana, nobody := uuid.NewString()+"@example.com", uuid.NewString()+"@example.com"
	id, replicas := publish(t, w), []*consoletest.Fixture{w, other}
	addPersonWithPassword(t, w, id, ana, gulls)
	for _, person := range []string{nobody, ana} { // from many addresses, on two replicas
		got, until := checkRateLimit(t, person, func(i int) consoletest.Answer {
			got := signInByPassword(t, replicas[i%2], person, herring, "X-Forwarded-For", newAddress())
			if got.Status != 429 && got.Status != 422 {
				t.Errorf("%s: %d", person, got.Status)
			}
			return got
		}, failureWindows...)
		if !strings.Contains(got.Body, "Please wait") || got.Header.Get("Retry-After") == "" {
			t.Errorf("%v %s", got.Header, got.Body)
		}
		if got := signInByPassword(t, w, person, gulls, "X-Forwarded-For", newAddress()); got.Status != 429 &&
			time.Now().Before(until) {
			t.Errorf("the right password after too many attempts: %d", got.Status)
		}
	}
	one := newAddress()
	checkRateLimit(t, "many accounts of one address", func(int) consoletest.Answer {
		return signInByPassword(t, w, uuid.NewString()+"@example.com", gulls, "X-Forwarded-For", one)
	}, failureWindows...)
}

// failureWindows has the two limits of failed sign-ins of these tests.
var failureWindows = []rateWindow{{10, time.Minute}, {20, 15 * time.Minute}}

// TestFailedAttemptsDoNotBlockKnownBrowser shows that failed attempts of other people do not block a person's known
// browsers, sessions or mailed links.
func TestFailedAttemptsDoNotBlockKnownBrowser(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	ana, home := uuid.NewString()+"@example.com", newAddress()
	session := addPersonWithPassword(t, w, publish(t, w), ana, gulls)
	browser := ""
	for _, cookie := range signInByPassword(t, w, ana, gulls, "X-Forwarded-For", home).Header.Values("Set-Cookie") {
		if value, ok := strings.CutPrefix(cookie, "slotmesh-browser="); ok {
			browser, _, _ = strings.Cut(value, ";")
		}
	}
	knownNames := []string{"X-Forwarded-For", home, "Cookie", "slotmesh-browser=" + browser}
	bo := uuid.NewString() + "@example.com"
	for i := range 25 {
		from := newAddress()
		if i%2 == 0 {
			from = home
		}
		signInByPassword(t, w, ana, herring, "X-Forwarded-For", from)
		signInByPassword(t, w, bo, herring, "X-Forwarded-For", from)
	}
	if got := signInByPassword(t, w, ana, gulls, "X-Forwarded-For", newAddress()); got.Status != 429 {
		t.Errorf("an unknown browser: %d", got.Status)
	}
	if got := signInByPassword(t, w, bo, herring, knownNames...); got.Status != 429 {
		t.Errorf("another account in that browser: %d", got.Status)
	}
	if got := signInByPassword(t, w, ana, gulls, knownNames...); got.Status != 303 {
		t.Errorf("the known browser: %d", got.Status)
	}
	if got := postForm(t, w, "/account/password", session,
		url.Values{"current": {herring}, "new": {herring}}); got.Status != 422 {
		t.Errorf("the session changes the password: %d", got.Status)
	}
	if got := postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {ana}}, "X-Forwarded-For",
		newAddress()); got.Status != 303 {
		t.Errorf("a request for a link: %d", got.Status)
	}
	_, link := w.AwaitMail(t, ana, 2)
	if got := postForm(t, w, link, "", url.Values{"new": {herring}}, "X-Forwarded-For", home); got.Status != 303 {
		t.Errorf("the link: %d", got.Status)
	}
	if got := signInByPassword(t, w, ana, herring, knownNames...); got.Status != 429 {
		t.Errorf("a link forgets browsers: %d", got.Status)
	}
}

func TestMailedLinkSetsPasswordOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.StartReplica(t)
	before := addPersonWithPassword(t, w, id, "ana@example.com", gulls)
	for _, person := range []string{"Ana@example.com", "nobody@example.com", "ana@example.com"} {
		got := postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {person}}, "Host", "evil.example", "Origin",
			"https://evil.example")
		if got.Status != 303 || got.Header.Get("Location") != "/sign-in/forgotten?sent=yes" {
			t.Errorf("%s: %d %v", person, got.Status, got.Header)
		}
	}
	mail, first := w.AwaitMail(t, "ana@example.com", 2)
	_, second := w.AwaitMail(t, "ana@example.com", 3)
	if !strings.HasPrefix(mail.Link, consoletest.OwnerURL+"/sign-in/password/") || first == second ||
		len(w.Notifications.ListMails("nobody@example.com")) > 0 {
		t.Errorf("%+v", mail)
	}
	if got := getPage(t, w, first, ""); got.Status != 200 || !strings.Contains(got.Body, "ana@example.com") ||
		!strings.Contains(got.Body, `autocomplete="new-password"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for chosen, want := range map[string]string{"short": "at least 12", "Password2026!": "easy to guess",
		strings.Repeat("long", 70): "at most 256"} {
		if got := postForm(t, w, first, "", url.Values{"new": {chosen}}); got.Status != 422 ||
			!strings.Contains(got.Body,
				want) || strings.Contains(got.Body, chosen) {
			t.Errorf("%s: %d %s", chosen, got.Status, got.Body)
		}
	}
	chosen := postForm(t, w, first, before, url.Values{"new": {herring}})
	for path, isValid := range map[string]bool{first: false, second: false,
		"/sign-in/link/" + strings.TrimPrefix(second,
			"/sign-in/password/"): false} {
		if got := postForm(t, w, path, "", url.Values{"new": {gulls}}); (got.Status == 303) != isValid {
			t.Errorf("%s once more: %d", path, got.Status)
		}
	}
	if got := getPage(t, w, "/account", findSession(t, chosen)); got.Status != 200 {
		t.Errorf("the session after the new password: %d", got.Status)
	}
	for _, replica := range []*consoletest.Fixture{w, other} {
		if got := getPage(t, replica, "/account", before); got.Status != 303 {
			t.Errorf("the session from before: %d", got.Status)
		}
		if old, young := signInByPassword(t, replica, "ana@example.com", gulls),
			signInByPassword(t, replica, "ana@example.com", herring); old.Status != 422 || young.Status != 303 {
			t.Errorf("the old password: %d, the new one: %d", old.Status, young.Status)
		}
	}
	if log := w.Log.String(); strings.Contains(log, strings.TrimPrefix(first, "/sign-in/password/")) ||
		strings.Contains(log, "ana@") {
		t.Error("the log contains a secret or an address")
	}
}

func TestChangedPasswordEndsSessionsOnEveryReplica(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.StartReplica(t)
	here := addPersonWithPassword(t, w, id, "ana@example.com", gulls)
	there := findSession(t, signInByPassword(t, other, "ana@example.com", gulls))
	for form, want := range map[string]string{"current=" + url.QueryEscape(herring) + "&new=" +
		url.QueryEscape(herring): "not your password", "new=" + url.QueryEscape(herring): "not your password",
		"current=" + url.QueryEscape(gulls) + "&new=short": "at least 12"} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		if got := postForm(t, w, "/account/password", here, values); got.Status != 422 || !strings.Contains(got.Body,
			want) {
			t.Errorf("%s: %d %s", form, got.Status, got.Body)
		}
	}
	changed := postForm(t, w, "/account/password", here, url.Values{"current": {gulls}, "new": {herring}})
	if changed.Status != 303 {
		t.Fatalf("%d %s", changed.Status, changed.Body)
	}
	for _, session := range []string{here, there} {
		for _, replica := range []*consoletest.Fixture{w, other} {
			if got := getPage(t, replica, "/account", session); got.Status != 303 {
				t.Errorf("a session from before: %d", got.Status)
			}
		}
	}
	if got := getPage(t, other, "/account?done=password", findSession(t, changed)); got.Status != 200 ||
		!strings.Contains(got.Body, "Your password is saved") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if mail, _ := w.AwaitMail(t, "ana@example.com", 2); mail.Subject != "Your password was changed" {
		t.Errorf("%+v", mail)
	}
}

func TestPasswordLinksExpire(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {"ana@example.com"}})
	_, path := w.AwaitMail(t, "ana@example.com", 1)
	link := secret.Hash(strings.TrimPrefix(path, "/sign-in/password/"))
	for after, isValid := range map[time.Duration]bool{29 * time.Minute: true, 31 * time.Minute: false} {
		if _, err := w.Store.FindPersonByLink(t.Context(), link, store.PurposePassword,
			time.Now().Add(after)); (err == nil) != isValid {
			t.Errorf("after %s: %v", after, err)
		}
	}
	if _, err := w.Store.FindPersonByLink(t.Context(), link, store.PurposeSignIn, time.Now()); err == nil {
		t.Error("the link signs in before a password is chosen")
	}
}

// TestMailedInvitationVerifiesAddress shows that a mailed link proves the address of a person. It ends a password and a
// session that the inviter has created before.
func TestMailedInvitationVerifiesAddress(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	harbors := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	early := findSession(t,
		pressButton(t, w, invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`),
			""))
	set := postForm(t, w, "/account/password", early, url.Values{"new": {gulls}})
	mail, path := w.AwaitMail(t, "ana@example.com", 1)
	if set.Status != 303 || !strings.EqualFold(mail.FromName, "harbor") || !strings.HasPrefix(path,
		"/sign-in/password/") {
		t.Fatalf("%d, %+v", set.Status, mail)
	}
	if got := getPage(t, w, path, ""); got.Status != 404 { // the new password has ended the link
		t.Errorf("%d", got.Status)
	}
	invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`)
	_, path = w.AwaitMail(t, "ana@example.com", 2)
	real := postForm(t, w, path, "", url.Values{"new": {herring}})
	if got := getPage(t, w, "/account", findSession(t, real)); got.Status != 200 {
		t.Errorf("%d", got.Status)
	}
	if got := getPage(t, w, "/account", findSession(t, set)); got.Status != 303 {
		t.Errorf("the session of the inviter with the person's account: %d", got.Status)
	}
	if got := signInByPassword(t, w, "ana@example.com", gulls); got.Status != 422 {
		t.Errorf("the password that the inviter set: %d", got.Status)
	}
	invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`)
	if mail, path := w.AwaitMail(t, "ana@example.com", 3); path != "/sign-in" || !slices.Contains(mail.Paragraphs,
		"Sign in as you always do.") {
		t.Errorf("a known person gets %s, %+v", path, mail)
	}
	for body, mailed := range map[string]bool{`"email":"bo@example.com"`: true,
		`"email":"cy@example.com","mail":false`: false, `"email":"` + consoletest.RefusedAddress + `"`: false} {
		got := w.CallAs(t, harbors, "POST", "/admin/invitations", `{"business":"harbor","role":"desk",`+body+`}`)
		if got.Status != 201 || field(t, got, "mailed") != mailed {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
}

// TestVerificationRemovesPasswordOfInviter lets an inviter sign in by the link of an invited person and set a password.
// After an operator invites the address, that password no longer works.
func TestVerificationRemovesPasswordOfInviter(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	harbors := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	for email, then := range map[string]func(email string){
		"op@example.com": func(email string) {
			invite(t, w, consoletest.Token, `{"email":"`+email+`","role":"operator","mail":false}`)
		},
		"ana@example.com": func(email string) {
			pressButton(t, w, invite(t, w, consoletest.Token, `{"business":"harbor","email":"`+email+
				`","role":"desk","mail":false}`), "")
		},
		"bo@example.com": func(email string) {
			w.Call(t, "PUT", "/admin/businesses/quay", consoletest.BuildManifest("quay", "Quay"))
			invite(t, w, consoletest.Token, `{"business":"quay","email":"`+email+`","role":"desk","mail":false}`)
		},
	} {
		early := findSession(t, pressButton(t, w,
			invite(t, w, harbors, `{"business":"harbor","email":"`+email+`","role":"desk","mail":false}`), ""))
		postForm(t, w, "/account/password", early, url.Values{"new": {gulls}})
		if got := signInByPassword(t, w, email, gulls); got.Status != 303 {
			t.Fatalf("%s before: %d", email, got.Status)
		}
		then(email)
		if got := signInByPassword(t, w, email, gulls); got.Status != 422 {
			t.Errorf("%s can still sign in with the password that the inviter chose: %d", email, got.Status)
		}
	}
}

func TestPasswordSignInCanBeDisabled(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.PasswordSignIn = false })
	session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	for _, path := range []string{"/sign-in/forgotten", "/sign-in/password/" + strings.Repeat("0", 64),
		"/account/password"} {
		if got := getPage(t, w, path, session); got.Status != 404 {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	if got := signInByPassword(t, w, "ana@example.com", gulls); got.Status != 405 {
		t.Errorf("%d", got.Status)
	}
	for _, path := range []string{"/sign-in", "/account"} {
		person := ""
		if path == "/account" {
			person = session
		}
		if got := getPage(t, w, path, person); got.Status != 200 || strings.Contains(got.Body, "assword") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	invite(t, w, consoletest.Token, `{"business":"harbor","email":"bo@example.com","role":"desk"}`)
	if _, path := w.AwaitMail(t, "bo@example.com", 1); !strings.HasPrefix(path, "/sign-in/link/") || pressButton(t, w,
		path,
		"").Status != 303 {
		t.Errorf("an invitation leads to %s", path)
	}
}

func TestNoMailsWithoutOwnerURL(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.OwnerURL = "" })
	choosePassword(t, w, publish(t, w), "ana@example.com", gulls)
	if got := w.Call(t, "POST", "/admin/invitations",
		`{"business":"harbor","email":"bo@example.com","role":"desk"}`); field(t, got, "mailed") != false {
		t.Error(got.Body)
	}
	if got := getPage(t, w, "/sign-in", ""); got.Status != 200 || strings.Contains(got.Body, "forgotten") ||
		getPage(t, w, "/sign-in/forgotten", "").Status != 404 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for text, isValid := range map[string]bool{"https://owner.example.com": true, "http://localhost:8090": true,
		"owner.example.com": false, "https://owner.example.com/": false, "ftp://x": false} {
		cfg := w.Config()
		cfg.OwnerURL = text
		if err := cfg.Validate(); (err == nil) != isValid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
