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

// enter posts the form of sign-in by password.
func enter(t *testing.T, w *consoletest.World, email, clear string, header ...string) consoletest.Answer {
	t.Helper()
	return fill(t, w, "/sign-in", "", url.Values{"email": {email}, "password": {clear}}, header...)
}

// withPassword returns the session of an owner of harbor who has just chosen a password. It waits for the mail about
// the password, so that it is the first one.
func withPassword(t *testing.T, w *consoletest.World, businessID uuid.UUID, email, clear string) string {
	t.Helper()
	session := choosePassword(t, w, businessID, email, clear)
	w.AwaitMail(t, email, 1)
	return session
}

func choosePassword(t *testing.T, w *consoletest.World, businessID uuid.UUID, email, clear string) string {
	t.Helper()
	session := w.SessionOf(t, email, access.Member{BusinessID: businessID, Role: access.Owner})
	got := fill(t, w, "/account/password", session, url.Values{"new": {clear}})
	if got.Status != 303 || got.Header.Get("Location") != "/account?done=password" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return sessionIn(t, got)
}

func TestPeopleSignInByAPassword(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	withPassword(t, w, id, "ana@example.com", gulls)
	got := enter(t, w, " Ana@Example.com ", gulls)
	if got.Status != 303 || got.Header.Get("Location") != "/" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if page := look(t, w, "/account", sessionIn(t, got)); page.Status != 200 || !strings.Contains(page.Body,
		"Change password") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	w.SessionOf(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk}) // Bo has no password
	var said []string
	for _, who := range [][2]string{{"ana@example.com", herring}, {"nobody@example.com", gulls}, {"bo@example.com", ""},
		{"bo@example.com", gulls}, {"", ""}} {
		got := enter(t, w, who[0], who[1])
		if got.Status != 422 || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%v: %d %v", who, got.Status, got.Header)
		}
		said = append(said, strings.ReplaceAll(got.Body, `"`+who[0]+`"`, `""`))
	}
	if len(slices.Compact(said)) != 1 {
		t.Errorf("what is answered tells who exists: %q", said)
	}
	if log := w.Log.String(); strings.Contains(log, "@example.com") || strings.Contains(log, "gull") ||
		!strings.Contains(log, `"by":"password"`) {
		t.Error("the log holds an address or a password, or does not say by what somebody signed in")
	}
}

