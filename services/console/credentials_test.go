package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// countCredentials returns how many keys, calendars, webhooks and tokens an answer lists.
func countCredentials(t *testing.T, got consoletest.Answer) string {
	t.Helper()
	var n []any
	for _, kind := range []string{"keys", "calendars", "webhooks", "tokens"} {
		n = append(n, len(field(t, got, kind).([]any)))
	}
	return fmt.Sprintf("%d keys, %d calendars, %d webhooks, %d tokens", n...)
}

// TestRemovedMembersCredentialsListAndEnd shows that the keys, feeds and webhooks of a removed member are listed and
// ended by one request. Those of other members stay.
func TestRemovedMembersCredentialsListAndEnd(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner := access.Member{BusinessID: id, Role: access.Owner}
	ana, bo := w.AddSession(t, "ana@example.com", owner), w.AddSession(t, "bo@example.com", owner)
	bos := findMemberID(t, w, "bo@example.com")
	token := w.AddTokenCreatedBy(t, owner, uuid.MustParse(bos))
	make := func(token string) {
		t.Helper()
		for path, body := range map[string]string{
			"/keys": `{"name":"site","scope":"all"}`, "/calendars": `{"shows":"names"}`,
			"/webhooks": `{"url":"https://example.com/hooks","events":["booking.created"]}`,
		} {
			if got := w.CallAs(t, token, "POST", harb+path, body); got.Status != 201 {
				t.Fatalf("%s: %d %s", path, got.Status, got.Body)
			}
		}
	}
	make(token)
	make(w.AddTokenCreatedBy(t, owner, uuid.MustParse(findMemberID(t, w, "ana@example.com"))))
	if got := postForm(t, w, "/business/harbor/settings/keys", bo, url.Values{"name": {"by bo"}, "scope": {"all"},
		"days": {"365"}, "key": {"k"}}); got.Status != 201 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	created := harb + "/members/" + bos + "/made"
	if got := countCredentials(t, w.Call(t, "GET", created, "")); got != "2 keys, 1 calendars, 1 webhooks, 1 tokens" {
		t.Error(got)
	}
	removed := postForm(t, w, "/business/harbor/team/"+bos+"/remove", ana, nil)
	if to := removed.Header.Get("Location"); removed.Status != 303 || to != "/business/harbor/team/"+bos+
		"/made?done=team_removed" {
		t.Errorf("%d to %s", removed.Status, to)
	}
	if got := countCredentials(t, w.Call(t, "GET", created, "")); got != "2 keys, 1 calendars, 1 webhooks, 0 tokens" {
		t.Errorf("after the removal: %s", got)
	}
	if page := getPage(t, w, "/business/harbor/team/"+bos+"/made", ana); page.Status != 200 ||
		!strings.Contains(page.Body,
			"by bo") || !strings.Contains(page.Body, "https://example.com/hooks") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	if got := postForm(t, w, "/business/harbor/team/"+bos+"/made", ana, nil); got.Status != 303 ||
		!strings.HasSuffix(got.Header.Get("Location"), "?done=team_made_ended") {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	if got := countCredentials(t, w.Call(t, "GET", created, "")); got != "0 keys, 0 calendars, 0 webhooks, 0 tokens" {
		t.Errorf("after ending all: %s", got)
	}
	anas := harb + "/members/" + findMemberID(t, w, "ana@example.com") + "/made"
	if got := countCredentials(t, w.Call(t, "GET", anas, "")); got != "1 keys, 1 calendars, 1 webhooks, 1 tokens" {
		t.Errorf("what another member made: %s", got)
	}
	for range 2 {
		if got := w.Call(t, "DELETE", anas, ""); got.Status != 204 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if got := countCredentials(t, w.Call(t, "GET", anas, "")); got != "0 keys, 0 calendars, 0 webhooks, 0 tokens" {
		t.Error(got)
	}
}

func TestTokensPerBusinessAreLimited(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	for range 100 {
		w.AddToken(t, access.Member{BusinessID: id, Role: access.Viewer})
	}
	body := `{"name":"one more","business":"harbor","role":"viewer"}`
	expect(t, w.Call(t, "POST", "/admin/tokens", body), 409, "conflict", "100 tokens")
	list := field(t, w.Call(t, "GET", "/admin/tokens?business=harbor", ""), "tokens").([]any)
	if got := w.Call(t, "DELETE", "/admin/tokens/"+list[0].(map[string]any)["id"].(string), ""); got.Status != 204 {
		t.Fatalf("%d", got.Status)
	}
	if got := w.Call(t, "POST", "/admin/tokens", body); got.Status != 201 {
		t.Errorf("after a revocation: %d %s", got.Status, got.Body)
	}
}
