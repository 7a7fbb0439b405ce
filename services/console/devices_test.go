package console_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// init adds the routes of the device flow to entrances.
func init() {
	maps.Copy(entrances, map[string]entrance{"GET /device": {}, "POST /device": {}, "POST /device/authorization": {},
		"POST /device/token": {}})
}

// program is the answer to a program that begins a sign-in by device code (RFC 8628 §3.2).
type program struct {
	Device string `json:"device_code"`
	Code   string `json:"user_code"`
	URI    string `json:"verification_uri"`
	Whole  string `json:"verification_uri_complete"`
	Until  int    `json:"expires_in"`
	Every  int    `json:"interval"`
}

func begin(t *testing.T, w *consoletest.Fixture, name string) program {
	t.Helper()
	got := program{}
	a := postForm(t, w, "/device/authorization", "", url.Values{"client_id": {"slotmesh"}, "device_name": {name}},
		"Origin",
		"", "Sec-Fetch-Site", "")
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return got
}

// poll requests the token for a device code and returns the token or the error code.
func poll(t *testing.T, w *consoletest.Fixture, device string) (string, string) {
	t.Helper()
	a := postForm(t, w, "/device/token", "", url.Values{
		"client_id": {"slotmesh"}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
		"device_code": {device},
	}, "Origin", "", "Sec-Fetch-Site", "")
	var answer struct {
		Token string `json:"access_token"`
		Kind  string `json:"token_type"`
		Error string
	}
	if err := json.Unmarshal([]byte(a.Body), &answer); err != nil || (a.Status == 200) != (answer.Token != "") ||
		a.Status == 200 && answer.Kind != "Bearer" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return answer.Token, answer.Error
}

// allow answers the code of a program in the browser: `answer` is "allow" or "refuse".
func allow(t *testing.T, w *consoletest.Fixture, session, code, business, answer string) consoletest.Answer {
	t.Helper()
	return postForm(t, w, "/device", session, url.Values{"code": {code}, "for": {business}, "answer": {answer}})
}

func TestProgramActsForConfirmingPerson(t *testing.T) {
	t.Parallel()
	w := consoletest.StartAt(t, clock.Fixed(time.Now())) // a slow machine must not change the time between polls
	other := w.StartReplica(t)
	id := publish(t, w)
	p := begin(t, w, "Ana's <b> laptop")
	if p.URI != consoletest.OwnerURL+"/device" || p.Whole != p.URI+"?code="+p.Code || p.Until != 600 || p.Every != 5 ||
		len(p.Code) != 9 {
		t.Errorf("%+v", p)
	}
	if _, output := poll(t, other, p.Device); output != "authorization_pending" {
		t.Error(output)
	}
	if _, output := poll(t, w, p.Device); output != "slow_down" {
		t.Error(output)
	}
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	page := getPage(t, w, "/device?code="+strings.ToLower(p.Code), mia)
	for _, text := range []string{p.Code, "Ana&#39;s &lt;b&gt; laptop", "Harbor", "you have just started it yourself"} {
		if page.Status != 200 || !strings.Contains(page.Body, text) {
			t.Errorf("%d lacks %s: %s", page.Status, text, page.Body)
		}
	}
	if got := allow(t, w, mia, p.Code, uuid.NewString(), "allow"); got.Status != 422 {
		t.Errorf("another business: %d", got.Status)
	}
	if got := allow(t, other, mia, p.Code, id.String(), "allow"); got.Status != 303 ||
		got.Header.Get("Location") != "/device?done=allowed" {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if got := allow(t, w, w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner}), p.Code,
		id.String(), "allow"); got.Status != 422 {
		t.Errorf("answered twice: %d", got.Status)
	}
	const at = 6
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		tokens []string
	)
	for range at {
		all.Go(func() {
			token, output := poll(t, w, p.Device)
			mu.Lock()
			defer mu.Unlock()
			if token != "" {
				tokens = append(tokens, token)
			} else if output != "invalid_grant" {
				t.Error(output)
			}
		})
	}
	all.Wait()
	if len(tokens) != 1 {
		t.Fatalf("%d tokens for one code", len(tokens))
	}
	if got := w.CallAs(t, tokens[0], "GET", harb+"/bookings?from=2027-01-01&to=2027-01-02", ""); got.Status != 200 {
		t.Errorf("what its person may: %d %s", got.Status, got.Body)
	}
	if got := w.CallAs(t, tokens[0], "GET", harb+"/keys", ""); got.Status != 403 {
		t.Errorf("what its person may not: %d", got.Status)
	}
	owner := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	if got := w.CallAs(t, owner, "DELETE", harb+"/members/"+findMemberID(t, w, "mia@example.com"),
		""); got.Status != 204 || w.CallAs(t, tokens[0], "GET", harb, "").Status != 401 {
		t.Errorf("the token is valid after its person was removed: %d", got.Status)
	}
	if log := w.Log.String(); strings.Contains(log, p.Device) || strings.Contains(log, tokens[0]) ||
		strings.Contains(log, p.Code) {
		t.Error("the log contains a secret")
	}
}

