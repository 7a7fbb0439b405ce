package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// postToOwner posts a form to the owner's public address. The argument `cookies` is a list of names and values.
func postToOwner(t *testing.T, w *consoletest.Fixture, path string, form url.Values,
	cookies ...string) consoletest.Answer {
	t.Helper()
	var all []string
	for i := 0; i < len(cookies); i += 2 {
		if cookies[i+1] != "" {
			all = append(all, cookies[i]+"="+cookies[i+1])
		}
	}
	return postForm(t, w, path, "", form, "Host", "owner.example.com", "Origin", consoletest.OwnerURL, "Cookie",
		strings.Join(all, "; "))
}

const (
	sessionCookie   = "__Host-slotmesh-session"
	challengeCookie = "__Host-slotmesh-passkey"
)

// findCookie returns the value of a cookie that an answer sets.
func findCookie(a consoletest.Answer, name string) string {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == name && c.MaxAge > 0 {
			return c.Value
		}
	}
	return ""
}

// addPasskey adds the device's passkey to the account of the person with this session.
func addPasskey(t *testing.T, w *consoletest.Fixture, session string, device *consoletest.Device) {
	t.Helper()
	beginning := postToOwner(t, w, "/account/passkeys/begin", nil, sessionCookie, session)
	if beginning.Status != 200 {
		t.Fatalf("%d %s", beginning.Status, beginning.Body)
	}
	got := postToOwner(t, w, "/account/passkeys",
		url.Values{"name": {"Ana's phone"}, "credential": {device.CreateCredential(t, beginning.Body)}},
		sessionCookie, session, challengeCookie, findCookie(beginning, challengeCookie))
	if got.Status != 303 || got.Header.Get("Location") != "/account?done=passkey_added" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
}

// beginPasskeySignIn begins a sign-in by passkey and returns the options for the script and the cookie of the
// challenge.
func beginPasskeySignIn(t *testing.T, w *consoletest.Fixture, email string) (string, string) {
	t.Helper()
	beginning := postToOwner(t, w, "/sign-in/passkey/begin", url.Values{"email": {email}})
	if beginning.Status != 200 || beginning.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", beginning.Status, beginning.Body)
	}
	return beginning.Body, findCookie(beginning, challengeCookie)
}

// answerChallenge sends the answer of a device to a challenge.
func answerChallenge(t *testing.T, w *consoletest.Fixture, answer, cookie, email string) consoletest.Answer {
	t.Helper()
	return postToOwner(t, w, "/sign-in/passkey", url.Values{"credential": {answer}, "email": {email}}, challengeCookie,
		cookie)
}

// signInByPasskey signs in with a device. The replica `w` makes the challenge, and the replica `other` receives the
// answer.
func signInByPasskey(t *testing.T, w, other *consoletest.Fixture, device *consoletest.Device,
	email string) consoletest.Answer {
	t.Helper()
	answer, cookie := beginPasskeySignIn(t, w, email)
	return answerChallenge(t, other, device.Sign(t, answer), cookie, email)
}

func TestPasskeySignsPersonIn(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	other := w.StartReplica(t)
	session := addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	device := consoletest.NewDevice()
	device.Count = 7
	addPasskey(t, w, session, device)
	for _, email := range []string{"", " Ana@Example.com"} {
		got := signInByPasskey(t, w, other, device, email)
		if got.Status != 303 || got.Header.Get("Location") != "/" {
			t.Fatalf("%q: %d %s", email, got.Status, got.Body)
		}
		page := getPage(t, w, "/account", findSession(t, got))
		if page.Status != 200 || !strings.Contains(page.Body, "Ana&#39;s phone") || strings.Contains(page.Body,
			"Not used yet") {
			t.Errorf("%d %s", page.Status, page.Body)
		}
	}
	if mail, path := w.AwaitMail(t, "ana@example.com", 2); mail.Subject != "A passkey was added to your account" ||
		path != "/sign-in/forgotten" {
		t.Errorf("%+v", mail)
	}
	if log := w.Log.String(); strings.Contains(log, "@example.com") || !strings.Contains(log, `"by":"passkey"`) {
		t.Error("the log contains an address, or lacks the method of the sign-in")
	}
	// A challenge does not show whether the address has an account.
	for _, email := range []string{"", "ana@example.com", "nobody@example.com"} {
		if answer, _ := beginPasskeySignIn(t, w, email); strings.Contains(answer, "allowCredentials") ||
			!strings.Contains(answer,
				`"userVerification":"required"`) {
			t.Errorf("%q: %s", email, answer)
		}
	}
	// Passkeys belong to the public address, and this request has another host.
	if page := getPage(t, w, "/sign-in", ""); strings.Contains(page.Body, "passkey") {
		t.Error(page.Body)
	}
}

