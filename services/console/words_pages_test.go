package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const (
	wordsPath   = "/business/harbor/offer/words"
	reminder    = "?kind=reminder&language="
	introOf     = "notifications.intros.reminder.text"
	introOfPt   = "notifications.intros.reminder.translations.pt.text"
	noteOf      = "notifications.notes.reminder.text"
	placeholder = "“{name}” is not a placeholder."
)

// publishTwoLanguages publishes a business with two languages, and returns its id.
func publishTwoLanguages(t *testing.T, w *consoletest.Fixture) uuid.UUID {
	t.Helper()
	id := publish(t, w)
	both := consoletest.BuildManifest("harbor", "Harbor") + "languages: [en, pt]\n"
	if got := w.Call(t, "PUT", harb, both, "Content-Type", yaml); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	return id
}

func readNotifications(t *testing.T, w *consoletest.Fixture) manifest.Notifications {
	t.Helper()
	m, problems := manifest.Parse([]byte(readText(t, w)))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if m.Notifications == nil {
		return manifest.Notifications{}
	}
	return *m.Notifications
}

// TestWordsPageSavesAndUndoes shows that an owner writes words in each language of the business, that undo restores the
// former words and returns to the same form, and that a cleared text loses its translations.
func TestWordsPageSavesAndUndoes(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner := w.AddSession(t, "ana@example.com", access.Member{BusinessID: publishTwoLanguages(t, w), Role: access.Owner})
	if got := getPage(t, w, wordsPath+reminder+"pt", owner); got.Status != 200 ||
		strings.Contains(got.Body, introOfPt) || !strings.Contains(got.Body, "First write the text in this language") {
		t.Errorf("a translation without an original: %d %s", got.Status, got.Body)
	}
	got := postForm(t, w, wordsPath+reminder+"en", owner,
		url.Values{introOf: {"Dear {customer_name},\r\nsee you."}, noteOf: {"Bring a towel."}})
	at := got.Header.Get("Location")
	if got.Status != 303 || !strings.Contains(at, "kind=reminder") {
		t.Fatalf("saved: %d %s %s", got.Status, at, got.Body)
	}
	if n := readNotifications(t, w); n.Intros["reminder"].Text != "Dear {customer_name},\nsee you." ||
		n.Notes["reminder"].Text != "Bring a towel." {
		t.Errorf("saved: %+v", n)
	}
	if got := getPage(t, w, at, owner); !strings.Contains(got.Body, "/offer/undo?kind=reminder") ||
		!strings.Contains(got.Body, ">Dear {customer_name},\nsee you.</textarea>") {
		t.Errorf("after saving: %d %s", got.Status, got.Body)
	}
	translated := url.Values{introOfPt: {"Olá {customer_name}"}}
	if got := postForm(t, w, wordsPath+reminder+"pt", owner, translated); got.Status != 303 ||
		readNotifications(t, w).Intros["reminder"].Translations["pt"].Text != "Olá {customer_name}" {
		t.Errorf("translated: %d %s", got.Status, got.Body)
	}
	if got := postForm(t, w, wordsPath+reminder+"en", owner, url.Values{introOf: {""}}); got.Status != 303 {
		t.Errorf("cleared: %d %s", got.Status, got.Body)
	}
	if n := readNotifications(t, w); n.Intros != nil || n.Notes["reminder"].Text != "Bring a towel." {
		t.Errorf("cleared: %+v", n)
	}
	undone := postForm(t, w, "/business/harbor/offer/undo"+reminder+"en", owner,
		url.Values{"version": {"5"}, "section": {"words"}})
	if !strings.Contains(undone.Header.Get("Location"), "/offer/words?kind=reminder&language=en&saved=6") ||
		readNotifications(t, w).Intros["reminder"].Translations["pt"].Text != "Olá {customer_name}" {
		t.Errorf("undone: %d %s %s", undone.Status, undone.Header.Get("Location"), undone.Body)
	}
}

// TestWordsPageNamesUnknownPlaceholder shows that saving, the preview and the test refuse a mistyped placeholder and
// name it. The form keeps the text.
func TestWordsPageNamesUnknownPlaceholder(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner := w.AddSession(t, "ana@example.com", access.Member{BusinessID: publishTwoLanguages(t, w), Role: access.Owner})
	typed := url.Values{introOf: {"Dear {name},"}}
	for _, path := range []string{"", "/preview", "/test"} {
		got := postForm(t, w, wordsPath+path+reminder+"en", owner, typed)
		if got.Status != 422 || !strings.Contains(got.Body, placeholder) ||
			path != "/preview" && !strings.Contains(got.Body, ">Dear {name},</textarea>") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	if n := readNotifications(t, w); n.Intros != nil || len(w.Notifications.ListTests()) > 0 {
		t.Errorf("%+v %v", n, w.Notifications.ListTests())
	}
}

// TestWordsPreviewIsIsolated shows that the preview has the typed words, or the published words before a person has
// typed any, and that it runs no scripts and only the owner's pages can show it.
func TestWordsPreviewIsIsolated(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner := w.AddSession(t, "ana@example.com", access.Member{BusinessID: publishTwoLanguages(t, w), Role: access.Owner})
	typed := postForm(t, w, wordsPath+"/preview"+reminder+"pt", owner, url.Values{noteOf: {"no input"}})
	published := getPage(t, w, wordsPath+"/preview"+reminder+"pt", owner)
	for _, got := range []consoletest.Answer{typed, published} {
		policy := got.Header.Get("Content-Security-Policy")
		if got.Status != 200 || !strings.Contains(got.Body, "<p>reminder in pt</p>") ||
			!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'self'") ||
			!strings.HasSuffix(policy, "sandbox") || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s %s", got.Status, policy, got.Body)
		}
	}
	own := postForm(t, w, wordsPath+"/preview"+reminder+"en", owner, url.Values{introOf: {"Hi <b>"}, noteOf: {"Towel"}})
	if !strings.Contains(own.Body, "reminder in en: Hi &lt;b&gt;: Towel") {
		t.Errorf("own words: %d %s", own.Status, own.Body)
	}
}