func TestRefusedProgramGetsNoToken(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	p := begin(t, w, "")
	if got := allow(t, w, ana, p.Code, "", "refuse"); got.Status != 303 ||
		got.Header.Get("Location") != "/device?done=refused" {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for _, want := range []string{"access_denied", "invalid_grant"} {
		if token, output := poll(t, w, p.Device); output != want || token != "" {
			t.Errorf("%q, want %s", output, want)
		}
	}
	// A program also gets no token if the person is demoted between the confirmation and the program's next poll.
	p = begin(t, w, "")
	w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner})
	allow(t, w, ana, p.Code, id.String(), "allow")
	owner := w.AddToken(t, access.Member{BusinessID: id, Role: access.Owner})
	w.CallAs(t, owner, "PATCH", harb+"/members/"+findMemberID(t, w, "ana@example.com"), `{"role":"viewer"}`)
	if token, output := poll(t, w, p.Device); output != "access_denied" || token != "" {
		t.Error(output)
	}
	for _, code := range []string{"BCDF-GHJK", "", "x", strings.Repeat("B", 9), p.Code} {
		if got := getPage(t, w, "/device?code="+code, ana); code != "" && got.Status != 303 &&
			(got.Status != 422 || !strings.Contains(got.Body, "This code is not valid")) {
			t.Errorf("%s: %d %s", code, got.Status, got.Body)
		}
	}
	for form, want := range map[string]string{"client_id=slotmesh": "unsupported_grant_type",
		"": "unsupported_grant_type"} {
		values, _ := url.ParseQuery(form)
		if got := postForm(t, w, "/device/token", "", values); got.Status != 400 || !strings.Contains(got.Body, want) {
			t.Errorf("%s: %d %s", form, got.Status, got.Body)
		}
	}
	if got := postForm(t, w, "/device/authorization", "", nil); got.Status != 400 || !strings.Contains(got.Body,
		"invalid_request") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestDeviceLoginExpiresAfterTenMinutes(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for after, want := range map[time.Duration]error{9 * time.Minute: store.ErrPending,
		11 * time.Minute: store.ErrExpired} {
		p := begin(t, w, "")
		code := strings.ReplaceAll(p.Code, "-", "")
		if _, err := w.Store.FindDeviceLogin(t.Context(), code, time.Now().Add(after)); (err == nil) != (want == store.ErrPending) { //nolint:errorlint // that very one
			t.Errorf("its page after %s: %v", after, err)
		}
		_, hash := secret.New(secret.TokenPrefix)
		if _, err := w.Store.RedeemDeviceLogin(t.Context(), secret.Hash(p.Device), time.Second, store.Token{CreatedAt: time.Now().Add(after)}, hash); err != want { //nolint:errorlint // that very one
			t.Errorf("after %s: %v", after, err)
		}
	}
}