// TestInvalidPasskeysGetSameAnswer shows that each invalid answer of a device gets the same response and begins no
// session.
func TestInvalidPasskeysGetSameAnswer(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	device, stranger := consoletest.NewDevice(), consoletest.NewDevice()
	addPasskey(t, w, addPersonWithPassword(t, w, id, "ana@example.com", gulls), device)
	bo := w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	// Bo never sends this passkey to the server.
	stranger.CreateCredential(t, postToOwner(t, w, "/account/passkeys/begin", nil, sessionCookie, bo).Body)
	answer, cookie := beginPasskeySignIn(t, w, "")
	used := device.Sign(t, answer)
	if got := answerChallenge(t, w, used, cookie, ""); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	with := func(change func(d *consoletest.Device)) func() consoletest.Answer {
		return func() consoletest.Answer {
			d := *device
			change(&d)
			return signInByPasskey(t, w, w, &d, "")
		}
	}
	var lines []string
	for name, try := range map[string]func() consoletest.Answer{
		"a challenge that was answered": func() consoletest.Answer { return answerChallenge(t, w, used, cookie, "") },
		"another challenge's answer": func() consoletest.Answer {
			_, cookie := beginPasskeySignIn(t, w, "")
			return answerChallenge(t, w, used, cookie, "")
		},
		"another browser's challenge": func() consoletest.Answer {
			answer, _ := beginPasskeySignIn(t, w, "")
			return answerChallenge(t, w, device.Sign(t, answer), "", "")
		},
		"a cookie that nobody was given": func() consoletest.Answer {
			return answerChallenge(t, w, used, strings.Repeat("0", 64), "")
		},
		"a passkey that nobody has": func() consoletest.Answer { return signInByPasskey(t, w, w, stranger, "") },
		"another person's passkey": func() consoletest.Answer {
			return signInByPasskey(t, w, w, device, "bo@example.com")
		},
		"a page of another site": with(func(d *consoletest.Device) {
			d.Origin = "https://owner.example.com.evil.example"
		}),
		"a person who was not verified": with(func(d *consoletest.Device) { d.IsUnverified = true }),
		"nothing that a browser answers": func() consoletest.Answer {
			_, cookie := beginPasskeySignIn(t, w, "")
			return answerChallenge(t, w, "{}", cookie, "")
		},
		"more than a browser answers": func() consoletest.Answer {
			_, cookie := beginPasskeySignIn(t, w, "")
			return answerChallenge(t, w, strings.Repeat("x", 20000), cookie, "")
		},
		"what somebody was told to add": func() consoletest.Answer {
			beginning := postToOwner(t, w, "/account/passkeys/begin", nil, sessionCookie, bo)
			return answerChallenge(t, w, used, findCookie(beginning, challengeCookie), "")
		},
	} {
		got := try()
		if got.Status != 422 || strings.Contains(got.Header.Get("Set-Cookie"), "session=") {
			t.Errorf("%s: %d %v", name, got.Status, got.Header)
		}
		lines = append(lines, strings.ReplaceAll(got.Body, `value="bo@example.com"`, `value=""`))
	}
	for _, s := range lines {
		if s != lines[0] || !strings.Contains(s, "is not known here") {
			t.Errorf("the answers reveal which account exists: %s", s)
		}
	}
}

// TestCopiedPasskeyIsRejected shows that a passkey whose signature counter does not increase is refused, because it may
// be a copy. Of several simultaneous answers with one counter value, only one signs in.
func TestCopiedPasskeyIsRejected(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	device := consoletest.NewDevice()
	device.Count = 1
	addPasskey(t, w, addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls), device)
	replica := *device
	const at = 6
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		good int
	)
	for range at { // each copy has the same counter value
		one := *device
		options, cookie := beginPasskeySignIn(t, w, "")
		answer := one.Sign(t, options)
		all.Go(func() {
			got := answerChallenge(t, w, answer, cookie, "")
			mu.Lock()
			defer mu.Unlock()
			if got.Status == 303 {
				good++
			}
		})
	}
	all.Wait()
	if good != 1 {
		t.Errorf("%d of %d with one count were signed in", good, at)
	}
	if got := signInByPasskey(t, w, w, &replica, ""); got.Status != 422 {
		t.Errorf("the copy: %d", got.Status)
	}
	person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	known, err := w.Store.ListPasskeys(t.Context(), person.ID)
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	_, hash := secret.New("")
	of := store.Session{ID: uuid.New(), PersonID: person.ID, CreatedAt: time.Now()}
	if err := w.Store.SignInByPasskey(t.Context(), known[0].Key, of, hash); err != store.ErrNotFound { //nolint:errorlint // it is that very one
		t.Errorf("a counter value that another answer has already used: %v", err)
	}
	device.Count = 9
	if got := signInByPasskey(t, w, w, device, ""); got.Status != 303 {
		t.Errorf("the device itself, further on: %d", got.Status)
	}
}