// TestAnAttemptCostsAsMuchForNobody shows that each attempt computes one hash, also if the account does not exist. The
// time of an answer therefore does not show which accounts exist.
func TestAnAttemptCostsAsMuchForNobody(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	withPassword(t, w, id, "ana@example.com", gulls)
	w.SessionOf(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	hasher := password.NewHasher()
	accounts := identity.NewAccounts(identity.AccountsConfig{Store: w.Store, Passwords: hasher, Clock: clock.System(),
		Telemetry: telemetry.Discard()})
	for i, who := range []string{"ana@example.com", "bo@example.com", "nobody@example.com"} {
		if _, err := accounts.SignInByPassword(t.Context(), who, herring, "a browser"); err != identity.ErrInvalidSecret { //nolint:errorlint // it is that very one
			t.Errorf("%s: %v", who, err)
		}
		if n := hasher.Computed(); n != int64(i+1) {
			t.Errorf("%s: %d hashes, want %d", who, n, i+1)
		}
	}
}

func TestGuessingIsSlowed(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	other := w.Replica(t)
	// All tests share one Redis, so the addresses are unique.
	ana, nobody := uuid.NewString()+"@example.com", uuid.NewString()+"@example.com"
	id, replicas := publish(t, w), []*consoletest.World{w, other}
	withPassword(t, w, id, ana, gulls)
	for _, who := range []string{nobody, ana} { // from many addresses, on two replicas
		got, until := refusedAfter(t, who, func(i int) consoletest.Answer {
			got := enter(t, replicas[i%2], who, herring, "X-Forwarded-For", stranger())
			if got.Status != 429 && got.Status != 422 {
				t.Errorf("%s: %d", who, got.Status)
			}
			return got
		}, slowed...)
		if !strings.Contains(got.Body, "Please wait") || got.Header.Get("Retry-After") == "" {
			t.Errorf("%v %s", got.Header, got.Body)
		}
		if got := enter(t, w, who, gulls, "X-Forwarded-For", stranger()); got.Status != 429 &&
			time.Now().Before(until) {
			t.Errorf("the right one, once there were too many: %d", got.Status)
		}
	}
	one := stranger()
	refusedAfter(t, "many accounts of one address", func(int) consoletest.Answer {
		return enter(t, w, uuid.NewString()+"@example.com", gulls, "X-Forwarded-For", one)
	}, slowed...)
}

// slowed has the two limits of failed sign-ins of these tests.
var slowed = []window{{10, time.Minute}, {20, 15 * time.Minute}}

// TestStrangersLockNoKnownBrowser shows that failed attempts of other people do not block a person's known browsers,
// sessions or mailed links.
func TestStrangersLockNoKnownBrowser(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	ana, home := uuid.NewString()+"@example.com", stranger()
	session := withPassword(t, w, publish(t, w), ana, gulls)
	browser := ""
	for _, cookie := range enter(t, w, ana, gulls, "X-Forwarded-For", home).Header.Values("Set-Cookie") {
		if value, ok := strings.CutPrefix(cookie, "slotmesh-browser="); ok {
			browser, _, _ = strings.Cut(value, ";")
		}
	}
	known := []string{"X-Forwarded-For", home, "Cookie", "slotmesh-browser=" + browser}
	bo := uuid.NewString() + "@example.com"
	for i := range 25 {
		from := stranger()
		if i%2 == 0 {
			from = home
		}
		enter(t, w, ana, herring, "X-Forwarded-For", from)
		enter(t, w, bo, herring, "X-Forwarded-For", from)
	}
	if got := enter(t, w, ana, gulls, "X-Forwarded-For", stranger()); got.Status != 429 {
		t.Errorf("a browser that is not known: %d", got.Status)
	}
	if got := enter(t, w, bo, herring, known...); got.Status != 429 {
		t.Errorf("another account in that browser: %d", got.Status)
	}
	if got := enter(t, w, ana, gulls, known...); got.Status != 303 {
		t.Errorf("the known browser: %d", got.Status)
	}
	if got := fill(t, w, "/account/password", session,
		url.Values{"current": {herring}, "new": {herring}}); got.Status != 422 {
		t.Errorf("the session changes the password: %d", got.Status)
	}
	if got := fill(t, w, "/sign-in/forgotten", "", url.Values{"email": {ana}}, "X-Forwarded-For",
		stranger()); got.Status != 303 {
		t.Errorf("asks for a link: %d", got.Status)
	}
	_, link := w.AwaitMail(t, ana, 2)
	if got := fill(t, w, link, "", url.Values{"new": {herring}}, "X-Forwarded-For", home); got.Status != 303 {
		t.Errorf("the link: %d", got.Status)
	}
	if got := enter(t, w, ana, herring, known...); got.Status != 429 {
		t.Errorf("a link forgets browsers: %d", got.Status)
	}
}

func TestAPasswordIsChosenByAMailedLinkOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.Replica(t)
	before := withPassword(t, w, id, "ana@example.com", gulls)
	for _, who := range []string{"Ana@example.com", "nobody@example.com", "ana@example.com"} {
		got := fill(t, w, "/sign-in/forgotten", "", url.Values{"email": {who}}, "Host", "evil.example", "Origin",
			"https://evil.example")
		if got.Status != 303 || got.Header.Get("Location") != "/sign-in/forgotten?sent=yes" {
			t.Errorf("%s: %d %v", who, got.Status, got.Header)
		}
	}
	mail, first := w.AwaitMail(t, "ana@example.com", 2)
	_, second := w.AwaitMail(t, "ana@example.com", 3)
	if !strings.HasPrefix(mail.Link, consoletest.OwnerURL+"/sign-in/password/") || first == second ||
		len(w.Notifications.Mails("nobody@example.com")) > 0 {
		t.Errorf("%+v", mail)
	}
	if got := look(t, w, first, ""); got.Status != 200 || !strings.Contains(got.Body, "ana@example.com") ||
		!strings.Contains(got.Body, `autocomplete="new-password"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for chosen, want := range map[string]string{"short": "at least 12", "Password2026!": "easily guessed",
		strings.Repeat("long", 70): "at most 256"} {
		if got := fill(t, w, first, "", url.Values{"new": {chosen}}); got.Status != 422 || !strings.Contains(got.Body,
			want) || strings.Contains(got.Body, chosen) {
			t.Errorf("%s: %d %s", chosen, got.Status, got.Body)
		}
	}
	chosen := fill(t, w, first, before, url.Values{"new": {herring}})
	for path, good := range map[string]bool{first: false, second: false, "/sign-in/link/" + strings.TrimPrefix(second,
		"/sign-in/password/"): false} {
		if got := fill(t, w, path, "", url.Values{"new": {gulls}}); (got.Status == 303) != good {
			t.Errorf("%s once more: %d", path, got.Status)
		}
	}
	if got := look(t, w, "/account", sessionIn(t, chosen)); got.Status != 200 {
		t.Errorf("their new session: %d", got.Status)
	}
	for _, replica := range []*consoletest.World{w, other} {
		if got := look(t, replica, "/account", before); got.Status != 303 {
			t.Errorf("the session from before: %d", got.Status)
		}
		if old, young := enter(t, replica, "ana@example.com", gulls),
			enter(t, replica, "ana@example.com", herring); old.Status != 422 || young.Status != 303 {
			t.Errorf("the old password: %d, the new one: %d", old.Status, young.Status)
		}
	}
	if log := w.Log.String(); strings.Contains(log, strings.TrimPrefix(first, "/sign-in/password/")) ||
		strings.Contains(log, "ana@") {
		t.Error("the log holds a secret or an address")
	}
}

func TestAChangedPasswordEndsEverySessionOnEveryReplica(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	other := w.Replica(t)
	here := withPassword(t, w, id, "ana@example.com", gulls)
	there := sessionIn(t, enter(t, other, "ana@example.com", gulls))
	for form, want := range map[string]string{"current=" + url.QueryEscape(herring) + "&new=" +
		url.QueryEscape(herring): "not your password", "new=" + url.QueryEscape(herring): "not your password",
		"current=" + url.QueryEscape(gulls) + "&new=short": "at least 12"} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		if got := fill(t, w, "/account/password", here, values); got.Status != 422 || !strings.Contains(got.Body,
			want) {
			t.Errorf("%s: %d %s", form, got.Status, got.Body)
		}
	}
	changed := fill(t, w, "/account/password", here, url.Values{"current": {gulls}, "new": {herring}})
	if changed.Status != 303 {
		t.Fatalf("%d %s", changed.Status, changed.Body)
	}
	for _, session := range []string{here, there} {
		for _, replica := range []*consoletest.World{w, other} {
			if got := look(t, replica, "/account", session); got.Status != 303 {
				t.Errorf("a session from before: %d", got.Status)
			}
		}
	}
	if got := look(t, other, "/account?done=password", sessionIn(t, changed)); got.Status != 200 ||
		!strings.Contains(got.Body, "Your password is saved") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if mail, _ := w.AwaitMail(t, "ana@example.com", 2); mail.Subject != "Your password was changed" {
		t.Errorf("%+v", mail)
	}
}

func TestLinksToChooseAPasswordEnd(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.SessionOf(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	fill(t, w, "/sign-in/forgotten", "", url.Values{"email": {"ana@example.com"}})
	_, path := w.AwaitMail(t, "ana@example.com", 1)
	link := secret.Hash(strings.TrimPrefix(path, "/sign-in/password/"))
	for after, good := range map[time.Duration]bool{29 * time.Minute: true, 31 * time.Minute: false} {
		if _, err := w.Store.FindPersonByLink(t.Context(), link, store.PurposePassword,
			time.Now().Add(after)); (err == nil) != good {
			t.Errorf("after %s: %v", after, err)
		}
	}
	if _, err := w.Store.FindPersonByLink(t.Context(), link, store.PurposeSignIn, time.Now()); err == nil {
		t.Error("it signs in without a password being chosen")
	}
}

// TestInvitationsAreMailedAndVouch shows that a mailed link proves the address of a person. It ends a password and a
// session that the inviter has created before.
func TestInvitationsAreMailedAndVouch(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	harbors := w.TokenOf(t, access.Member{BusinessID: id, Role: access.Owner})
	early := sessionIn(t,
		press(t, w, invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`), ""))
	set := fill(t, w, "/account/password", early, url.Values{"new": {gulls}})
	mail, path := w.AwaitMail(t, "ana@example.com", 1)
	if set.Status != 303 || !strings.EqualFold(mail.FromName, "harbor") || !strings.HasPrefix(path,
		"/sign-in/password/") {
		t.Fatalf("%d, %+v", set.Status, mail)
	}
	if got := look(t, w, path, ""); got.Status != 404 { // the new password has ended the link
		t.Errorf("%d", got.Status)
	}
	invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`)
	_, path = w.AwaitMail(t, "ana@example.com", 2)
	real := fill(t, w, path, "", url.Values{"new": {herring}})
	if got := look(t, w, "/account", sessionIn(t, real)); got.Status != 200 {
		t.Errorf("%d", got.Status)
	}
	if got := look(t, w, "/account", sessionIn(t, set)); got.Status != 303 {
		t.Errorf("what the inviter signed in as them: %d", got.Status)
	}
	if got := enter(t, w, "ana@example.com", gulls); got.Status != 422 {
		t.Errorf("the password that the inviter set: %d", got.Status)
	}
	invite(t, w, harbors, `{"business":"harbor","email":"ana@example.com","role":"manager"}`)
	if mail, path := w.AwaitMail(t, "ana@example.com", 3); path != "/sign-in" || !slices.Contains(mail.Paragraphs,
		"Sign in as you always do.") {
		t.Errorf("who is known gets %s, %+v", path, mail)
	}
	for body, mailed := range map[string]bool{`"email":"bo@example.com"`: true,
		`"email":"cy@example.com","mail":false`: false, `"email":"` + consoletest.Refused + `"`: false} {
		got := w.CallAs(t, harbors, "POST", "/admin/invitations", `{"business":"harbor","role":"desk",`+body+`}`)
		if got.Status != 201 || field(t, got, "mailed") != mailed {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
}

// TestNobodyKeepsAPasswordAsSomebodyElse lets an inviter sign in by the link of an invited person and set a password.
// After an operator invites the address, that password no longer works.
func TestNobodyKeepsAPasswordAsSomebodyElse(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	harbors := w.TokenOf(t, access.Member{BusinessID: id, Role: access.Owner})
	for email, then := range map[string]func(email string){
		"op@example.com": func(email string) {
			invite(t, w, consoletest.Token, `{"email":"`+email+`","role":"operator","mail":false}`)
		},
		"ana@example.com": func(email string) {
			press(t, w, invite(t, w, consoletest.Token, `{"business":"harbor","email":"`+email+
				`","role":"desk","mail":false}`), "")
		},
		"bo@example.com": func(email string) {
			w.Call(t, "PUT", "/admin/businesses/quay", consoletest.Manifest("quay", "Quay"))
			invite(t, w, consoletest.Token, `{"business":"quay","email":"`+email+`","role":"desk","mail":false}`)
		},
	} {
		early := sessionIn(t, press(t, w,
			invite(t, w, harbors, `{"business":"harbor","email":"`+email+`","role":"desk","mail":false}`), ""))
		fill(t, w, "/account/password", early, url.Values{"new": {gulls}})
		if got := enter(t, w, email, gulls); got.Status != 303 {
			t.Fatalf("%s before: %d", email, got.Status)
		}
		then(email)
		if got := enter(t, w, email, gulls); got.Status != 422 {
			t.Errorf("%s still signs in by what the inviter chose: %d", email, got.Status)
		}
	}
}

func TestSigningInByPasswordsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.PasswordSignIn = false })
	session := w.SessionOf(t, "ana@example.com", access.Member{BusinessID: publish(t, w), Role: access.Owner})
	for _, path := range []string{"/sign-in/forgotten", "/sign-in/password/" + strings.Repeat("0", 64),
		"/account/password"} {
		if got := look(t, w, path, session); got.Status != 404 {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	if got := enter(t, w, "ana@example.com", gulls); got.Status != 405 {
		t.Errorf("%d", got.Status)
	}
	for _, path := range []string{"/sign-in", "/account"} {
		who := ""
		if path == "/account" {
			who = session
		}
		if got := look(t, w, path, who); got.Status != 200 || strings.Contains(got.Body, "assword") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	invite(t, w, consoletest.Token, `{"business":"harbor","email":"bo@example.com","role":"desk"}`)
	if _, path := w.AwaitMail(t, "bo@example.com", 1); !strings.HasPrefix(path, "/sign-in/link/") || press(t, w, path,
		"").Status != 303 {
		t.Errorf("an invitation leads to %s", path)
	}
}

func TestWithoutAnAddressOfItsOwnNothingIsMailed(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) { c.OwnerURL = "" })
	choosePassword(t, w, publish(t, w), "ana@example.com", gulls)
	if got := w.Call(t, "POST", "/admin/invitations",
		`{"business":"harbor","email":"bo@example.com","role":"desk"}`); field(t, got, "mailed") != false {
		t.Error(got.Body)
	}
	if got := look(t, w, "/sign-in", ""); got.Status != 200 || strings.Contains(got.Body, "forgotten") ||
		look(t, w, "/sign-in/forgotten", "").Status != 404 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for text, good := range map[string]bool{"https://owner.example.com": true, "http://localhost:8090": true,
		"owner.example.com": false, "https://owner.example.com/": false, "ftp://x": false} {
		cfg := w.Config()
		cfg.OwnerURL = text
		if err := cfg.Validate(); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