// TestSignInReturnsToProgram shows that a person who must sign in before they confirm a program is then
// redirected to the page with its code.
func TestSignInReturnsToProgram(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	p := begin(t, w, "")
	sent := getPage(t, w, "/device?code="+p.Code, "")
	cookie, _, _ := strings.Cut(sent.Header.Get("Set-Cookie"), ";")
	if sent.Status != 303 || sent.Header.Get("Location") != "/sign-in" || !strings.HasPrefix(cookie,
		"slotmesh-device=") {
		t.Fatalf("%d %v", sent.Status, sent.Header)
	}
	for brought, want := range map[string]string{cookie: "/device?code=" + p.Code,
		"slotmesh-device=//evil.example": "/", "": "/"} {
		got := postForm(t, w, "/sign-in", "", url.Values{"email": {"ana@example.com"}, "password": {gulls}}, "Cookie",
			brought)
		if got.Status != 303 || got.Header.Get("Location") != want {
			t.Errorf("%s: %d to %s", brought, got.Status, got.Header.Get("Location"))
		}
	}
}

func TestDeviceLoginsAreLimited(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(c *console.Config) {
		c.Limits.SignInsPerMinute, c.Limits.WrongTokensPerMinute = 10, 10
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	email := uuid.NewString() + "@example.com"
	session := w.AddSession(t, email, access.Member{BusinessID: publish(t, w), Role: access.Owner})
	begins, polls, guesses := newAddress(), newAddress(), newAddress()
	checkRateLimit(t, "begin", func(int) consoletest.Answer {
		return postForm(t, w, "/device/authorization", "", url.Values{"client_id": {"x"}}, "X-Forwarded-For", begins)
	}, rateWindow{10, time.Minute})
	checkRateLimit(t, "poll", func(int) consoletest.Answer {
		return postForm(t, w, "/device/token", "", url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {strings.Repeat("0", 64)},
		}, "X-Forwarded-For", polls)
	}, rateWindow{10, time.Minute})
	checkRateLimit(t, "guess", func(int) consoletest.Answer {
		return postForm(t, w, "/device", session, url.Values{"code": {"BCDF-GHJK"}, "answer": {"refuse"}},
			"X-Forwarded-For", guesses)
	}, failureWindows...)
}

// connect signs a program in to a business in the name of the person with this session, and returns its token.
func connect(t *testing.T, w *consoletest.Fixture, session, name string, business uuid.UUID) string {
	t.Helper()
	p := begin(t, w, name)
	if got := allow(t, w, session, p.Code, business.String(), "allow"); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	token, output := poll(t, w, p.Device)
	if token == "" {
		t.Fatal(output)
	}
	return token
}

// createChildToken uses a token to create another token and returns it.
func createChildToken(t *testing.T, w *consoletest.Fixture, token string) string {
	t.Helper()
	return field(t, w.CallAs(t, token, "POST", "/admin/tokens",
		`{"name":"of a program","business":"harbor","role":"owner"}`), "token").(string)
}