func TestPasskeysReplacePassword(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	other := w.StartReplica(t)
	session := addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	if got := postToOwner(t, w, "/account/password/remove", nil, sessionCookie, session); got.Status != 409 ||
		!strings.Contains(got.Body, "could not sign in any more") {
		t.Errorf("a password without a passkey: %d %s", got.Status, got.Body)
	}
	device := consoletest.NewDevice()
	addPasskey(t, w, session, device)
	// the password works until it is removed
	there := findSession(t, signInByPassword(t, other, "ana@example.com", gulls))
	removed := postToOwner(t, w, "/account/password/remove", nil, sessionCookie, session)
	if removed.Status != 303 || removed.Header.Get("Location") != "/account?done=password_removed" {
		t.Fatalf("%d %s", removed.Status, removed.Body)
	}
	for _, ended := range []string{session, there} {
		if got := getPage(t, other, "/account", ended); got.Status != 303 {
			t.Errorf("a session from before: %d", got.Status)
		}
	}
	if got := signInByPassword(t, w, "ana@example.com", gulls); got.Status != 422 {
		t.Errorf("the removed password: %d", got.Status)
	}
	session = findCookie(removed, sessionCookie)
	page := getPage(t, w, "/account?done=password_removed", session)
	_, rest, _ := strings.Cut(page.Body, `action="/account/passkeys/`)
	path, _, _ := strings.Cut(rest, `"`)
	if path = "/account/passkeys/" + path; !strings.Contains(page.Body, "Your password is removed") ||
		!strings.HasSuffix(path, "/remove") {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	if got := postToOwner(t, w, path, nil, sessionCookie, session); got.Status != 409 || !strings.Contains(got.Body,
		"could not sign in any more") {
		t.Errorf("the last way in: %d", got.Status)
	}
	if got := signInByPasskey(t, w, other, device, ""); got.Status != 303 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	// A person without the device signs in by a mailed link, which removes the passkey.
	w.AwaitMail(t, "ana@example.com", 3)
	postForm(t, w, "/sign-in/forgotten", "", url.Values{"email": {"ana@example.com"}})
	_, link := w.AwaitMail(t, "ana@example.com", 4)
	if got := getPage(t, w, link, ""); !strings.Contains(got.Body, "Your passkeys are removed, too") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := postForm(t, w, link, "", url.Values{"new": {herring}}); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if got := signInByPasskey(t, w, w, device, ""); got.Status != 422 {
		t.Errorf("the lost device: %d", got.Status)
	}
	if got := signInByPassword(t, w, "ana@example.com", herring); got.Status != 303 {
		t.Errorf("%d", got.Status)
	}
}

func TestRemovedPasskeyEndsOnEveryReplica(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	other := w.StartReplica(t)
	id := publish(t, w)
	session := addPersonWithPassword(t, w, id, "ana@example.com", gulls)
	device := consoletest.NewDevice()
	addPasskey(t, w, session, device)
	thief := findSession(t, signInByPasskey(t, other, other, device, ""))
	_, rest, _ := strings.Cut(getPage(t, w, "/account", session).Body, `action="/account/passkeys/`)
	path, _, _ := strings.Cut(rest, `"`)
	path = "/account/passkeys/" + path
	bo := w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner})
	postToOwner(t, w, path, nil, sessionCookie, bo)
	if got := signInByPasskey(t, w, other, device, ""); got.Status != 303 {
		t.Fatalf("removed by another person: %d", got.Status)
	}
	w.AwaitMail(t, "ana@example.com", 2)
	removed := postToOwner(t, w, path, nil, sessionCookie, session)
	if removed.Status != 303 || getPage(t, w, "/account", findCookie(removed, sessionCookie)).Status != 200 {
		t.Fatalf("%d %s", removed.Status, removed.Body)
	}
	if got := getPage(t, other, "/account", thief); got.Status != 303 {
		t.Errorf("the session that used the passkey: %d", got.Status)
	}
	if got := signInByPasskey(t, w, other, device, ""); got.Status != 422 {
		t.Errorf("a removed one: %d", got.Status)
	}
	if mail, _ := w.AwaitMail(t, "ana@example.com", 3); mail.Subject != "A passkey was removed from your account" {
		t.Errorf("%+v", mail)
	}
}