// TestWordsTestGoesToOwnVerifiedAddress shows that a test message has the typed words and goes to the signed-in person
// only, that a person without a verified address gets none, and that ten an hour are allowed.
func TestWordsTestGoesToOwnVerifiedAddress(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t, func(cfg *console.Config) { cfg.Limits.SignInsPerMinute = 10 })
	id := publishTwoLanguages(t, w)
	unverified := w.AddUnverifiedSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.Owner})
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	refused := w.AddSession(t, consoletest.RefusedAddress, access.Member{BusinessID: id, Role: access.Owner})
	typed := url.Values{introOf: {"Dear {customer_name},"}, noteOf: {""}, "to": {"zoe@example.com"}}
	send := func(session string) consoletest.Answer {
		return postForm(t, w, wordsPath+"/test"+reminder+"en", session, typed)
	}
	for session, want := range map[string]string{unverified: "isn’t verified yet", refused: "did not take the test"} {
		if got := send(session); got.Status != 409 || !strings.Contains(got.Body, want) ||
			!strings.Contains(got.Body, ">Dear {customer_name},</textarea>") {
			t.Errorf("%d, without %q: %s", got.Status, want, got.Body)
		}
	}
	for range 10 {
		if got := send(ana); got.Status != 200 || !strings.Contains(got.Body, "We sent you a test.") ||
			!strings.Contains(got.Body, ">Dear {customer_name},</textarea>") {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	if got := send(ana); got.Status != 429 || !strings.Contains(got.Body, "Too many attempts") {
		t.Errorf("the eleventh: %d %s", got.Status, got.Body)
	}
	const wordsLink = `action="/business/harbor/offer/words/test"`
	if got := getPage(t, w, "/business/harbor/offer/notifications", ana); !strings.Contains(got.Body, wordsLink) {
		t.Errorf("the form for notifications: %d %s", got.Status, got.Body)
	}
	tests := w.Notifications.ListTests()
	for _, test := range tests {
		if test.To != "ana@example.com" || test.Kind != "reminder" || test.Language != "en" || test.Intro == nil ||
			*test.Intro != "Dear {customer_name}," || test.Note == nil || *test.Note != "" {
			t.Errorf("%+v", test)
		}
	}
	if log := w.Log.String(); len(tests) != 10 || strings.Contains(log, "ana@") || readNotifications(t, w).Intros != nil {
		t.Errorf("%d tests; %s", len(tests), log)
	}
}

// TestTestMessageRouteUsesCreatorOfToken shows that the admin API sends a test to the person behind a token. If a
// token has no person, the admin API sends no test. The body cannot name another address.
func TestTestMessageRouteUsesCreatorOfToken(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	owners, err := w.Store.ListOwners(t.Context(), id)
	if err != nil || len(owners) != 1 {
		t.Fatal(owners, err)
	}
	token := w.AddTokenCreatedBy(t, access.Member{BusinessID: id, Role: access.Owner}, owners[0].ID)
	const at = harb + "/messages/test"
	sent := w.Call(t, "POST", at, `{"kind":"reminder","note":"Towel"}`, "Authorization", "Bearer "+token)
	if tests := w.Notifications.ListTests(); sent.Status != 200 || field(t, sent, "recipient") != "ana@example.com" ||
		field(t, sent, "status") != "sent" || len(tests) != 1 || tests[0].Intro != nil || *tests[0].Note != "Towel" {
		t.Errorf("%d %s %+v", sent.Status, sent.Body, tests)
	}
	expect(t, w.Call(t, "POST", at, `{"kind":"reminder"}`), 409, "conflict", "verified address")
	expect(t, w.Call(t, "POST", at, `{"kind":"reminder","to":"zoe@example.com"}`, "Authorization", "Bearer "+token), 400,
		"invalid_parameter", "to")
	expect(t, w.Call(t, "POST", "/admin/businesses/elsewhere/messages/test", `{"kind":"reminder"}`), 404,
		"business_not_found", "Business")
}