func TestProgramsEndWithPassword(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner := access.Member{BusinessID: id, Role: access.Owner}
	for how, end := range map[string]func(email, session string, person uuid.UUID){
		"reset": func(_, _ string, person uuid.UUID) { resetPassword(t, w, person) },
		"changed": func(email, _ string, _ uuid.UUID) {
			session := addPersonWithPassword(t, w, id, email, gulls)
			if got := postForm(t, w, "/account/password", session,
				url.Values{"current": {gulls}, "new": {herring}}); got.Status != 303 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		},
	} {
		email := how + "@example.com"
		session := w.AddSession(t, email, owner)
		person, err := w.Store.FindCredentialsByEmail(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		program := connect(t, w, session, "laptop", id)
		child, named := createChildToken(t, w, program), w.AddTokenCreatedBy(t, owner, person.ID)
		waits := begin(t, w, "laptop that waits")
		if got := allow(t, w, session, waits.Code, id.String(), "allow"); got.Status != 303 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		other := connect(t, w, w.AddSession(t, "other-"+email, owner), "another's", id)
		end(email, session, person.ID)
		for name, token := range map[string]string{"the program": program, "the program's token": child} {
			if got := w.CallAs(t, token, "GET", harb, ""); got.Status != 401 {
				t.Errorf("%s: %s: %d", how, name, got.Status)
			}
		}
		for name, token := range map[string]string{"a token that was made on purpose": named,
			"another's program": other} {
			if got := w.CallAs(t, token, "GET", harb, ""); got.Status != 200 {
				t.Errorf("%s: %s: %d", how, name, got.Status)
			}
		}
		if token, output := poll(t, w, waits.Device); token != "" || output != "access_denied" {
			t.Errorf("%s: the program that waited: %s", how, output)
		}
	}
}

func TestAccountListsAndEndsPrograms(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	stays, ends := connect(t, w, session, "desk of Ana", id), connect(t, w, session, "Ana's <b> laptop", id)
	child := createChildToken(t, w, ends)
	mail, _ := w.AwaitMail(t, "ana@example.com", 2)
	if text := strings.Join(mail.Paragraphs, " "); mail.Subject != "A program was connected to your account" ||
		!strings.Contains(text, "desk of Ana") && !strings.Contains(text, "laptop") {
		t.Errorf("%s: %s", mail.Subject, text)
	}
	page := getPage(t, w, "/account", session)
	for _, text := range []string{"Connected programs", "desk of Ana", "Ana&#39;s &lt;b&gt; laptop", "Harbor",
		"Last used", "Not used yet"} {
		if !strings.Contains(page.Body, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
	token, _ := w.Store.FindTokenByHash(t.Context(), secret.Hash(ends), time.Now())
	at := "/account/devices/" + token.ID.String() + "/end"
	if got := pressButton(t, w, at,
		w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner})); got.Status != 303 {
		t.Errorf("another person: %d", got.Status)
	}
	if got := w.CallAs(t, ends, "GET", harb, ""); got.Status != 200 {
		t.Errorf("another person has ended it: %d", got.Status)
	}
	if got := pressButton(t, w, at, session); got.Status != 303 ||
		got.Header.Get("Location") != "/account?done=device_ended" {
		t.Fatalf("%d %v", got.Status, got.Header)
	}
	for token, want := range map[string]int{ends: 401, child: 401, stays: 200} {
		if got := w.CallAs(t, token, "GET", harb, ""); got.Status != want {
			t.Errorf("%d, want %d", got.Status, want)
		}
	}
	if page := getPage(t, w, "/account?done=device_ended", session); strings.Contains(page.Body, "laptop") ||
		!strings.Contains(page.Body, "The program is disconnected.") {
		t.Error(page.Body)
	}
}

func TestProgramEndsWhenUnused(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	for _, c := range []struct {
		used  bool
		days  int
		wants int
	}{{true, 29, 200}, {true, 31, 401}, {false, 29, 200}, {false, 31, 401}} {
		token := connect(t, w, session, "laptop", id)
		hash := secret.Hash(token)
		used := "NULL"
		if c.used {
			used = "now() - make_interval(days => $2)"
		}
		_, err := w.Pool.Exec(t.Context(), `UPDATE tokens SET created_at = now() - make_interval(days => $2), last_used_at = `+used+` WHERE hash = $1`, hash[:], c.days)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.CallAs(t, token, "GET", harb, ""); got.Status != c.wants {
			t.Errorf("%+v: %d", c, got.Status)
		}
	}
	if page := getPage(t, w, "/account", session); strings.Count(page.Body, "/account/devices/") != 2 {
		t.Error(page.Body)
	}
}