// TestVerificationRemovesPasskeyOfInviter shows that a sign-in by an operator's link removes a passkey that the inviter
// has added to the account.
func TestVerificationRemovesPasskeyOfInviter(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	harbors := w.AddToken(t, access.Member{BusinessID: publish(t, w), Role: access.Owner})
	invited := `{"business":"harbor","email":"ana@example.com","role":"desk","mail":false}`
	device := consoletest.NewDevice()
	addPasskey(t, w, findSession(t, pressButton(t, w, invite(t, w, harbors, invited), "")), device)
	if got := signInByPasskey(t, w, w, device, ""); got.Status != 303 {
		t.Fatalf("%d", got.Status)
	}
	pressButton(t, w, invite(t, w, consoletest.Token, invited), "") // an operator's link proves who the person is
	if got := signInByPasskey(t, w, w, device, ""); got.Status != 422 {
		t.Errorf("the inviter's passkey: %d", got.Status)
	}
}

func TestOldSessionChangesNoCredentials(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	hands := clock.Fixed(time.Now())
	accounts := identity.NewAccounts(identity.AccountsConfig{Store: w.Store, Clock: hands,
		Telemetry: telemetry.Discard()})
	signed := &identity.SignedInPerson{Person: person.Person, Session: store.Session{CreatedAt: hands.Now()}}
	hands.Advance(identity.MaxSignInAge + time.Second)
	_, _, begin := accounts.BeginPasskey(t.Context(), signed)
	add := accounts.AddPasskey(t.Context(), signed, "", "mine", "")
	_, remove := accounts.RemovePasskey(t.Context(), signed, uuid.New(), "")
	_, password := accounts.RemovePassword(t.Context(), signed, "")
	for i, err := range []error{begin, add, remove, password} {
		if err != identity.ErrStale { //nolint:errorlint // it is that very one
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestChallengesExpire(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for after, isValid := range map[time.Duration]bool{4 * time.Minute: true, 6 * time.Minute: false} {
		_, cookie := beginPasskeySignIn(t, w, "")
		if _, err := w.Store.TakeChallenge(t.Context(), secret.Hash(cookie), uuid.Nil,
			time.Now().Add(after)); (err == nil) != isValid {
			t.Errorf("after %s: %v", after, err)
		}
		if _, err := w.Store.TakeChallenge(t.Context(), secret.Hash(cookie), uuid.Nil, time.Now()); err == nil {
			t.Error("a challenge can be used twice")
		}
	}
}

func TestPasskeyAttemptsAreLimited(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute = 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	email := uuid.NewString() + "@example.com" // all tests share one Redis
	from := func(path, address string, form url.Values) consoletest.Answer {
		return postForm(t, w, path, "", form, "X-Forwarded-For", address, "Cookie",
			"slotmesh-passkey="+strings.Repeat("0", 64))
	}
	asks, answers := newAddress(), newAddress()
	got, _ := checkRateLimit(t, "asking", func(int) consoletest.Answer {
		return from("/sign-in/passkey/begin", asks, url.Values{"email": {email}})
	}, rateWindow{10, time.Minute})
	if !strings.Contains(got.Body, "Please wait") || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
	checkRateLimit(t, "wrong answers", func(int) consoletest.Answer {
		return from("/sign-in/passkey", answers, url.Values{"email": {email}, "credential": {"{}"}})
	}, rateWindow{20, 15 * time.Minute})
	if got := from("/sign-in", newAddress(), url.Values{"email": {email}, "password": {gulls}}); got.Status != 422 {
		t.Errorf("wrong answers by passkey count against passwords of the account: %d", got.Status)
	}
}

func TestPasskeysAreOfferedOnPublicHostOnly(t *testing.T) {
	t.Parallel()
	for base, hosts := range map[string]map[string]bool{
		"https://owner.example.com": {"owner.example.com": true, "OWNER.example.com": true, "evil.example": false},
		"http://127.0.0.1:8090":     {"localhost:8090": true, "127.0.0.1:8090": false},
		"http://192.0.2.7":          {"192.0.2.7": false},
		"":                          {"owner.example.com": false},
	} {
		w := consoletest.Start(t, func(c *console.Config) { c.OwnerURL = base })
		for host, want := range hosts {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/sign-in", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			if got := send(t, request); got.Status != 200 || strings.Contains(got.Body,
				"Sign in with a passkey") != want {
				t.Errorf("%s of %s: %d %s", host, base, got.Status, got.Body)
			}
		}
	}
	w := consoletest.Start(t, func(c *console.Config) { c.PasswordSignIn = false }) // only the provider signs in
	if got := postToOwner(t, w, "/sign-in/passkey/begin", nil); got.Status != 404 {
		t.Errorf("%d", got.Status)
	}
}
