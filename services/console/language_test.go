package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// TestChosenLanguageAppliesToPagesAndMails shows that the language of the account applies to all pages and mails,
// whatever language the browser prefers.
func TestChosenLanguageAppliesToPagesAndMails(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	session := addPersonWithPassword(t, w, publish(t, w), "ana@example.com", gulls)
	page := getPage(t, w, "/account", session).Body
	for _, want := range []string{`<html lang="en"`, `<option value="en" selected>English</option>`,
		`<option value="fr">français</option>`, `<option value="he">עברית</option>`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in %s", want, page)
		}
	}
	chosen := postForm(t, w, "/account/language", session, url.Values{"language": {"fr"}})
	if chosen.Status != 303 || chosen.Header.Get("Location") != "/account?done=language" {
		t.Fatalf("%d %v", chosen.Status, chosen.Header)
	}
	for path, want := range map[string]string{"/account?done=language": `<option value="fr" selected>`,
		"/business/harbor/today": "Aujourd’hui", "/account?lang=de": `<html lang="de"`} {
		if got := getPage(t, w, path, session); got.Status != 200 || !strings.Contains(got.Body, want) {
			t.Errorf("%s: %d, %s is not in %s", path, got.Status, want, got.Body)
		}
	}
	for _, wrong := range []string{"", "cy", "fr-FR", "<b>"} {
		if got := postForm(t, w, "/account/language", session, url.Values{"language": {wrong}}); got.Status != 400 {
			t.Errorf("%q: %d", wrong, got.Status)
		}
	}
	if got := postForm(t, w, "/account/language", "", url.Values{"language": {"fr"}}); got.Status != 401 {
		t.Errorf("a request without a session: %d", got.Status)
	}
	if got := postForm(t, w, "/account/language", session, url.Values{"language": {"de"}}, "Sec-Fetch-Site",
		"cross-site"); got.Status != 403 {
		t.Errorf("from another site: %d", got.Status)
	}
	changed := postForm(t, w, "/account/password", session, url.Values{"current": {gulls}, "new": {herring}})
	if changed.Status != 303 {
		t.Fatalf("%d %s", changed.Status, changed.Body)
	}
	if mail, _ := w.AwaitMail(t, "ana@example.com", 2); mail.Language != "fr" {
		t.Errorf("%+v", mail)
	}
}
